"""Every pixel of NumPy arrays of any type, shape and stride, by every path that the machine has."""

import errno
import os

import numpy as np
import pytest

import pixelferry
from conftest import check, missing, reference, sample, shown, value
from patience import by_level, pairs

DTYPES = ["u1", "u2", "f2", "f4"]
SHAPES = [(48, 64), (48, 64, 1), (48, 64, 3), (48, 64, 4), (1, 1, 4), (3, 1), (1, 257, 3), (101, 3, 4)]


@pytest.mark.parametrize("shape, dtype", pairs(SHAPES, DTYPES), ids=str)
def test_types_and_shapes(viewer, dtype, shape):
    check(viewer, sample(shape, dtype))


@pytest.mark.parametrize("shape, dtype", pairs([(1, 20, 30), (3, 20, 30), (4, 20, 30)], DTYPES), ids=str)
def test_channels_first(viewer, dtype, shape):
    check(viewer, sample(shape, dtype), layout="CHW")
    check(viewer, sample(shape[1:], dtype), layout="CHW")


def strided():
    for dtype in by_level(["f2"], DTYPES):
        base = sample((40, 52, 4), dtype)
        yield "rows upwards", base[::-1]
        yield "columns backwards", base[:, ::-1]
        yield "both, every second", base[::-2, ::-2]
        yield "part", base[3:30, 7:40]
        yield "three of four channels", base[:, :, :3]
        yield "BGR", base[:, :, 2::-1]
        yield "one channel", base[:, :, 2]
        yield "turned", base.transpose(1, 0, 2)
        yield "Fortran's order", np.asfortranarray(base)
        yield "one row for all", np.broadcast_to(base[:1], (31, 52, 4))
        yield "one pixel for all", np.broadcast_to(base[5, 6], (31, 17, 4))
        yield "unaligned", np.zeros((9, 11), [("skip", "u1"), ("v", dtype, 3)])["v"]
        read_only = base.copy()
        read_only.flags.writeable = False
        yield "read-only", read_only


@pytest.mark.parametrize("name,array", [pytest.param(n, a, id=f"{n}-{a.dtype}") for n, a in strided()])
def test_strides(viewer, name, array):
    check(viewer, array)


@pytest.mark.parametrize("dtype", ["u2", "f2", "f4", "f8", "i4"])
def test_numbers_in_the_other_byte_order_are_converted(viewer, dtype):
    array = sample((12, 34, 3), "u1").astype(dtype)
    foreign = array.astype(array.dtype.newbyteorder())
    viewer.show(array)
    native = viewer.screenshot()
    viewer.show(np.zeros_like(array))
    assert viewer.screenshot() != native
    viewer.show(foreign[::-1][::-1])
    assert viewer.screenshot() == native


def test_special_floats(viewer):
    array = np.array([[np.nan, np.inf, -np.inf, -0.0, 0.5, 1.0, 2.0, -1.0, 1e-40, 0.999]], "f4")
    check(viewer, array)
    check(viewer, array.astype("f2"))


def test_size_and_type_change_between_frames(viewer):
    for seed, (shape, dtype) in enumerate([((5, 9, 3), "u1"), ((70, 80), "f4"), ((5, 9, 4), "u2"), ((5, 9, 3), "u1")]):
        check(viewer, sample(shape, dtype, seed))


@pytest.mark.parametrize("display", ["gl", "memory"])
@pytest.mark.parametrize("name", ["rgba16f", "rgba32f"])
def test_float_formats(display, name):
    with pixelferry.Viewer(8, 8, headless=True, display=display, format=name) as viewer:
        for dtype in DTYPES:
            # A half has 11 bits: what it loses can tip a rounding.
            check(viewer, sample((20, 30, 3), dtype), tolerance=1 if name == "rgba16f" else 0)
            check(viewer, sample((20, 30), dtype), tolerance=1 if name == "rgba16f" else 0)


@pytest.mark.parametrize("display", ["gl", "memory"])
@pytest.mark.parametrize("name", ["r8", "r16", "r16f", "r32f"])
def test_formats_of_one_channel(display, name):
    with pixelferry.Viewer(8, 8, headless=True, display=display, format=name) as viewer:
        for dtype in DTYPES:
            check(viewer, sample((21, 33), dtype), tolerance=name == "r16f")
            check(viewer, sample((21, 33, 1), dtype)[::-1], tolerance=name == "r16f")
        with pytest.raises(pixelferry.ShapeError, match=f"format {name} shows .height, width.*1, height"):
            viewer.show(sample((4, 4, 3), "u1"))


def unorm(array, most):
    return (np.clip(value(array), 0, 1) * np.float32(most) + np.float32(0.5)).astype("u4")


def stored(name, array):
    """What the format's memory holds, by its definition."""
    if name == "rgb10a2":
        r, g, b, a = (unorm(array[:, :, c], 3 if c == 3 else 1023) for c in range(4))
        return r | g << 10 | b << 20 | a << 30
    if name == "bgra8":
        array = array[:, :, [2, 1, 0, 3]]
    if name.endswith("f"):
        return value(array).astype("f2" if name.endswith("16f") else "f4")
    return unorm(array, 255 if name.endswith("8") else 65535).astype("u1" if name.endswith("8") else "u2")


FORMATS = {"r8": 1, "rg8": 2, "r16": 1, "r16f": 1, "rgba8": 4, "bgra8": 4, "rgb10a2": 4, "rg16f": 2, "r32f": 1, "rgba16f": 4,
           "rg32f": 2, "rgba32f": 4}


@pytest.mark.parametrize("backend", [None, "cpu", "gl"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_holds_what_it_says(name, backend):
    channels, of_gl = FORMATS[name], backend == "gl"
    with pixelferry.Viewer(8, 8, headless=True, display="gl" if of_gl else "memory", format=name, backend=backend) as viewer:
        for dtype in DTYPES:
            # Tight, and with the channels apart.
            for array in [sample((7, 9, channels), dtype), sample((channels, 7, 9), dtype, 1).transpose(1, 2, 0)]:
                viewer.show(array)
                expected, found = stored(name, array), np.asarray(viewer.capture())
                assert found.dtype == expected.dtype and (found == expected.reshape(found.shape)).all(), viewer.explain()
        if channels == 2:
            for wrong in [(7, 9), (7, 9, 1), (7, 9, 3), (7, 9, 4)]:
                with pytest.raises(pixelferry.ShapeError, match="height, width, 2"):
                    viewer.show(sample(wrong, "u1"))
        else:
            with pytest.raises(pixelferry.ShapeError, match="5 channels" if channels == 4 else "2 channels"):
                viewer.show(sample((7, 9, 5 if channels == 4 else 2), "u1"), layout="HWC")


def test_a_format_that_is_none_names_all_that_are():
    with pytest.raises(pixelferry.ShapeError, match=", ".join(FORMATS)):
        pixelferry.Viewer(8, 8, headless=True, format="rgb")


def paths():
    with pixelferry.Viewer(8, 8, headless=True) as viewer:
        viewer.show(np.zeros((4, 4, 4), "u1"))
        return [p["id"] for p in viewer.report["paths"] if p["state"] != "not-offered"]


@pytest.mark.parametrize("mode", ["latency", "throughput"])
def test_every_path(mode):
    found = paths()
    assert "host-round-trip" in found and len(found) > 3, found
    for path in found:
        with pixelferry.Viewer(64, 48, headless=True, path=path, mode=mode) as viewer:
            for seed in range(by_level(4, 12)):
                viewer.show(sample((48, 64, 3), "f4", seed))
                assert viewer.path == path
            check(viewer, sample((48, 64, 4), "u1")[::-1])
            check(viewer, sample((33, 17), "u2"))


def test_a_path_that_does_not_work_names_those_that_do():
    with pixelferry.Viewer(8, 8, headless=True, path="external-texture") as viewer:
        with pytest.raises(pixelferry.DeviceError, match="host-round-trip"):
            viewer.show(np.zeros((4, 4), "u1"))
    with pytest.raises(pixelferry.ShapeError, match="unknown path 'nonsense'"):
        pixelferry.Viewer(8, 8, headless=True, path="nonsense")


def test_opencl():
    with pixelferry.Viewer(64, 48, headless=True, backend="opencl") as viewer:
        try:
            viewer.show(sample((4, 4), "u1"))
        except pixelferry.DeviceError as why:
            missing("opencl", str(why))
        for dtype in DTYPES:
            check(viewer, sample((48, 64, 3), dtype)[::-1, ::2])
            check(viewer, sample((1, 257), dtype))


def test_other_things_with_a_buffer(viewer):
    data = bytes(range(48))
    check(viewer, memoryview(data).cast("B", (4, 12)))
    check(viewer, memoryview(data).cast("B", (4, 3, 4)))
    check(viewer, memoryview(bytearray(data)).cast("H", (4, 6)))
    viewer.show(viewer.screenshot())


def test_a_picture_is_saved(tmp_path, viewer):
    viewer.show(sample((5, 7, 3), "u1"))
    viewer.save(tmp_path / "a.png")
    saved = (tmp_path / "a.png").read_bytes()
    assert saved.startswith(b"\x89PNG") and viewer._repr_png_() == saved
    assert pixelferry.show(sample((5, 7), "f4"), save=tmp_path / "b.jpg") is None
    assert (tmp_path / "b.jpg").read_bytes().startswith(b"\xff\xd8")
    absent, folder = str(tmp_path / "absent" / "a.png"), tmp_path / "folder.png"
    folder.mkdir()
    for save in (viewer.save, lambda file: pixelferry.show(sample((5, 7), "f4"), save=file)):
        with pytest.raises(FileNotFoundError) as caught:
            save(absent)
        assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, absent)
        assert caught.value.strerror == os.strerror(errno.ENOENT)
        with pytest.raises(IsADirectoryError):
            save(folder)
        with pytest.raises(pixelferry.ShapeError, match="webp.*use .png or .jpg"):
            save(tmp_path / "a.webp")
    # Before the array is looked at.
    with pytest.raises(FileNotFoundError):
        pixelferry.show("no array", save=absent)
    assert {file.name for file in tmp_path.iterdir()} == {"a.png", "b.jpg", "folder.png"}


def test_the_screenshot_is_a_copy(viewer):
    viewer.show(np.full((3, 4), 7, "u1"))
    before = shown(viewer)
    viewer.show(np.full((3, 4), 9, "u1"))
    assert (before[:, :, 0] == 7).all() and (shown(viewer)[:, :, 0] == 9).all()
    assert reference(np.full((3, 4), 9, "u1")).tobytes() == bytes(viewer.screenshot())
