"""Textures and buffers of moderngl's as arrays."""

import gc
import threading

import numpy as np
import pytest

import pixelferry
import pixelferry.gl
from conftest import sample
from patience import by_level, pairs
from programs import context, current, gl, moderngl, on_a_thread, open_context, state, two
from test_gl import script
from test_lifetime import descriptors, resident

# moderngl's components and type, pixelferry's name, NumPy's type.
FORMATS = [(4, "f1", "rgba8", "u1"), (1, "f1", "r8", "u1"), (4, "f2", "rgba16f", "f2"), (4, "f4", "rgba32f", "f4"),
           (1, "f4", "r32f", "f4")]


def filled(context, shape, seed=0, components=4, dtype="f1", numbers="u1"):
    """A texture of the program's, and its rows from the bottom up."""
    height, width = shape
    rows = sample((height, width, components) if components > 1 else shape, numbers, seed)
    return context.texture((width, height), components, rows.tobytes(), alignment=1, dtype=dtype), rows


@pytest.mark.parametrize("shape, of", pairs([(48, 64), (37, 3), (1, 1), (33, 61), (1, 70), (70, 1)], FORMATS), ids=str)
def test_every_pixel_has_its_place(context, shape, of):
    components, dtype, format, numbers = of
    texture, rows = filled(context, shape, 0, components, dtype, numbers)
    for order in ["top-down", "bottom-up"]:
        with pixelferry.gl.Source(texture, format=format, rows=order) as source:
            for seed in range(3):
                rows = sample(rows.shape, numbers, seed)
                texture.write(rows.tobytes(), alignment=1)
                array = source.read()
                taken = np.from_dlpack(array)
                assert taken.dtype == numbers and array.shape == rows.shape and array.device == "cpu"
                expected = rows[::-1] if order == "top-down" else rows
                assert taken.tobytes() == expected.tobytes(), source.explain()
            assert source.size == (shape[1], shape[0]) and source.name == texture.glo and source.format == format
            assert source.device == "cpu" and source.path in source.explain() and source.path in repr(source)
    assert context.error == "GL_NO_ERROR"


def works(context, path):
    """Whether the machine has that path."""
    try:
        return pixelferry.gl.Source(filled(context, (9, 5))[0], path=path)
    except pixelferry.DeviceError:
        return None


def test_every_path_gives_the_same(context):
    texture, rows = filled(context, (20, 31))
    found = {path for path in ["host-visible-upload", "pinned-upload", "pbo-persistent", "host-round-trip"] if works(context, path)}
    assert "host-round-trip" in found
    for path in found:
        with pixelferry.gl.Source(texture, path=path) as source:
            assert source.path == path and (np.asarray(source.read()) == rows).all()


def test_what_the_program_renders_keeps_its_rows(context):
    target = context.framebuffer([context.texture((8, 6), 4)])
    with pixelferry.gl.Source(target.color_attachments[0]) as source:
        kept = []
        for row in range(6):
            target.clear(0, 0, 0, 1)
            # moderngl counts rows from the bottom.
            target.clear(1, 0, 0, 1, viewport=(0, row, 8, 1))
            kept.append(source.read())
        for row, array in enumerate(kept):
            red = np.asarray(array)[:, :, 0]
            assert (red[row] == 255).all() and red.sum() == 8 * 255


@pytest.mark.parametrize("length", [1, 3, 4096, 100_003])
def test_buffers(context, length):
    data = sample((length + 8,), "u1")
    buffer = context.buffer(data.tobytes())
    with pixelferry.gl.Source(buffer) as whole, pixelferry.gl.Source(buffer.glo, length) as part:
        assert (np.asarray(whole.read()) == data).all() and (np.asarray(part.read()) == data[:length]).all()
        assert part.size == length and part.format is None and part.read().shape == (length,)
        first = part.read()
        buffer.write(data[::-1].tobytes())
        assert (np.asarray(part.read()) == data[::-1][:length]).all()
        assert (np.asarray(first) == data[:length]).all()


def test_our_own_textures_and_buffers(context):
    given = sample((12, 9, 4), "u1")
    for flip in [False, True]:
        with pixelferry.gl.Texture(given, flip=flip) as texture:
            array = texture.read()
            assert (np.asarray(array) == given).all()
            with pixelferry.gl.Source(texture) as source:
                # Rows as the texture has them.
                assert (np.asarray(source.read()) == (given[::-1] if flip else given)).all()
            texture.update(given[::-1])
            assert (np.asarray(texture.read()) == given[::-1]).all() and (np.asarray(array) == given).all()
            with pytest.raises(pixelferry.ShapeError):
                texture.read(device="gpu")
        with pytest.raises(pixelferry.ClosedError):
            texture.read()
    for format, dtype in [("rgba16f", "f2"), ("rgba32f", "f4")]:
        floats = sample((5, 6, 4), dtype)
        for stable in [True, False]:
            with pixelferry.gl.Texture(floats, format=format, stable=stable) as texture:
                assert np.asarray(texture.read()).tobytes() == floats.tobytes()
    numbers = sample((100, 3), "f4")
    for stable in [True, False]:
        with pixelferry.gl.Buffer(numbers, stable=stable) as buffer:
            assert bytes(buffer.read()) == numbers.tobytes()
            if stable:
                with pixelferry.gl.Source(buffer) as source:
                    assert bytes(source.read()) == numbers.tobytes()


def test_an_array_goes_back_into_a_texture(context):
    texture, rows = filled(context, (30, 40))
    with pixelferry.gl.Source(texture) as source, pixelferry.gl.Texture((30, 40, 4)) as other:
        other.update(source.read())
        assert (np.asarray(other.read()) == rows).all()


def test_by_default_neither_end_turns_rows_round(context):
    (texture, rows), (copy, _) = filled(context, (30, 40)), filled(context, (30, 40), 5)
    with pixelferry.gl.Source(texture) as source, pixelferry.gl.Target(copy) as target, pixelferry.gl.Source(copy) as again:
        for seed in range(3):
            rows = sample(rows.shape, "u1", seed)
            texture.write(rows.tobytes())
            target.write(source.read())
            assert copy.read() == rows.tobytes()
            assert (np.asarray(again.read()) == rows).all()


def test_the_programs_state_stays(context):
    mine = [filled(context, (4, 4))[0], context.texture((2, 2), 4)]
    target = context.framebuffer([context.texture((16, 16), 4)])
    target.use()
    target.viewport, target.scissor, target.color_mask = (1, 2, 3, 4), (0, 1, 2, 3), (True, False, True, False)
    context.enable(moderngl.BLEND | moderngl.DEPTH_TEST | moderngl.CULL_FACE)
    gl("glPixelStorei", 0x0CF5, 2)
    gl("glPixelStorei", 0x0D05, 2)
    gl("glBindBuffer", 0x88EB, context.buffer(reserve=64).glo)
    gl("glBindBuffer", 0x88EC, context.buffer(reserve=64).glo)
    mine[1].use(location=0)
    before = state()
    with pixelferry.gl.Source(mine[0]) as source:
        assert state() == before
        source.read()
        assert state() == before
    with pixelferry.gl.Texture((4, 4)) as texture:
        texture.read()
        assert state() == before
    assert state() == before and context.error == "GL_NO_ERROR"


def test_what_is_no_object_of_the_program(context):
    texture, _ = filled(context, (4, 6))
    buffer = context.buffer(bytes(100))
    for given, size, options in [
            (texture, (4, 6), {}), (texture, (0, 4), {}), (texture, (6, 4), {"format": "r8"}), (texture, (6, 4), {"format": "rgba32f"}),
            (texture, (6, 4), {"format": "rgb"}), (texture, None, {"rows": "sideways"}), (texture, None, {"device": "gpu"}),
            (texture, None, {"path": ""}), (4000, (6, 4), {}), (0, (6, 4), {}), (texture.glo, None, {}), (texture.glo, (1, 2, 3), {}),
            (texture.glo, "6x4", {}), (texture.glo, (-6, 4), {}), (4000, 10, {}), (buffer, 101, {}), (buffer, 0, {}), (buffer, -1, {}),
            (buffer, 2**70, {}), (texture, (2**31, 2**31), {})]:
        with pytest.raises(pixelferry.ShapeError):
            pixelferry.gl.Source(given, size, **options)
    cube = context.texture_cube((4, 4), 4)
    with pytest.raises(pixelferry.ShapeError):
        pixelferry.gl.Source(cube.glo, (4, 4))
    for given in ["text", None, object(), [1], -1, 2**40, 1.5]:
        with pytest.raises(pixelferry.DtypeError, match="not a texture or buffer"):
            pixelferry.gl.Source(given, (4, 4))
    with pytest.raises(pixelferry.DeviceError):
        pixelferry.gl.Source(texture, path="direct")
    with pytest.raises(pixelferry.DeviceError):
        pixelferry.gl.Source(texture, device="cuda:4000000")
    assert context.error == "GL_NO_ERROR"


def test_a_texture_that_goes_or_changes(context):
    texture, rows = filled(context, (5, 6))
    source = pixelferry.gl.Source(texture)
    array = source.read()
    # The program gives it other storage under the same name.
    texture.use(location=0)
    image = [0x0DE1, 0, 0x8058, 9, 9, 0, 0x1908, 0x1401, None]
    gl("glTexImage2D", *image)
    for _ in range(3):
        with pytest.raises(pixelferry.ShapeError, match="9x9"):
            source.read()
    # It has its size again.
    image[3:5] = 6, 5
    gl("glTexImage2D", *image)
    texture.write(rows.tobytes(), alignment=1)
    assert (np.asarray(source.read()) == rows).all()
    texture.release()
    for _ in range(3):
        with pytest.raises(pixelferry.ShapeError, match="no texture"):
            source.read()
    assert (np.asarray(array) == rows).all()
    source.close()
    assert context.error == "GL_NO_ERROR"


def test_a_closed_source(context):
    texture, rows = filled(context, (5, 6))
    source = pixelferry.gl.Source(texture)
    array = source.read()
    source.close()
    source.close()
    for call in [source.read, source.explain, lambda: source.path]:
        with pytest.raises(pixelferry.ClosedError, match="closed"):
            call()
    assert "closed" in repr(source) and source.name == texture.glo and source.format == "rgba8"
    assert (np.asarray(array) == rows).all()


def test_threads_and_contexts(two):
    first, second = two
    with current(first, second):
        texture, rows = filled(first, (5, 6))
        source = pixelferry.gl.Source(texture)
        array = source.read()
    with pytest.raises(pixelferry.ContextError, match="another"):
        source.read()
    (error,) = on_a_thread(source.read)
    assert type(error) is pixelferry.ContextError and "another thread" in str(error)
    (error,) = on_a_thread(lambda: pixelferry.gl.Source(texture))
    assert type(error) is pixelferry.ContextError
    with current(first, second):
        assert (np.asarray(source.read()) == rows).all()
    thread = threading.Thread(target=source.close)
    thread.start()
    thread.join()
    # The memory goes on another thread, too.
    box = [array]
    del array
    assert not on_a_thread(lambda: np.asarray(box[0])) and not on_a_thread(box.clear)
    with current(first, second), pytest.raises(pixelferry.ClosedError):
        source.read()


def test_arrays_outlive_their_context(context):
    kept = []
    for seed in range(by_level(2, 8)):
        early = open_context()
        texture, rows = filled(early, (50, 60), seed)
        source = pixelferry.gl.Source(texture)
        kept.append((np.from_dlpack(source.read()), source.read(), rows, source))
        context.__enter__()
        early.release()
        later = open_context()
        with pytest.raises(pixelferry.ContextError):
            source.read()
        if seed & 1:
            source.close()
        assert later.error == "GL_NO_ERROR"
        context.__enter__()
        later.release()
    gc.collect()
    for taken, array, rows, source in kept:
        assert (taken == rows).all() and (np.asarray(array) == rows).all()
        with pytest.raises((pixelferry.ContextError, pixelferry.ClosedError)):
            source.read()


def test_many_reads_leave_nothing(context):
    def names():
        return {kind: sum(gl(kind, name) for name in range(1, 2000)) for kind in ["glIsTexture", "glIsBuffer", "glIsFramebuffer"]}

    texture, rows = filled(context, (256, 256))
    before = names()
    with pixelferry.gl.Source(texture) as source:
        def reads(count):
            for _ in range(count):
                assert np.from_dlpack(source.read())[0, 0, 0] == rows[0, 0, 0]

        reads(by_level(30, 100))
        gc.collect()
        size, files = resident(), descriptors()
        reads(200)
        gc.collect()
        # All of them would be 50 MB.
        assert resident() - size < 10 << 20 and descriptors() == files
    for _ in range(by_level(4, 20)):
        pixelferry.gl.Source(texture).read()
    assert names() == before


def test_forks_and_the_end_of_the_program():
    assert "parent done" in script("""
import os
import moderngl, numpy as np, pixelferry, pixelferry.gl
context = moderngl.create_context(standalone=True, backend="egl")
texture = context.texture((4, 4), 4, bytes([7]) * 64)
source = pixelferry.gl.Source(texture)
array, taken = source.read(), np.from_dlpack(source.read())
child = os.fork()
if not child:
    try:
        source.read()
    except pixelferry.ClosedError:
        assert (np.asarray(array) == 7).all() and (taken == 7).all()
        source.close()
        del source, array, taken
        os._exit(7)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert (np.asarray(source.read()) == 7).all()
context.release()
print("parent done", taken.sum() // 448 == 1)
""")
