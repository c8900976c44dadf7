"""The recipe for GStreamer: what it plays into files is what was published."""

import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import pixelferry
from conftest import missing
from patience import wait_for

RECIPE = pathlib.Path(__file__).parents[5] / "integrations/pipewire/recipes/gstreamer.py"
SIZES = [(17, 33, 4), (24, 40, 4)]


@pytest.fixture(scope="module", autouse=True)
def gstreamer():
    """GStreamer for Python, with the elements that are used here."""
    asks = "import gi; gi.require_version('GstApp', '1.0'); from gi.repository import Gst, GstApp; Gst.init(None); " \
        "assert Gst.ElementFactory.find('appsrc') and Gst.ElementFactory.find('multifilesink')"
    asked = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True)
    if asked.returncode != 0:
        missing("pipewire", asked.stderr.strip().splitlines()[-1])


class Publishes:
    """A thread that publishes arrays until it is told to end."""

    def __init__(self, array):
        self.name = f"gstreamer-{os.getpid()}"
        self.end = threading.Event()
        self.publisher = pixelferry.Publisher(self.name)
        self.thread = threading.Thread(target=self.run, args=(array,))
        self.thread.start()

    def run(self, array):
        number = 0
        while not self.end.wait(0.005):
            number += 1
            self.publisher.publish(array(number))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()
        self.publisher.close()


def plays(name, pipeline, *arguments):
    command = [sys.executable, RECIPE, name, pipeline, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def picture(number, shape):
    return np.arange(number, number + np.prod(shape)).astype("u1").reshape(shape)


def test_each_frame_is_a_file(tmp_path):
    # Another size after some.
    with Publishes(lambda number: picture(number, SIZES[number // 20 % 2])) as published:
        played = plays(published.name, f"multifilesink location={tmp_path}/%05d.raw", "--frames", "60")
        said, wrong = played.communicate()
    assert played.returncode == 0 and said == "60 frames\n", wrong
    files = sorted(tmp_path.iterdir())
    seen = set()
    for file in files:
        data = np.fromfile(file, "u1")
        shape = next(shape for shape in SIZES if np.prod(shape) == data.size)
        np.testing.assert_array_equal(data.reshape(shape), picture(int(data[0]), shape))
        seen.add(shape)
    assert len(files) == 60 and seen == set(SIZES)


def test_rows_of_grey_are_as_long_as_gstreamer_wants_them(tmp_path):
    with Publishes(lambda number: picture(number, (5, 7))) as published:
        played = plays(published.name, f"videoconvert ! video/x-raw,format=RGBA ! multifilesink location={tmp_path}/%05d.raw", "--frames", "5")
        said, wrong = played.communicate()
    assert played.returncode == 0, wrong
    for file in tmp_path.iterdir():
        data = np.fromfile(file, "u1").reshape(5, 7, 4)
        np.testing.assert_array_equal(data[..., 0], picture(int(data[0, 0, 0]), (5, 7)))


def test_the_file_is_whole_when_the_publisher_ends(tmp_path):
    file = tmp_path / "all.raw"
    with Publishes(lambda number: picture(number, SIZES[0])) as published:
        played = plays(published.name, f"filesink buffer-mode=unbuffered location={file}")
        assert wait_for(lambda: played.poll() is not None or (file.exists() and file.stat().st_size > 10000))
    said, wrong = played.communicate()
    assert played.returncode == 0, wrong
    assert file.stat().st_size == int(said.split()[0]) * np.prod(SIZES[0])


@pytest.mark.parametrize("pipeline, shape, why", [
    ("nothere ! fakesink", SIZES[0], "nothere"),
    ("video/x-raw,format=YUY2 ! fakesink", SIZES[0], "not-negotiated"),
    ("fakesink", (4, 4, 2), "publish 8-bit RGBA"),
])
def test_what_does_not_go_is_said(pipeline, shape, why):
    with Publishes(lambda number: picture(number, shape)) as published:
        played = plays(published.name, pipeline)
        said, wrong = played.communicate()
    assert played.returncode == 1 and why in wrong and "CRITICAL" not in wrong, wrong


def test_a_stream_that_nobody_publishes_is_said():
    played = plays("nobody-publishes-this", "fakesink")
    said, wrong = played.communicate()
    assert played.returncode == 1 and "no process publishes it" in wrong
