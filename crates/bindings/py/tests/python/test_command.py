"""python -m pixelferry, and the command that pip installs."""

import json
import os
import runpy
import subprocess
import sys

import numpy
import pytest

import pixelferry.__main__
from patience import by_level


def run(*arguments):
    # OpenCL is probed from the next level on: its compiler takes long.
    environment = dict(os.environ) | by_level({"OCL_ICD_VENDORS": "/dev/null/none"}, {})
    command = [sys.executable, "-m", "pixelferry", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)


def run_here(monkeypatch, capsys, *arguments, module=False):
    """Without a process: why it ends."""
    monkeypatch.setattr(sys, "argv", ["/somewhere/pixelferry-py", *arguments])
    with pytest.raises(SystemExit) as ended:
        if module:
            runpy.run_module("pixelferry", run_name="__main__", alter_sys=True)
        else:
            pixelferry.__main__.main()
    return f"{ended.value} {capsys.readouterr().err}"


def test_probe_tells_people_and_programs():
    found = json.loads(run("probe", "--size", "32x24", "--json").stdout)
    assert found["chosen"] and found["pairings"]
    if by_level(False, True):
        said = run("probe", "--size", "32x24")
        words = [line.split()[0] for line in said.stdout.splitlines()]
        assert said.returncode == 0 and words == ["WGSL", "C", "host", "GPU", "next"], said.stderr + said.stdout
        said = run("probe", "--size", "32x24", "--all")
        assert said.stdout.startswith("WGSL kernels ") and "\n\npixelferry " in said.stdout and "->" in said.stdout, said.stderr


def test_a_file_of_numpy_becomes_a_picture(tmp_path):
    array, picture = tmp_path / "a.npy", tmp_path / "a.png"
    numpy.save(array, numpy.full((24, 32, 4), 200, numpy.uint8))
    said = run("show", str(array), "--save", str(picture), "--backend", "cpu")
    assert said.returncode == 0 and picture.read_bytes().startswith(b"\x89PNG"), said.stderr
    look = ["--range", "0", "99%", "--exposure", "-1", "--gamma", "2.2", "--channel", "0", "--colormap", "magma", "--layout", "HWC"]
    said = run("show", str(array), "--save", str(picture), "--backend", "cpu", *look)
    assert said.returncode == 0, said.stderr


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")
def test_the_command_has_the_name_it_was_started_by(monkeypatch, capsys):
    assert run_here(monkeypatch, capsys, "show", "absent.npy").startswith("pixelferry-py show: absent.npy: ")
    assert run_here(monkeypatch, capsys, "show", "absent.npy", module=True).startswith("python -m pixelferry show: absent.npy: ")
    assert f"pixelferry {pixelferry.__version__}" in run("--version").stdout


def test_what_is_wrong_is_one_line(tmp_path, monkeypatch, capsys):
    text = tmp_path / "no.npy"
    text.write_text("no array")
    doubles = tmp_path / "doubles.npy"
    numpy.save(doubles, numpy.zeros((2, 2), "g"))
    array = tmp_path / "a.npy"
    numpy.save(array, numpy.zeros((2, 2), numpy.uint8))
    for arguments, said in [
        (("show", str(tmp_path / "absent.npy")), "absent.npy"),
        (("show", str(text)), "no.npy"),
        (("show", str(doubles), "--save", str(tmp_path / "x.png")), "floats of 128 bits"),
        (("show", str(array), "--save", str(tmp_path / "absent" / "x.png")), "x.png"),
        (("show", str(array), "--range", "wide"), "minmax"),
        (("probe", "--size", "0x4"), "0"),
        (("probe", "--size", "4"), "WIDTHxHEIGHT"),
    ]:
        assert said in run_here(monkeypatch, capsys, *arguments), arguments
    done = run("show", str(text))
    assert done.returncode != 0 and "no.npy" in done.stderr and "Traceback" not in done.stderr, done.stderr
