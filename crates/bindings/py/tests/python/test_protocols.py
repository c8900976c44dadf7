"""DLPack and __cuda_array_interface__ by producers made here, which count what happens to what they hand over."""

import ctypes as c

import numpy as np
import pytest

import pixelferry
from conftest import check, reference, sample, shown

api = c.pythonapi
api.PyCapsule_New.restype = c.py_object
api.PyCapsule_New.argtypes = [c.c_void_p, c.c_char_p, c.c_void_p]
api.PyCapsule_GetName.restype = c.c_char_p
api.PyCapsule_GetName.argtypes = [c.py_object]
DELETER = c.CFUNCTYPE(None, c.c_void_p)


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_kind", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32),
                ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class Plain(c.Structure):
    _fields_ = [("tensor", Tensor), ("context", c.c_void_p), ("deleter", DELETER)]


class Versioned(c.Structure):
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("context", c.c_void_p), ("deleter", DELETER),
                ("flags", c.c_uint64), ("tensor", Tensor)]


CODES = {"i": 0, "u": 1, "f": 2}


class Producer:
    """Hands an array over as DLPack says, once for each call, and counts deleters."""

    def __init__(self, array, versioned=False, **changes):
        self.array, self.versioned, self.changes = array, versioned, changes
        self.capsules, self.deleted, self.kept, self.asked = [], [], [], []

    def __dlpack_device__(self):
        return self.changes.get("device", (1, 0))

    def __dlpack__(self, **asked):
        self.asked.append(asked)
        if not self.versioned and "max_version" in asked:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        array = self.array
        made = Versioned(major=self.changes.get("major", 1)) if self.versioned else Plain()
        address = c.addressof(made)
        # Calls for another address than that of the tensor would be seen, too.
        made.deleter = DELETER(0) if self.changes.get("no_deleter") else DELETER(self.deleted.append)
        offset = self.changes.get("byte_offset", 0)
        made.tensor.data = None if self.changes.get("null") else array.ctypes.data - offset
        made.tensor.byte_offset = offset
        made.tensor.device_kind, made.tensor.device_id = self.changes.get("tensor_device", (1, 0))
        made.tensor.ndim = array.ndim
        made.tensor.code = self.changes.get("code", CODES[array.dtype.kind])
        made.tensor.bits = self.changes.get("bits", 8 * array.itemsize)
        made.tensor.lanes = self.changes.get("lanes", 1)
        shape = (c.c_int64 * array.ndim)(*array.shape)
        made.tensor.shape = shape
        if not self.changes.get("no_strides"):
            made.tensor.strides = (c.c_int64 * array.ndim)(*[s // array.itemsize for s in array.strides])
        self.kept.append((made, shape, address))
        name = self.changes.get("name", b"dltensor_versioned" if self.versioned else b"dltensor")
        capsule = api.PyCapsule_New(address, name, None)
        self.capsules.append(capsule)
        return capsule

    def check_given_back(self):
        """Each tensor once, and each capsule marked as used."""
        assert self.deleted == [address for _, _, address in self.kept]
        names = {api.PyCapsule_GetName(capsule) for capsule in self.capsules}
        assert names == {b"used_dltensor_versioned" if self.versioned else b"used_dltensor"}


@pytest.mark.parametrize("versioned", [False, True], ids=["0.8", "1.0"])
@pytest.mark.parametrize("dtype", ["u1", "u2", "f2", "f4"])
def test_taken_once_and_given_back_once(viewer, versioned, dtype):
    array = sample((20, 30, 4), dtype)
    for view in (array, array[::-1, ::2], array.transpose(1, 0, 2), array[:, :, 0]):
        producer = Producer(view, versioned)
        for _ in range(3):
            check(viewer, producer, host=view)
        producer.check_given_back()
        assert all(asked.get("max_version", (1, 0)) == (1, 0) and "stream" not in asked for asked in producer.asked)


def test_offsets_no_strides_and_no_deleter(viewer):
    array = sample((20, 30, 3), "f4")
    for changes in ({"no_strides": True}, {"byte_offset": 64}, {"no_strides": True, "byte_offset": 12}):
        producer = Producer(array, **changes)
        check(viewer, producer, host=array)
        producer.check_given_back()
    check(viewer, Producer(array, no_deleter=True), host=array)
    check(viewer, Producer(array, tensor_device=(3, 0), device=(3, 0)), host=array)


@pytest.mark.parametrize("versioned", [False, True], ids=["0.8", "1.0"])
@pytest.mark.parametrize("changes,error", [
    ({"code": 3}, pixelferry.DtypeError), ({"code": 4, "bits": 32}, pixelferry.DtypeError),
    ({"code": 77}, pixelferry.DtypeError), ({"bits": 4}, pixelferry.DtypeError),
    ({"lanes": 4}, pixelferry.DtypeError), ({"lanes": 0}, pixelferry.DtypeError), ({"null": True}, pixelferry.ShapeError),
    ({"null": True, "byte_offset": 64}, pixelferry.ShapeError), ({"tensor_device": (2, 0)}, pixelferry.DeviceError),
], ids=str)
def test_what_is_refused_is_given_back(viewer, versioned, changes, error):
    producer = Producer(sample((20, 30, 3), "u1"), versioned, **changes)
    with pytest.raises(error):
        viewer.show(producer)
    producer.check_given_back()


def test_shapes_that_are_refused_are_given_back(viewer):
    for shape in [(), (3,), (0, 4), (2, 2, 0), (1, 5, 5, 5)]:
        producer = Producer(np.zeros(shape, "u1"))
        with pytest.raises(pixelferry.ShapeError):
            viewer.show(producer)
        producer.check_given_back()


def test_a_later_major_version_is_given_back_unread(viewer):
    producer = Producer(sample((4, 4), "u1"), True, major=2)
    with pytest.raises(pixelferry.DtypeError, match="DLPack version 2"):
        viewer.show(producer)
    producer.check_given_back()


def test_a_capsule_that_was_used_is_refused_and_left_alone(viewer):
    for name in (b"used_dltensor", b"something"):
        producer = Producer(sample((4, 4), "u1"), name=name)
        with pytest.raises(pixelferry.DtypeError, match="already used"):
            viewer.show(producer)
        assert producer.deleted == []


def test_producers_that_fail(viewer):
    class Broken:
        def __init__(self, device, made):
            self.device, self.made = device, made

        def __dlpack_device__(self):
            return self.device

        def __dlpack__(self, **_):
            if isinstance(self.made, Exception):
                raise self.made
            return self.made

    for device, made in [((1, 0), BufferError("not now")), ((1, 0), 5), ((1, 0), None), ("cpu", None), (3, None)]:
        with pytest.raises(pixelferry.DtypeError) as caught:
            viewer.show(Broken(device, made))
        if isinstance(made, Exception):
            assert caught.value.__cause__ is made and "not now" in str(caught.value)
    for kind in (4, 7, 8, 10, 99):
        with pytest.raises(pixelferry.DeviceError, match=f"device type {kind}"):
            viewer.show(Broken((kind, 0), None))
    for device in [(2, 99), (2, -1), (13, 99)]:
        with pytest.raises(pixelferry.DeviceError):
            viewer.show(Broken(device, None))
    check(viewer, sample((3, 4), "u1"))


def test_numpys_own_dlpack_gives_the_same(viewer):
    class Only:
        """NumPy by DLPack, without its buffer."""

        def __init__(self, array):
            self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__

    array = sample((9, 8, 3), "f2")
    viewer.show(Only(array))
    assert (shown(viewer) == reference(array)).all()


GOOD = {"shape": (4, 4), "typestr": "|u1", "data": (4096, False), "version": 3, "strides": None}


@pytest.mark.parametrize("changes,error", [
    ({"mask": object()}, pixelferry.DtypeError), ({"typestr": "<f16"}, pixelferry.DtypeError),
    ({"typestr": ">f4"}, pixelferry.DtypeError), ({"typestr": "|V4"}, pixelferry.DtypeError),
    ({"typestr": "u"}, pixelferry.DtypeError), ({"typestr": ""}, pixelferry.DtypeError),
    ({"typestr": "€4"}, pixelferry.DtypeError),
    ({"shape": (4, 4, 2)}, pixelferry.DeviceError), ({"shape": (0, 4)}, pixelferry.ShapeError),
    ({"shape": (2**62, 2**62)}, pixelferry.ShapeError), ({"shape": (-4, 4)}, pixelferry.ShapeError),
    ({"data": (0, False)}, pixelferry.ShapeError), ({"strides": (-(2**40), 1)}, pixelferry.ShapeError),
    ({"typestr": "<f4", "data": (4098, False)}, pixelferry.ShapeError),
    ({"typestr": "<f4", "strides": (15, 4)}, pixelferry.ShapeError),
    ({"strides": (4,)}, pixelferry.ShapeError), ({"data": None}, pixelferry.DtypeError),
    ({"typestr": None}, pixelferry.DtypeError), ({"shape": None}, pixelferry.DtypeError),
    # Well formed, but no memory of any GPU.
    ({}, pixelferry.DeviceError),
], ids=str)
def test_cuda_array_interfaces_that_are_wrong(viewer, changes, error):
    class Array:
        __cuda_array_interface__ = {**GOOD, **changes}

    with pytest.raises(error):
        viewer.show(Array())


def test_a_cuda_array_interface_that_is_none(viewer):
    class Array:
        __cuda_array_interface__ = 5

    with pytest.raises(TypeError):
        viewer.show(Array())


def test_ctypes_arrays_whose_buffers_have_no_strides(viewer):
    colours, greys = ((c.c_uint8 * 3) * 8 * 6)(), ((c.c_uint16 * 8) * 6)()
    colours[2][5][0], greys[2][5] = 200, 65535
    for array in (colours, greys, ((c.c_float * 8) * 6)()):
        viewer.show(np.asarray(array))
        right = np.from_dlpack(viewer.capture()).copy()
        viewer.show(array)
        assert (np.from_dlpack(viewer.capture()) == right).all()


@pytest.mark.parametrize("of", [bytes(48), bytearray(48), memoryview(bytes(48)), (c.c_uint8 * 48)()], ids=lambda of: type(of).__name__)
def test_an_object_of_one_dimension_is_told_a_line_that_it_takes(viewer, of):
    with pytest.raises(pixelferry.ShapeError) as refused:
        viewer.show(of)
    line = str(refused.value).split("show ")[1]
    viewer.show(eval(line, {"numpy": np, "x": of, "height": 6, "width": 8}))
