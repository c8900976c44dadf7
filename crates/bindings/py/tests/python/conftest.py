"""What the tests share: viewers, reference pixels, an X server."""

import importlib
import os
import subprocess

import numpy as np
import pytest

import patience  # noqa: F401 (sets what the level asks for)
import pixelferry


# The rows of pixelferry-testing's table, from tests/suite/package.rs: a "!" follows what the machine must have. Empty where
# pytest was started by hand.
NEEDS = os.environ.get("PIXELFERRY_NEEDS", "").split()


def missing(name, why):
    """Skips, or fails where the machine must have it. No test skips in another way."""
    if name + "!" in NEEDS:
        pytest.fail(f"{name} is required here, but: {why}")
    if NEEDS and name not in NEEDS:
        pytest.fail(f"no row of pixelferry-testing is called {name}")
    pytest.skip(f"no {name}: {why}", allow_module_level=True)


def library(name):
    """The module of that name."""
    try:
        return importlib.import_module(name)
    except ImportError as why:
        missing(name, why)


def value(array):
    """Numbers as 0 to 1, in the arithmetic of the library."""
    if array.dtype.kind == "u":
        return array.astype("f4") / np.float32(np.iinfo(array.dtype).max)
    return array.astype("f4")


def reference(array, layout="HWC"):
    """RGBA bytes, as any viewer must show them."""
    array = np.asarray(array)
    if layout == "CHW" and array.ndim == 3:
        array = array.transpose(1, 2, 0)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.dtype != np.uint8:
        clipped = np.clip(np.nan_to_num(value(array), nan=0.0, posinf=1.0, neginf=0.0), 0, 1)
        array = (clipped * np.float32(255) + np.float32(0.5)).astype("u1")
    height, width, channels = array.shape
    out = np.full((height, width, 4), 255, "u1")
    if channels == 1:
        out[:, :, :3] = array
    else:
        out[:, :, :channels] = array
    return out


def shown(viewer):
    return np.asarray(viewer.screenshot())


def check(viewer, array, layout="HWC", tolerance=0, host=None):
    """Shows it and compares every pixel; `host` is the same array where NumPy can read it."""
    viewer.show(array, layout=layout)
    expected, found = reference(array if host is None else host, layout), shown(viewer)
    assert found.shape == expected.shape
    worst = np.abs(found.astype("i4") - expected.astype("i4")).max()
    assert worst <= tolerance, f"{worst} off; path {viewer.path}"


def sample(shape, dtype, seed=0):
    """Noise of any element type; floats reach a little outside of 0 to 1."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "u":
        return random.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)
    return (random.random(shape) * 1.2 - 0.1).astype(dtype)


def headless(display):
    try:
        made = pixelferry.Viewer(64, 48, headless=True, display=display)
    except pixelferry.DeviceError as why:
        missing("egl", why)
    with made:
        yield made


@pytest.fixture(scope="session", params=["gl", "memory"])
def viewer(request):
    """Without a window: by OpenGL, and with no graphics driver at all. One for many tests, as programs use it."""
    yield from headless(request.param)


@pytest.fixture(params=["gl", "memory"])
def fresh(request):
    """One that nobody has used."""
    yield from headless(request.param)


@pytest.fixture(scope="session")
def screen():
    """The name of an X display of our own."""
    try:
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        missing("xvfb", "Xvfb is not installed")
    yield ":" + server.stdout.readline().decode().strip()
    server.kill()
    server.wait()
