"""Whatever is given, an exception of ours says what is wrong, and the viewer goes on."""

import ast
import importlib
import inspect
import pathlib
import sys
import types

import numpy as np
import pytest

import pixelferry
import pixelferry.gl
import pixelferry.vulkan
from conftest import check, sample
from patience import by_level, wait_for


@pytest.mark.parametrize("array,text", [
    (np.zeros((4, 4), "g"), r"floats of 128 bits.*x\.astype\('float64'\)"),
    (np.zeros((4, 4), "G"), r"complex numbers of 256 bits.*x\.astype\('complex128'\)"),
    (np.zeros((4, 4), [("a", "u1"), ("b", "u1")]), r"untyped elements.*x\['field'\]"),
    (np.array([["a", "b"]]), "cannot be shown"),
    (np.array([[object()]]), "cannot be shown"),
    (np.ndarray, "cannot be exported"),
    (3, "'int' is not an array"), ("text", "'str' is not an array"), (None, "is not an array"), ([[1]], "'list' is not an array"),
], ids=lambda v: getattr(getattr(v, "dtype", None), "str", None) or str(v)[:20])
def test_elements(viewer, array, text):
    with pytest.raises(pixelferry.DtypeError, match=text) as caught:
        viewer.show(array)
    assert isinstance(caught.value, TypeError) and isinstance(caught.value, pixelferry.Error)


@pytest.mark.parametrize("shape", [(), (4,), (0, 4), (4, 0, 3), (4, 4, 0), (2, 5, 5, 5), (1, 2, 2, 2, 2)], ids=str)
def test_shapes(viewer, shape):
    with pytest.raises(pixelferry.ShapeError, match="format rgba8 shows|is not a picture; show") as caught:
        viewer.show(np.zeros(shape, "u1"))
    assert isinstance(caught.value, ValueError)
    check(viewer, sample((3, 4), "u1"))


def test_a_layout_that_does_not_fit_is_refused(viewer):
    with pytest.raises(pixelferry.ShapeError, match="8 channels"):
        viewer.show(np.zeros((8, 8, 3), "u1"), layout="CHW")
    with pytest.raises(pixelferry.ShapeError, match="3 dimensions"):
        viewer.show(np.zeros((8, 8, 3), "u1"), layout="HW")


def test_too_large_for_the_display():
    with pixelferry.Viewer(8, 8, headless=True, display="gl") as viewer:
        with pytest.raises(pixelferry.ShapeError, match="at most 16384 a side"):
            viewer.show(np.broadcast_to(np.zeros((1, 1), "u1"), (4, 100_000)))
        check(viewer, sample((3, 4), "u1"))
        # More than any machine's memory.
        with pytest.raises(pixelferry.Error):
            viewer.show(np.broadcast_to(np.zeros((1, 1), "u1"), (2**31 - 1, 2**31 - 1)))
        with pytest.raises(pixelferry.ShapeError, match="too large"):
            viewer.show(np.broadcast_to(np.zeros((1, 1), "u1"), (2**33, 1)))
        check(viewer, sample((3, 4), "u1"))


@pytest.mark.parametrize("options", [
    {"format": "rgb"}, {"mode": "fast"}, {"display": "metal"}, {"backend": "rocm"}, {"backend": "cuda:x"},
    {"path": ""}, {"width": 0}, {"height": 0},
], ids=str)
def test_options(options):
    with pytest.raises(pixelferry.ShapeError):
        pixelferry.Viewer(**{"width": 8, "height": 8, "headless": True, **options})


def test_types_of_options_are_pythons_errors():
    for options in [{"width": -1}, {"width": 2**32}]:
        with pytest.raises(OverflowError):
            pixelferry.Viewer(**{"height": 8, "headless": True, **options})
    with pytest.raises(TypeError):
        pixelferry.Viewer("wide")
    with pytest.raises(pixelferry.DeviceError):
        pixelferry.Viewer(2**32 - 1, 8, headless=True, display="gl")


def test_before_the_first_array(fresh):
    assert fresh.path is None and fresh.report is None and fresh._repr_png_() is None and "nothing" in fresh.explain()
    fresh.finish()
    with pytest.raises(pixelferry.ShapeError, match="nothing has been shown"):
        fresh.screenshot()
    with pytest.raises(pixelferry.ShapeError, match="layout"):
        fresh.show(sample((3, 4), "u1"), layout="NHWX")


def test_after_the_end(fresh):
    assert fresh.is_open and "open" in repr(fresh)
    with fresh:
        fresh.show(sample((3, 4), "u1"))
    fresh.close()
    assert not fresh.is_open and "closed" in repr(fresh) and fresh._repr_png_() is None
    for call in (lambda: fresh.show(sample((3, 4), "u1")), fresh.screenshot, fresh.finish, fresh.explain):
        with pytest.raises(pixelferry.ClosedError):
            call()


def test_no_cuda_here_is_an_error_not_the_end():
    try:
        with pixelferry.Viewer(8, 8, headless=True, backend="cuda:99"):
            pytest.fail("there is no device 99")
    except pixelferry.DeviceError as error:
        assert "CUDA" in str(error)


def test_reports(monkeypatch):
    # At the shortest level the machine is probed by test_command.py alone.
    if by_level(False, True):
        found = pixelferry.probe(32, 32)
        assert isinstance(found, dict) and isinstance(found, pixelferry.Report) and found["chosen"] and found["pairings"]
        assert [line.split()[0] for line in str(found).splitlines()[:3]] == ["WGSL", "C", "host"], str(found)
    with pytest.raises(pixelferry.ShapeError):
        pixelferry.probe(0, 4)
    # The choice is by time.
    monkeypatch.delenv("PIXELFERRY_CALIBRATE_MS", raising=False)
    with pixelferry.Viewer(8, 8, headless=True) as viewer:
        viewer.show(sample((3, 4), "u1"))
        assert isinstance(viewer.report, pixelferry.Report) and viewer.path in {p["id"] for p in viewer.report["paths"]}
        assert str(viewer.report) == viewer.explain() and viewer.path in viewer.explain()


def test_frames_are_audited_as_the_program_says():
    frames = 20
    for audit in [1, 2, "off"]:
        with pixelferry.Viewer(8, 8, headless=True, display="memory", backend="cpu", audit=audit) as viewer:
            for _ in range(frames):
                viewer.show(sample((8, 8, 4), "u1"))
            # The last ones are judged by later frames.
            found = viewer.report["audits"]
            least, most = (0, 0) if audit == "off" else (frames // audit - 3, frames // audit)
            assert least <= found["right"] <= most and found["wrong"] == 0, (audit, found)
            assert (found["last"] is None) == (audit == "off") or found["last"][1] == "right"
    for wrong in [0, -1, 1.5, "often"]:
        with pytest.raises(pixelferry.ShapeError, match=f"unknown audit='{wrong}'; use one of auto, off, a number from 1"):
            pixelferry.Viewer(8, 8, headless=True, audit=wrong)


def test_the_first_start_measures_and_the_second_remembers(monkeypatch, tmp_path):
    monkeypatch.setenv("PIXELFERRY_PROFILES", str(tmp_path))

    def basis(wanted):
        with pixelferry.Viewer(8, 8, headless=True, display="memory") as viewer:
            together = lambda: viewer.report["together"]
            # Backends are compared while frames are shown.
            assert wait_for(lambda: viewer.show(sample((3, 4, 4), "u1")) or wanted in together()["basis"]), together()
            return together()

    assert basis("frames")["basis"]["frames"] and basis("remembered")["basis"] == "remembered"
    # A backend that is asked for leaves nothing to measure.
    with pixelferry.Viewer(8, 8, headless=True, display="memory", backend="cpu") as viewer:
        viewer.show(sample((3, 4, 4), "u1"))
        assert "cost-model" in viewer.report["together"]["basis"] and viewer.report["compute"]["api"] == "cpu"


@pytest.mark.parametrize("module,stubs,classes", [
    (pixelferry, "__init__.pyi", ["Viewer"]), (pixelferry.gl, "gl.pyi", ["Buffer", "Source", "Target", "Texture"]),
    (pixelferry.vulkan, "vulkan.pyi", ["Memory", "Semaphore", "Texture"])], ids=["pixelferry", "gl", "vulkan"])
def test_the_stubs_are_of_this_module(module, stubs, classes):
    tree = ast.parse((pathlib.Path(pixelferry.__file__).parent / stubs).read_text(encoding="utf-8"))
    public = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))
              and not node.name.startswith("_")}
    there = {name for name in dir(module) if not name.startswith("_") and not inspect.ismodule(getattr(module, name))}
    assert set(public) == there == set(module.__all__) - {"__version__"}

    def same(stub, made):
        arguments = stub.args.posonlyargs + stub.args.args + stub.args.kwonlyargs
        names = [a.arg for a in arguments if a.arg not in ("self", "cls")]
        assert names == [p for p in inspect.signature(made).parameters if p != "self"], stub.name

    for name, stub in public.items():
        if isinstance(stub, ast.FunctionDef):
            same(stub, getattr(module, name))
            assert getattr(module, name).__doc__
    for made in [getattr(module, name) for name in classes]:
        members = {node.name: node for node in public[made.__name__].body if isinstance(node, ast.FunctionDef)}
        same(members.pop("__new__"), made)
        assert {n for n in members if n[0] != "_"} == {n for n in vars(made) if n[0] != "_"}
        for name, stub in members.items():
            if callable(getattr(made, name)) and name != "__exit__":
                same(stub, getattr(made, name))


def test_the_network_is_a_package_of_its_own(monkeypatch):
    monkeypatch.delitem(sys.modules, "pixelferry.net", raising=False)
    monkeypatch.setitem(sys.modules, "pixelferry_net", None)
    with pytest.raises(ImportError, match="the package pixelferry-net.*pip install ./integrations/net/python"):
        importlib.import_module("pixelferry.net")
    installed = types.ModuleType("pixelferry_net")
    installed.__all__, installed.join = ["join"], object()
    monkeypatch.setitem(sys.modules, "pixelferry_net", installed)
    assert importlib.import_module("pixelferry.net").join is installed.join
    monkeypatch.delitem(sys.modules, "pixelferry.net")
