"""Tensors of PyTorch, CuPy and JAX on an NVIDIA GPU: PIXELFERRY_GPU=1 says that there is one."""

import os

import numpy as np
import pytest

import pixelferry
from conftest import check, library, missing, reference, sample, shown

if os.environ.get("PIXELFERRY_GPU") != "1":
    missing("nvidia", "it is tested where PIXELFERRY_GPU=1 is set")

torch = library("torch")
cupy = library("cupy")

DTYPES = ["u1", "u2", "f2", "f4"]


@pytest.fixture
def viewer():
    """On the GPU that the arrays are on."""
    with pixelferry.Viewer(64, 48, headless=True, display="gl") as made:
        yield made


def tolerance(array):
    # The compiler may contract a product and a sum, which moves the borders between bytes by a rounding.
    return 0 if array.dtype == np.uint8 else 1


def check_gpu(viewer, array, host, layout="HWC"):
    check(viewer, array, layout, tolerance(host), host)
    assert viewer.report["compute"]["api"] == "cuda"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(48, 64), (48, 64, 1), (48, 64, 3), (48, 64, 4), (1, 1, 4), (257, 3), (101, 3, 3)], ids=str)
def test_torch(viewer, dtype, shape):
    host = sample(shape, dtype)
    check_gpu(viewer, torch.from_numpy(host).cuda(), host)


@pytest.mark.parametrize("dtype", DTYPES)
def test_torch_strides_and_layouts(viewer, dtype):
    host = sample((40, 52, 4), dtype)
    tensor = torch.from_numpy(host).cuda()
    for of in (lambda x: x[::3, 1::2], lambda x: x[3:30, 7:40], lambda x: x[:, :, :3], lambda x: x[:, :, 1:],
               lambda x: x[:, :, 2], lambda x: x[:, 5:6]):
        check_gpu(viewer, of(tensor), of(host))
    check_gpu(viewer, tensor.permute(1, 0, 2), host.transpose(1, 0, 2))
    check_gpu(viewer, tensor[:1].expand(31, -1, -1), np.broadcast_to(host[:1], (31, 52, 4)))
    first = np.ascontiguousarray(host.transpose(2, 0, 1))
    check_gpu(viewer, torch.from_numpy(first).cuda(), first, "CHW")
    check_gpu(viewer, torch.from_numpy(first).cuda()[:3, ::2], first[:3, ::2], "CHW")


@pytest.mark.parametrize("dtype", DTYPES)
def test_cupy(viewer, dtype):
    host = sample((40, 52, 4), dtype)
    array = cupy.asarray(host)

    class Interface:
        """By __cuda_array_interface__ alone."""

        def __init__(self, array):
            self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__

    for of in (lambda x: x, lambda x: x[::-1], lambda x: x[::-2, ::-3], lambda x: x[:, :, 2::-1], lambda x: x[:, :, 1],
               lambda x: x.transpose(1, 0, 2), lambda x: x[3:30, 7:40]):
        check_gpu(viewer, of(array), of(host))
        check_gpu(viewer, Interface(of(array)), of(host))


def test_jax(viewer):
    jax = library("jax")
    host = sample((40, 52, 3), "f4")
    check(viewer, jax.numpy.asarray(host), tolerance=1, host=host)


@pytest.mark.parametrize("name", ["rgba16f", "rgba32f", "r8", "r32f"])
def test_formats(name):
    with pixelferry.Viewer(64, 48, headless=True, display="gl", format=name) as viewer:
        for dtype in DTYPES:
            host = sample((33, 47) if name.startswith("r8") or name == "r32f" else (33, 47, 3), dtype)
            check(viewer, torch.from_numpy(host).cuda(), tolerance=1, host=host)


@pytest.mark.parametrize("mode", ["latency", "throughput"])
def test_every_path(mode):
    with pixelferry.Viewer(64, 48, headless=True, display="gl") as viewer:
        viewer.show(torch.zeros(48, 64, 4, dtype=torch.uint8, device="cuda"))
        print(viewer.explain())
        paths = [p["id"] for p in viewer.report["paths"] if p["state"] not in ("not-offered", "open-failed", "rejected")]
    assert len(paths) > 5, paths
    for path in paths:
        with pixelferry.Viewer(64, 48, headless=True, display="gl", path=path, mode=mode) as viewer:
            for seed in range(20):
                host = sample((48, 64, 3), "f4", seed)
                viewer.show(torch.from_numpy(host).cuda())
            check_gpu(viewer, torch.from_numpy(host).cuda(), host)
            assert viewer.path == path
            flat = sample((33, 17, 4), "u1")
            check_gpu(viewer, cupy.asarray(flat)[::-1], flat[::-1])


def test_the_producers_stream_is_waited_for_and_waits(viewer):
    tensor = torch.zeros(48, 64, 4, dtype=torch.uint8, device="cuda")
    viewer.show(tensor)
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream(priority=-1)):
        for n in range(1, 6):
            with torch.cuda.stream(stream):
                # Some 50 ms before the pixels come.
                torch.cuda._sleep(90_000_000)
                tensor.fill_(n)
                viewer.show(tensor)
                tensor.fill_(200)
            picture = shown(viewer)
            assert (picture == n).all(), np.unique(picture)
    array = cupy.zeros((48, 64, 4), "u1")
    kernel = cupy.RawKernel('extern "C" __global__ void spin(long long n) { long long t = clock64(); while (clock64() - t < n); }', "spin")
    for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(), cupy.cuda.Stream.ptds):
        for by_interface in (False, True):
            with stream:
                kernel((1,), (1,), (np.int64(90_000_000),))
                array.fill(7)

                class Interface:
                    __cuda_array_interface__ = array.__cuda_array_interface__

                viewer.show(Interface() if by_interface else array)
                array.fill(200)
            assert (shown(viewer) == 7).all()
            stream.synchronize()


def test_memory_may_be_freed_at_once(viewer):
    for n in range(100):
        host = np.full((480, 640, 3), n, "u1")
        viewer.show(torch.from_numpy(host).cuda())
        torch.cuda.empty_cache()
        assert (shown(viewer) == reference(host)).all()


def test_ten_thousand_shows_leave_nothing(viewer):
    tensor = torch.rand(48, 64, 3, device="cuda")
    array = cupy.asarray(sample((48, 64, 4), "u1"))

    def show(count):
        for _ in range(count):
            viewer.show(tensor)
            viewer.show(array)

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    show(500)
    before, files = (resident(), torch.cuda.mem_get_info()[0]), len(os.listdir("/proc/self/fd"))
    show(5000)
    assert len(os.listdir("/proc/self/fd")) == files
    grown, less = resident() - before[0], before[1] - torch.cuda.mem_get_info()[0]
    assert grown < 8 << 20 and less < 8 << 20, (grown, less)


def test_tensors_of_all_devices_take_turns(viewer):
    """PyTorch hands over memory of the current device only. A tensor's device is current for the call, and the one before afterwards."""
    devices = range(torch.cuda.device_count())
    for current in devices:
        with torch.cuda.device(current):
            for dtype in DTYPES:
                host = sample((48, 64, 4), dtype)
                for device in devices:
                    check_gpu(viewer, torch.from_numpy(host).cuda(device), host)
                    assert torch.cuda.current_device() == current
    viewer.show(torch.full((48, 64, 4), 0.5, dtype=torch.bfloat16, device=f"cuda:{devices[-1]}"))
    assert set(np.unique(shown(viewer))) == {128}


def test_host_and_device_arrays_take_turns(viewer):
    host = sample((48, 64, 4), "u1")
    for n in range(4):
        check_gpu(viewer, torch.from_numpy(host + n).cuda(), host + n)
        check(viewer, host[::-1])
        assert viewer.report["compute"]["api"] != "cuda"
        check(viewer, torch.from_numpy(host + n), host=host + n)
        check(viewer, torch.from_numpy(host).pin_memory(), host=host)
    with pixelferry.Viewer(64, 48, headless=True, display="gl", backend="cuda") as cuda:
        for dtype in DTYPES:
            array = sample((48, 64, 3), dtype)
            check(cuda, array[::-1])
            check_gpu(cuda, torch.from_numpy(array).cuda(), array)


@pytest.mark.parametrize("make,error,text", [
    (lambda: torch.zeros(4, 4, device="cuda", requires_grad=True), pixelferry.DtypeError, "detach"),
    (lambda: torch.zeros(4, 4, device="cuda").to_sparse(), pixelferry.DtypeError, "layout"),
    (lambda: torch.zeros(4, 0, device="cuda"), pixelferry.ShapeError, "empty"),
    (lambda: torch.zeros(4, 4, device="meta"), pixelferry.Error, "."),
])
def test_refusals(viewer, make, error, text):
    with pytest.raises(error, match=text):
        viewer.show(make())
    check_gpu(viewer, cupy.asarray(sample((4, 4), "u1")), sample((4, 4), "u1"))


NUMBERS = np.random.default_rng(3).normal(size=(48, 64, 2)) * 100


@pytest.mark.parametrize("make", [
    lambda: torch.from_numpy(NUMBERS[..., 0]),
    lambda: torch.from_numpy(NUMBERS[..., 0]).bfloat16(),
    lambda: torch.from_numpy(NUMBERS[..., 0]) > 0,
    lambda: torch.from_numpy(NUMBERS[..., 0]).to(torch.int8),
    lambda: torch.from_numpy(NUMBERS[..., 0]).to(torch.int16),
    lambda: torch.from_numpy(NUMBERS[..., 0]).to(torch.int32),
    lambda: torch.from_numpy(NUMBERS[..., 0]).to(torch.int64),
    lambda: torch.fft.fft2(torch.from_numpy(NUMBERS[..., 0])),
    lambda: torch.view_as_complex(torch.from_numpy(NUMBERS).float()),
    lambda: torch.from_numpy(NUMBERS[..., 0]).expand(6, 3, 48, 64).bfloat16(),
], ids=["float64", "bfloat16", "bool", "int8", "int16", "int32", "int64", "fft", "complex64", "batch"])
def test_what_is_measured_is_measured_on_the_device(viewer, make):
    tensor = make()
    pictures = []
    for array, is_there in ((tensor.cuda(), True), (tensor, False)):
        viewer.show(array)
        assert (viewer.report["compute"]["api"] == "cuda") == is_there
        pictures.append(shown(viewer).astype("i4"))
    there, here = pictures
    assert np.abs(there - here).max() <= 1
    assert np.unique(here).size > 1, "one grey"


def test_memory_that_is_not_there_is_refused(viewer):
    array = cupy.zeros((512, 512, 4), "u1")
    viewer.show(array)
    memory = cupy.cuda.runtime.malloc(1 << 20)

    def interface(address, shape, **more):
        made = {"shape": shape, "typestr": "|u1", "data": (address, False), "version": 3, **more}
        return type("Array", (), {"__cuda_array_interface__": made})()

    viewer.show(interface(memory, (512, 512, 4)))
    far = interface(memory, (512, 512, 4), strides=(1 << 36, 4, 1))
    cupy.cuda.runtime.free(memory)
    for gone in (interface(memory, (512, 512, 4)), far, interface(4096, (4, 4)), interface(2**63, (4, 4))):
        with pytest.raises(pixelferry.DeviceError):
            viewer.show(gone)
    with pytest.raises(pixelferry.DtypeError, match="stream 0"):
        viewer.show(interface(array.data.ptr, (4, 4), stream=0))
    viewer.show(interface(array.data.ptr, (4, 4), stream=None))
    viewer.show(interface(array.data.ptr, (4, 4), version=2))
    check_gpu(viewer, array, np.zeros((512, 512, 4), "u1"))


def test_backends_that_cannot_read_it(viewer):
    tensor = torch.zeros(4, 4, device="cuda")
    for backend in ("cpu", "opencl"):
        with pixelferry.Viewer(8, 8, headless=True, backend=backend) as other:
            with pytest.raises(pixelferry.DeviceError, match="CUDA device 0.*backend"):
                other.show(tensor)
    with pytest.raises(pixelferry.DeviceError, match="no CUDA device 9"):
        pixelferry.Viewer(8, 8, headless=True, backend="cuda:9")
