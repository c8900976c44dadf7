"""What a viewer shows, given to other libraries: DLPack, buffers, NumPy's interface."""

import ctypes as c
import doctest
import gc
import hashlib
import pathlib
import sys
import threading

import numpy as np
import pytest

import pixelferry
from conftest import sample
from patience import by_level, pairs
from test_lifetime import growth, resident
from test_protocols import Plain, Versioned, api

api.PyCapsule_GetPointer.restype = c.c_void_p
api.PyCapsule_GetPointer.argtypes = [c.py_object, c.c_char_p]
api.PyCapsule_SetName.argtypes = [c.py_object, c.c_char_p]

# Name, channels, and what an array of the format holds.
FORMATS = [("rgba8", 4, "u1"), ("r8", 1, "u1"), ("rgba16f", 4, "f2"), ("rgba32f", 4, "f4"), ("r32f", 1, "f4")]


def captured(array, display="memory", format="rgba8"):
    """It outlives its viewer."""
    with pixelferry.Viewer(8, 8, headless=True, display=display, format=format) as viewer:
        viewer.show(array)
        return viewer.capture()


def plain(shape=(3, 5, 4)):
    given = sample(shape, "u1")
    return given, captured(given)


@pytest.mark.parametrize("of, display", pairs(FORMATS, ["gl", "memory"]), ids=str)
def test_every_protocol_has_every_number(of, display):
    format, channels, dtype = of
    given = sample((7, 13, 4)[: 3 if channels > 1 else 2], dtype)
    array = captured(given, display, format)
    assert array.shape == given.shape and np.dtype(array.dtype) == dtype and array.nbytes == given.nbytes
    assert array.device == "cpu" and "x".join(map(str, given.shape)) in repr(array) and array.dtype in repr(array)
    for taken in [np.from_dlpack(array), np.asarray(array), np.asarray(memoryview(array)), np.asarray(Interface(array)),
                  array.__array__(), array.__array__(copy=True), np.array(array)]:
        assert taken.dtype == dtype and taken.tobytes() == given.tobytes()
    assert array.__array__("f8").dtype == "f8"
    assert bytes(array) == given.tobytes()
    assert hashlib.md5(array).digest() == hashlib.md5(given).digest()
    assert not hasattr(array, "__cuda_array_interface__")


class Interface:
    def __init__(self, array):
        self.__array_interface__, self.array = array.__array_interface__, array


def test_libraries_share_the_memory_and_keep_it():
    given, array = plain()
    address = array.__array_interface__["data"][0]
    assert address % 256 == 0
    taken = [np.from_dlpack(array), np.asarray(array), memoryview(array)]
    taken[1][0, 0, 0] ^= 255
    assert [np.asarray(each)[0, 0, 0] for each in taken] == [given[0, 0, 0] ^ 255] * 3
    assert taken[0].ctypes.data == taken[1].ctypes.data == address
    array.__array__(copy=True)[0, 0, 0] ^= 255
    taken[1][0, 0, 0] ^= 255
    del array
    gc.collect()
    plain()
    assert all((np.asarray(each) == given).all() for each in taken)


def test_a_later_picture_is_in_memory_of_its_own(viewer):
    kept = []
    for seed in range(by_level(5, 20)):
        given = sample((9, 8, 4), "u1", seed)
        viewer.show(given)
        kept.append((given, np.from_dlpack(viewer.capture())))
    assert all((taken == given).all() for given, taken in kept)


def test_a_viewer_shows_what_was_captured(viewer):
    given = sample((6, 10, 4), "u1")
    viewer.show(given)
    for _ in range(3):
        viewer.show(viewer.capture())
    assert (np.asarray(viewer.capture()) == given).all()


def test_the_newest_of_late_pictures_is_captured():
    with pixelferry.Viewer(8, 8, headless=True, mode="throughput") as viewer:
        for seed in range(30):
            given = sample((6, 10, 4), "u1", seed)
            viewer.show(given)
            if seed % 7 == 6:
                assert (np.asarray(viewer.capture()) == given).all()


def tensor(capsule, name, kind):
    return kind.from_address(api.PyCapsule_GetPointer(capsule, name))


@pytest.mark.parametrize("version, copy", pairs([None, (0, 8), (1, 0), (1, 3), (2, 0)], [None, False, True]), ids=str)
def test_capsules_say_what_they_hold(version, copy):
    name, kind = (b"dltensor_versioned", Versioned) if version and version[0] else (b"dltensor", Plain)
    given, array = plain()
    assert array.__dlpack_device__() == (1, 0)
    own = array.__array_interface__["data"][0]
    capsule = array.__dlpack__(max_version=version, copy=copy, dl_device=(1, 0), stream=None)
    made = tensor(capsule, name, kind)
    held = made.tensor
    assert (held.device_kind, held.device_id, held.ndim, held.byte_offset) == (1, 0, 3, 0)
    assert (held.code, held.bits, held.lanes) == (1, 8, 1)
    assert held.shape[:3] == [3, 5, 4] and held.strides[:3] == [20, 4, 1]
    assert (held.data == own) == (copy is not True)
    if kind is Versioned:
        assert (made.major, made.minor, made.flags) == (1, 0, 2 if copy else 0)
    del array
    gc.collect()
    assert c.string_at(held.data, given.nbytes) == given.tobytes()
    # A consumer renames the capsule, and calls the deleter once, on any thread.
    api.PyCapsule_SetName(capsule, b"used_" + name)
    address = c.addressof(made)
    thread = threading.Thread(target=lambda: made.deleter(address))
    thread.start()
    thread.join()
    del capsule


def test_what_consumers_may_not_ask():
    _, array = plain()
    for device, copy in [((2, 0), None), ((2, 0), True), ((1, 1), None), ((99, -1), False)]:
        with pytest.raises(BufferError, match="DLPack"):
            array.__dlpack__(dl_device=device, copy=copy)
    for stream in [-1, 0, 1, 2**40]:
        with pytest.raises(pixelferry.ShapeError, match="stream"):
            array.__dlpack__(stream=stream)
    with pytest.raises(TypeError):
        array.__dlpack__(None)
    with pytest.raises(AttributeError):
        array.__cuda_array_interface__
    with pytest.raises(TypeError):
        pixelferry.Array()
    # Python's own: an array whose first index is the fastest was asked for.
    with pytest.raises(BufferError):
        api.PyObject_GetBuffer(c.py_object(array), (c.c_byte * 200)(), 0x0058)


def test_capsules_that_nobody_takes_are_freed():
    array = captured(sample((256, 256, 4), "u1"))
    for copy in [None, True]:
        array.__dlpack__(copy=copy)
        before = resident()
        for n in range(400):
            array.__dlpack__(copy=copy, max_version=(1, 0) if n & 1 else None)
        # All of them would be 100 MB.
        assert resident() - before < 20 << 20


@pytest.mark.parametrize("display", ["gl", "memory"])
def test_captures_leave_nothing(display):
    given = sample((256, 256, 4), "u1")
    with pixelferry.Viewer(8, 8, headless=True, display=display) as viewer:
        viewer.show(given)

        def captures(count):
            for _ in range(count):
                np.from_dlpack(viewer.capture())

        captures(50)
        # All of a round would be 10 MB.
        assert growth(lambda: captures(by_level(40, 80))) < 4 << 20


def test_errors(fresh):
    with pytest.raises(pixelferry.ShapeError, match="nothing has been shown"):
        fresh.capture()
    given = sample((3, 4), "u1")
    fresh.show(given)
    for wrong in ["gpu", "cuda:", "cuda:x", "cpu:0", ""]:
        with pytest.raises(pixelferry.ShapeError, match="device"):
            fresh.capture(device=wrong)
    with pytest.raises(pixelferry.DeviceError):
        fresh.capture("cuda:4000000")
    array = fresh.capture()
    fresh.close()
    with pytest.raises(pixelferry.ClosedError):
        fresh.capture()
    assert (np.asarray(array)[:, :, 0] == given).all()


def test_threads_capture_while_others_show(viewer):
    pictures = [np.full((16, 16, 4), n, "u1") for n in range(1, 5)]
    viewer.show(pictures[0])
    torn, stop = [], threading.Event()

    def capture():
        while not stop.is_set():
            array = np.from_dlpack(viewer.capture())
            if array.min() != array.max():
                torn.append(array)

    threads = [threading.Thread(target=capture) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n in range(by_level(30, 100)):
        viewer.show(pictures[n % 4])
    stop.set()
    for thread in threads:
        thread.join()
    assert not torn


def test_references():
    _, array = plain()
    before = sys.getrefcount(array)
    view = memoryview(array)
    assert sys.getrefcount(array) == before + 1
    view.release()
    np.from_dlpack(array)
    for _ in range(10):
        with pytest.raises(BufferError):
            api.PyObject_GetBuffer(c.py_object(array), (c.c_byte * 200)(), 0x0058)
    assert sys.getrefcount(array) == before


@pytest.mark.parametrize("module", ["__init__", "gl"])
def test_the_examples_of_the_stubs_run(module):
    if module == "gl":
        import programs
        programs.open_context().release()
    stubs = (pathlib.Path(__file__).parents[2] / f"python/pixelferry/{module}.pyi").read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(stubs, {}, module, None, None)
    assert len(examples.examples) > 2
    found = []
    assert not doctest.DocTestRunner().run(examples, out=found.append).failed, "".join(found)
