"""Tensors on an NVIDIA GPU in the program's own OpenGL context there: PIXELFERRY_GPU=1 says that there is one."""

import os

import numpy as np
import pytest

import pixelferry
import pixelferry.gl
import test_gl
import test_gl_buffer
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
