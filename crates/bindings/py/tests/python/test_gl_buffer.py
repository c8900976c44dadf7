"""Arrays as buffer objects of OpenGL contexts of moderngl's."""

import ctypes

import numpy as np
import pytest

import pixelferry
import pixelferry.gl
from conftest import missing, sample
from patience import pairs
from programs import context, gl, moderngl, on_a_thread, open_context, state

ARRAY_BUFFER, FLOAT = 0x8892, 0x1406


def read(buffer):
    """What the program sees in the buffer object."""
    found = ctypes.create_string_buffer(buffer.nbytes)
    before = ctypes.c_int()
    gl("glGetIntegerv", 0x8894, ctypes.byref(before))
    gl("glBindBuffer", ARRAY_BUFFER, buffer.name)
    gl("glGetBufferSubData", ARRAY_BUFFER, ctypes.c_ssize_t(buffer.offset), ctypes.c_ssize_t(buffer.nbytes), found)
    gl("glBindBuffer", ARRAY_BUFFER, before.value)
    return found.raw


VIEWS = {
    "tight": lambda a: a,
    "reversed": lambda a: a[::-1],
    "columns": lambda a: a[:, 1:3],
    "every other": lambda a: a[1::2, ::2],
    "transposed": lambda a: a.T,
    "repeated": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "one": lambda a: a[3, 2:3],
    "three axes": lambda a: a.reshape(20, 50, 4)[::-2, ::3, ::-1],
}


@pytest.mark.parametrize("dtype, backend", pairs(
    ["i1", "u2", "f4", "f8", "c16", ">f4", "?", [("at", "f4", 3), ("colour", "u1", 4)]], [None, "gl", "opencl"]), ids=str)
def test_every_byte_has_its_place(context, dtype, backend):
    array = np.frombuffer(np.random.default_rng(0).bytes(1000 * 4 * np.dtype(dtype).itemsize), dtype).reshape(1000, 4)
    if np.dtype(dtype) == np.dtype("?"):
        array = np.random.default_rng(0).random((1000, 4)) > 0.5
    try:
        buffer = pixelferry.gl.Buffer(array, backend=backend)
    except pixelferry.DeviceError as why:
        missing({"gl": "egl", "opencl": "opencl"}.get(backend, "egl"), why)
    with buffer:
        for name, view in VIEWS.items():
            given = view(array)
            buffer.update(given)
            assert buffer.nbytes == given.nbytes and buffer.offset == 0
            assert read(buffer) == given.tobytes(), (name, buffer.explain())
        before = buffer.name
        for seed in range(4):
            given = np.roll(given, seed, 0)
            buffer.update(given)
            assert read(buffer) == given.tobytes() and buffer.name == before
        assert buffer.path in buffer.explain() and buffer.report["display"]["api"] == "opengl"
        assert str(before) in repr(buffer)
    assert not gl("glIsBuffer", before)


def test_a_large_one_is_written_by_all_threads(context):
    array = sample((700, 1000, 3), "f4")
    with pixelferry.gl.Buffer(array) as buffer:
        assert read(buffer) == array.tobytes()
        buffer.update(array[::-1, 7:, ::2])
        assert read(buffer) == array[::-1, 7:, ::2].tobytes()


@pytest.mark.parametrize("options", [{"stable": False}, {"path": "host-visible-in-place"}, {"path": "pbo-orphan"}], ids=str)
def test_ways_that_may_change_the_name(context, options):
    array, seen = sample((100, 4), "f4"), set()
    with pixelferry.gl.Buffer(array, **options) as buffer:
        for seed in range(8):
            given = np.roll(array, seed, 0)
            buffer.update(given)
            seen.add((buffer.name, buffer.offset))
            assert read(buffer) == given.tobytes(), buffer.explain()
        assert buffer.path == options.get("path", buffer.path)
        assert (len(seen) > 1) == buffer.path.endswith("in-place"), buffer.explain()


def test_zeros_and_other_lengths(context):
    with pixelferry.gl.Buffer(1000) as buffer:
        assert buffer.nbytes == 1000 and read(buffer) == bytes(1000)
        for length in [1, 3, 5, 4096, 1_000_001]:
            given = sample((length,), "u1", length)
            buffer.update(given)
            assert buffer.nbytes == length and read(buffer) == given.tobytes()


def test_vertices_are_drawn(context):
    """The program's own vertex array reads our buffer; the picture is that of a buffer of moderngl's."""
    program = context.program(
        vertex_shader="#version 330\nin vec2 at; in vec3 colour; out vec3 c; void main() { c = colour; gl_Position = vec4(at, 0, 1); }",
        fragment_shader="#version 330\nin vec3 c; out vec4 o; void main() { o = vec4(c, 1); }")
    target = context.framebuffer([context.texture((64, 64), 4)])
    target.use()
    vertices = np.random.default_rng(3).random((30, 5), "f4") * 2 - 1

    def picture(array):
        context.clear()
        array.render(moderngl.TRIANGLES)
        return target.read(components=4)

    own = context.buffer(vertices.tobytes())
    array = context.vertex_array(program, [(own, "2f 3f", "at", "colour")])
    expected, black = picture(array), picture(context.vertex_array(program, [(context.buffer(bytes(600)), "2f 3f", "at", "colour")]))
    assert expected != black
    with pixelferry.gl.Buffer(600) as buffer:
        gl("glBindVertexArray", array.glo)
        gl("glBindBuffer", ARRAY_BUFFER, buffer.name)
        for name, count, start in [("at", 2, 0), ("colour", 3, 8)]:
            place = program[name].location
            gl("glVertexAttribPointer", place, count, FLOAT, 0, 20, ctypes.c_void_p(buffer.offset + start))
        assert picture(array) == black
        # The name stays, so the vertex array needs no second look.
        for given in [vertices, vertices[::-1], vertices]:
            buffer.update(given)
            assert picture(array) == picture(context.vertex_array(
                program, [(context.buffer(given.tobytes()), "2f 3f", "at", "colour")]))
        assert picture(array) == expected


def test_the_programs_state_stays(context):
    gl("glBindBuffer", 0x88EC, context.buffer(reserve=64).glo)
    gl("glBindBuffer", ARRAY_BUFFER, context.buffer(reserve=64).glo)
    before = state()
    with pixelferry.gl.Buffer(sample((40, 3), "f4")) as buffer:
        assert state() == before
        buffer.update(sample((50, 3), "f4"))
        assert state() == before
    assert state() == before and context.error == "GL_NO_ERROR"


def test_errors(context):
    array = sample((4, 4), "u1")
    for given, error in [("text", pixelferry.DtypeError), ([[1]], pixelferry.DtypeError), (0, pixelferry.ShapeError),
                         (-1, pixelferry.ShapeError), (np.zeros((0, 4)), pixelferry.ShapeError),
                         (np.zeros((4,) * 8)[(slice(None, None, 2),) * 8], pixelferry.ShapeError)]:
        with pytest.raises(error):
            pixelferry.gl.Buffer(given)
    for options in [{"path": ""}, {"backend": "rocm"}]:
        with pytest.raises(pixelferry.ShapeError):
            pixelferry.gl.Buffer(array, **options)
    buffer = pixelferry.gl.Buffer(array)
    with pytest.raises(pixelferry.Error):
        buffer.update(object())
    assert read(buffer) == array.tobytes()
    (error,) = on_a_thread(lambda: buffer.update(array))
    assert type(error) is pixelferry.ContextError and "another thread" in str(error)
    other = open_context()
    with pytest.raises(pixelferry.ContextError):
        buffer.update(array)
    other.release()
    context.__enter__()
    buffer.close()
    buffer.close()
    for call in [lambda: buffer.update(array), buffer.explain, lambda: buffer.name, lambda: buffer.report]:
        with pytest.raises(pixelferry.ClosedError, match="closed"):
            call()
    assert "closed" in repr(buffer)
