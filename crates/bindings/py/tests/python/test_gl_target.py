"""Arrays written into textures and buffers of moderngl's."""

import threading

import numpy as np
import pytest

import pixelferry
import pixelferry.gl
from conftest import missing, reference, sample
from patience import by_level, pairs
from programs import context, current, gl, moderngl, on_a_thread, open_context, state, two
from test_gl_source import FORMATS, filled

SHAPES = [(48, 64), (37, 3), (1, 1), (33, 61), (1, 70), (70, 1)]


def held(texture, numbers="u1"):
    """What moderngl reads of its own texture, from the bottom row up."""
    width, height = texture.size
    rows = np.frombuffer(texture.read(alignment=1), numbers)
    return rows.reshape((height, width, texture.components) if texture.components > 1 else (height, width))


@pytest.mark.parametrize("shape, of", pairs(SHAPES, FORMATS), ids=str)
def test_every_pixel_of_the_programs_texture(context, shape, of):
    components, dtype, format, numbers = of
    texture, before = filled(context, shape, 9, components, dtype, numbers)
    for rows in ["bottom-up", "top-down"]:
        with pixelferry.gl.Target(texture, format=format, rows=rows) as target:
            assert target.path is None and "nothing" in target.explain() and "nothing" in repr(target)
            # Nothing is written before the first array.
            assert held(texture, numbers).tobytes() == before.tobytes()
            for seed in range(3):
                array = sample(before.shape, numbers, seed)
                target.write(array)
                expected = array[::-1] if rows == "top-down" else array
                assert held(texture, numbers).tobytes() == expected.tobytes(), target.explain()
                before = expected
            assert target.name == texture.glo and target.size == (shape[1], shape[0]) and target.format == format
            assert target.path in target.explain() and target.path in repr(target)
    assert texture.glo and gl("glIsTexture", texture.glo) and context.error == "GL_NO_ERROR"


@pytest.mark.parametrize("backend", [None, "cpu", "gl", "opencl"])
def test_kinds_layouts_and_backends(context, backend):
    texture, _ = filled(context, (20, 31))
    with pixelferry.gl.Target(texture, backend=backend) as target:
        for n, dtype in enumerate(["u1", "u2", "f2", "f4"]):
            for array, layout in [(sample((20, 31), dtype, n), "HWC"), (sample((20, 31, 3), dtype, n)[::-1], "HWC"),
                                  (sample((4, 20, 31), dtype, n), "CHW")]:
                try:
                    target.write(array, layout)
                except pixelferry.DeviceError as why:
                    missing({"opencl": "opencl"}.get(backend, "egl"), why)
                assert (held(texture) == reference(array, layout)).all(), target.explain()


def test_a_draw_of_the_program_sees_it(context):
    texture, _ = filled(context, (6, 8))
    shown = context.framebuffer([context.texture((8, 6), 4)])
    program = context.program(
        vertex_shader="#version 330\nvoid main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0, 1); }",
        fragment_shader="#version 330\nuniform sampler2D t; out vec4 c;\n"
                        "void main() { c = texelFetch(t, ivec2(gl_FragCoord.xy), 0); }")
    draw = context.vertex_array(program, [])
    shown.use()
    with pixelferry.gl.Target(texture) as target:
        for seed in range(4):
            array = sample((6, 8, 4), "u1", seed)
            target.write(array)
            texture.use(0)
            draw.render(vertices=3)
            assert (np.frombuffer(shown.read(components=4), "u1").reshape(6, 8, 4) == array).all()
            # What the program writes itself is there until the next array.
            texture.write(array[::-1].tobytes())
            assert (held(texture) == array[::-1]).all()


@pytest.mark.parametrize("shape, dtype", [((3,), "u1"), ((100, 3), "f4"), ((4096,), "f8"), ((7, 5, 2), "i2")], ids=str)
def test_buffers(context, shape, dtype):
    array = np.arange(np.prod(shape)).astype(dtype).reshape(shape)
    buffer = context.buffer(bytes(array.nbytes + 8))
    with pixelferry.gl.Target(buffer.glo, array.nbytes) as target:
        for given in [array, array[::-1]]:
            target.write(given)
            assert buffer.read() == given.tobytes() + bytes(8), target.explain()
        assert target.size == array.nbytes and target.format is None
        for wrong in [array[1:], np.zeros(array.nbytes + 8, "u1")]:
            with pytest.raises(pixelferry.ShapeError, match=f"{array.nbytes} bytes of the buffer"):
                target.write(wrong)
        assert buffer.read() == array[::-1].tobytes() + bytes(8)
    assert gl("glIsBuffer", buffer.glo) and context.error == "GL_NO_ERROR"


def test_paths(context):
    texture, before = filled(context, (20, 31))
    array = sample((20, 31, 4), "u1", 1)
    with pixelferry.gl.Target(texture, path="host-round-trip") as target:
        target.write(array)
        assert target.path == "host-round-trip" and (held(texture) == array).all()
    with pixelferry.gl.Target(texture, path="direct") as target:
        with pytest.raises(pixelferry.DeviceError):
            target.write(before)
    assert (held(texture) == array).all()


def test_the_programs_state_stays(context):
    mine = [filled(context, (4, 4))[0], context.texture((2, 2), 4)]
    shown = context.framebuffer([context.texture((16, 16), 4)])
    shown.use()
    shown.viewport, shown.scissor, shown.color_mask = (1, 2, 3, 4), (0, 1, 2, 3), (True, False, True, False)
    context.enable(moderngl.BLEND | moderngl.DEPTH_TEST | moderngl.CULL_FACE)
    gl("glPixelStorei", 0x0CF5, 2)
    gl("glPixelStorei", 0x0CF2, 11)
    gl("glBindBuffer", 0x88EC, context.buffer(reserve=64).glo)
    mine[1].use(location=0)
    before = state()
    with pixelferry.gl.Target(mine[0]) as target:
        for seed in range(3):
            target.write(sample((4, 4, 4), "u1", seed))
            assert state() == before
    assert state() == before and context.error == "GL_NO_ERROR"


def test_what_is_refused(context):
    texture, rows = filled(context, (4, 6))
    buffer = context.buffer(bytes(100))
    for given, size, options in [
            (texture, (4, 6), {}), (texture, (6, 4), {"format": "r8"}), (texture, (6, 4), {"format": "rgb"}),
            (texture, None, {"rows": "sideways"}), (texture, None, {"path": ""}), (texture, None, {"backend": "rocm"}),
            (4000, (6, 4), {}), (0, (6, 4), {}), (texture.glo, None, {}), (buffer, 101, {}), (buffer, 0, {}), (4000, 10, {})]:
        with pytest.raises(pixelferry.ShapeError):
            pixelferry.gl.Target(given, size, **options)
    for given in ["text", None, [1], -1, 2**40]:
        with pytest.raises(pixelferry.DtypeError, match="not a texture or buffer"):
            pixelferry.gl.Target(given, (4, 4))
    with pixelferry.gl.Target(texture) as target:
        with pytest.raises(pixelferry.ShapeError, match="4x6 pixels, but the texture has 6x4"):
            target.write(np.zeros((6, 4, 4), "u1"))
        for wrong, error in [(np.zeros((4, 6, 5), "u1"), pixelferry.ShapeError), (np.zeros((4, 6), "i8"), pixelferry.DtypeError),
                             (None, pixelferry.DtypeError)]:
            with pytest.raises(error):
                target.write(wrong)
        with pytest.raises(pixelferry.ShapeError, match="layout"):
            target.write(rows, "WHX")
        assert (held(texture) == rows).all()
        target.write(rows[::-1])
        assert (held(texture) == rows[::-1]).all()
    assert context.error == "GL_NO_ERROR"


def test_a_texture_that_goes_or_changes(context):
    texture, rows = filled(context, (5, 6))
    target = pixelferry.gl.Target(texture)
    target.write(rows)
    # The program gives it other storage under the same name.
    texture.use(location=0)
    image = [0x0DE1, 0, 0x8058, 9, 9, 0, 0x1908, 0x1401, None]
    gl("glTexImage2D", *image)
    for _ in range(3):
        with pytest.raises(pixelferry.ShapeError, match="9x9"):
            target.write(rows)
    image[3:5] = 6, 5
    gl("glTexImage2D", *image)
    target.write(rows[::-1])
    assert (held(texture) == rows[::-1]).all()
    texture.release()
    for _ in range(3):
        with pytest.raises(pixelferry.ShapeError, match="no texture"):
            target.write(rows)
    target.close()
    assert context.error == "GL_NO_ERROR"


def test_a_closed_target(context):
    texture, rows = filled(context, (5, 6))
    target = pixelferry.gl.Target(texture)
    target.write(rows)
    target.close()
    target.close()
    for call in [lambda: target.write(rows), target.explain, lambda: target.path]:
        with pytest.raises(pixelferry.ClosedError, match="closed"):
            call()
    assert "closed" in repr(target) and target.name == texture.glo and gl("glIsTexture", texture.glo)


def test_threads_and_contexts(two):
    first, second = two
    with current(first, second):
        texture, rows = filled(first, (5, 6))
        target = pixelferry.gl.Target(texture)
        target.write(rows)
    with pytest.raises(pixelferry.ContextError, match="another"):
        target.write(rows)
    (error,) = on_a_thread(lambda: target.write(rows))
    assert type(error) is pixelferry.ContextError and "another thread" in str(error)
    with current(first, second):
        target.write(rows[::-1])
        assert (held(texture) == rows[::-1]).all()
    thread = threading.Thread(target=target.close)
    thread.start()
    thread.join()
    with current(first, second), pytest.raises(pixelferry.ClosedError):
        target.write(rows)


def test_a_context_that_is_destroyed_early(context):
    for _ in range(by_level(2, 6)):
        early = open_context()
        texture, rows = filled(early, (5, 6))
        target = pixelferry.gl.Target(texture)
        target.write(rows)
        context.__enter__()
        early.release()
        later = open_context()
        with pytest.raises(pixelferry.ContextError):
            target.write(rows)
        del target
        assert later.error == "GL_NO_ERROR"
        context.__enter__()
        later.release()


def test_many_arrays_leave_no_names(context):
    def names():
        return {kind: sum(gl(kind, name) for name in range(1, 2000)) for kind in ["glIsTexture", "glIsBuffer", "glIsFramebuffer"]}

    texture, rows = filled(context, (16, 16))
    before = names()
    for _ in range(by_level(4, 20)):
        with pixelferry.gl.Target(texture) as target:
            for _ in range(10):
                target.write(rows)
    assert names() == before
