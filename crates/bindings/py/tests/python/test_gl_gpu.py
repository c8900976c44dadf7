"""Tensors on an NVIDIA GPU in the program's own OpenGL context there, and back: PIXELFERRY_GPU=1 says that there is one."""

import os

import numpy as np
import pytest

import pixelferry
import pixelferry.gl
import test_gl
import test_gl_buffer
import test_gl_source
import test_gl_target
import test_pixels
from conftest import library, missing, reference, sample
from programs import context

if os.environ.get("PIXELFERRY_GPU") != "1":
    missing("nvidia", "it is tested where PIXELFERRY_GPU=1 is set")

torch = library("torch")
cupy = library("cupy")


@pytest.fixture
def here(context):
    if "NVIDIA" not in context.info["GL_VENDOR"]:
        missing("nvidia-gl", f"moderngl's context is {context.info['GL_VENDOR']}'s")
    return context


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("dtype", ["u1", "f4"])
def test_textures(here, dtype, stable):
    host = sample((48, 64, 3), dtype)
    with pixelferry.gl.Texture(torch.from_numpy(host).cuda(), stable=stable) as texture:
        name = texture.name
        for seed in range(8):
            host = sample((48, 64, 3), dtype, seed)
            texture.update(torch.from_numpy(host).cuda())
            worst = np.abs(test_gl.read(here, texture).astype("i4") - reference(host)).max()
            assert worst <= (0 if dtype == "u1" else 1), texture.explain()
            assert texture.name == name or not stable, texture.explain()
        assert texture.report["compute"]["api"] == "cuda"


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("dtype", ["i1", "u2", "f4", "f8", "c16"])
def test_buffers(here, dtype, stable):
    host = np.frombuffer(np.random.default_rng(0).bytes(4000 * np.dtype(dtype).itemsize), dtype).reshape(1000, 4)
    array = cupy.asarray(host)
    with pixelferry.gl.Buffer(array, stable=stable) as buffer:
        for view, of in test_gl_buffer.VIEWS.items():
            if view == "repeated":
                continue
            buffer.update(of(array))
            assert test_gl_buffer.read(buffer) == of(host).tobytes(), (view, buffer.explain())
        tensor = torch.arange(3001, dtype=torch.float32, device="cuda")
        for shift in range(6):
            tensor += 1
            buffer.update(tensor[shift:])
            assert test_gl_buffer.read(buffer) == tensor[shift:].cpu().numpy().tobytes()
        assert buffer.report["compute"]["api"] == "cuda"


def seen(array, host):
    """Every library's view of an array on the GPU, compared with what it must hold."""
    assert array.device == "cuda:0" and array.__dlpack_device__() == (2, 0)
    assert array.shape == host.shape and np.dtype(array.dtype) == host.dtype
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        aside = torch.from_dlpack(array).clone()
    side.synchronize()
    for taken in [torch.from_dlpack(array), torch.as_tensor(array, device="cuda"), aside]:
        assert taken.is_cuda and taken.cpu().numpy().tobytes() == host.tobytes()
    for taken in [cupy.from_dlpack(array), cupy.asarray(array)]:
        assert cupy.asnumpy(taken).tobytes() == host.tobytes()
    address = array.__cuda_array_interface__["data"][0]
    assert torch.from_dlpack(array).data_ptr() == cupy.from_dlpack(array).data.ptr == address
    assert not hasattr(array, "__array_interface__")
    with pytest.raises(BufferError):
        memoryview(array)
    with pytest.raises(pixelferry.DeviceError, match="from_dlpack"):
        np.asarray(array)
    for stream in [0, -2]:
        with pytest.raises(pixelferry.ShapeError, match="stream"):
            array.__dlpack__(stream=stream)
    for stream in [None, -1, 1, 2, side.cuda_stream]:
        array.__dlpack__(stream=stream, max_version=(1, 0))
    with pytest.raises(BufferError):
        array.__dlpack__(dl_device=(1, 0), copy=False)
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert np.from_dlpack(array, device="cpu").tobytes() == host.tobytes()
    array.__dlpack__(copy=True, stream=1)


# In any context, so also where another device draws.
@pytest.mark.parametrize("order", ["top-down", "bottom-up"])
@pytest.mark.parametrize("components, dtype, format, numbers", test_gl_source.FORMATS)
@pytest.mark.parametrize("shape", [(48, 64), (37, 3), (257, 1001)], ids=str)
def test_sources(context, shape, components, dtype, format, numbers, order):
    texture, rows = test_gl_source.filled(context, shape, 0, components, dtype, numbers)
    kept = []
    with pixelferry.gl.Source(texture, format=format, rows=order, device="cuda") as source:
        for seed in range(6):
            rows = sample(rows.shape, numbers, seed)
            texture.write(rows.tobytes(), alignment=1)
            array = source.read()
            kept.append((array, rows[::-1] if order == "top-down" else rows))
        if "NVIDIA" in context.info["GL_VENDOR"]:
            assert source.path not in ["host-round-trip", "pbo-persistent"], source.explain()
    for array, host in kept:
        seen(array, host)


def test_buffer_sources(context):
    data = sample((100_003,), "u1")
    buffer = context.buffer(data.tobytes())
    with pixelferry.gl.Source(buffer, device="cuda:0") as source:
        first = source.read()
        buffer.write(data[::-1].tobytes())
        seen(source.read(), data[::-1])
        seen(first, data)


@pytest.mark.parametrize("components, dtype, format, numbers", test_gl_source.FORMATS)
def test_what_is_shown_comes_back(context, components, dtype, format, numbers):
    for flip in [False, True]:
        for seed, size in enumerate([(48, 64), (48, 64), (20, 31)]):
            host = sample((*size, components) if components > 1 else size, numbers, seed)
            tensor = torch.from_numpy(host).cuda()
            with pixelferry.gl.Texture(tensor, format=format, flip=flip) as texture:
                seen(texture.read("cuda"), host)
                texture.update(tensor.flip(0))
                seen(texture.read("cuda"), host[::-1])
                assert (np.asarray(texture.read()) == host[::-1]).all()


@pytest.mark.parametrize("display", ["gl", "compute", "memory"])
@pytest.mark.parametrize("components, dtype, format, numbers", test_gl_source.FORMATS)
def test_viewers_are_captured(display, components, dtype, format, numbers):
    with pixelferry.Viewer(64, 48, headless=True, display=display, format=format) as viewer:
        for seed in range(4):
            host = sample((33, 50, components) if components > 1 else (33, 50), numbers, seed)
            tensor = torch.from_numpy(host).cuda()
            viewer.show(tensor)
            array = viewer.capture("cuda")
            viewer.show(tensor.flip(0))
            seen(array, host)
            viewer.show(array)
            seen(viewer.capture("cuda"), host)


def test_reads_leave_nothing_on_the_gpu(context):
    texture, rows = test_gl_source.filled(context, (1024, 1024))
    with pixelferry.gl.Source(texture, device="cuda") as source:
        def reads(count):
            for _ in range(count):
                assert torch.from_dlpack(source.read())[0, 0, 0] == int(rows[0, 0, 0])
            torch.cuda.synchronize()
            return torch.cuda.mem_get_info()[0]

        before = reads(20)
        # All of them would be 800 MB.
        assert before - reads(200) < 64 << 20


def test_arrays_of_the_gpu_outlive_their_context():
    kept = []
    for seed in range(4):
        own = test_gl_source.open_context()
        texture, rows = test_gl_source.filled(own, (50, 60), seed)
        with pixelferry.gl.Source(texture, device="cuda") as source:
            kept.append((source.read(), torch.from_dlpack(source.read()), rows))
        own.release()
    for array, tensor, host in kept:
        seen(array, host)
        assert tensor.cpu().numpy().tobytes() == host.tobytes()


@pytest.mark.parametrize("rows", ["bottom-up", "top-down"])
def test_the_programs_own_texture(here, rows):
    texture, _ = test_gl_source.filled(here, (48, 64))
    with pixelferry.gl.Target(texture, rows=rows) as target:
        for seed in range(8):
            host = sample((48, 64, 4), "u1", seed)
            # Of the GPU and of the host in turns.
            target.write(host if seed == 5 else torch.from_numpy(host).cuda())
            assert (test_gl_target.held(texture) == (host[::-1] if rows == "top-down" else host)).all(), target.explain()


def test_the_programs_own_buffer(here):
    host = sample((1000, 3), "f4")
    buffer = here.buffer(bytes(host.nbytes))
    with pixelferry.gl.Target(buffer, host.nbytes) as target:
        for given in [host, host[::-1].copy()]:
            target.write(torch.from_numpy(given).cuda())
            assert buffer.read() == given.tobytes(), target.explain()


@pytest.mark.parametrize("name", test_pixels.FORMATS)
def test_every_format_holds_what_it_says(here, name):
    channels = test_pixels.FORMATS[name]
    for dtype in ["u1", "u2", "f2", "f4"]:
        host = sample((20, 30, channels), dtype)
        with pixelferry.gl.Texture(cupy.asarray(host), format=name) as texture:
            found, expected = np.asarray(texture.read()), test_pixels.stored(name, host)
        expected = expected.reshape(found.shape)
        assert found.dtype == expected.dtype
        if name == "rgb10a2":
            found, expected = ([words >> shift & 1023 for shift in (0, 10, 20)] for words in (found, expected))
        # The compiler may contract a product and a sum, which moves the borders between levels by a rounding.
        worst = np.abs(np.asarray(found).astype("f8") - np.asarray(expected).astype("f8")).max()
        assert worst <= (0 if dtype == "u1" or name.endswith("f") else 1), dtype
