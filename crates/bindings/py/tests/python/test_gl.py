"""Arrays as textures of OpenGL contexts of moderngl's."""

import os
import sys
import threading

import numpy as np
import pytest

import pixelferry
import pixelferry.gl
from conftest import missing, reference, sample
from patience import by_level, pairs, run
from programs import context, current, gl, moderngl, on_a_thread, open_context, state, two


def read(context, texture, dtype="f1", components=4):
    """What the program sees under the texture's name, as moderngl reads it."""
    seen = context.external_texture(texture.name, texture.size, components, 0, dtype)
    width, height = texture.size
    return np.frombuffer(seen.read(alignment=1), "u1" if dtype == "f1" else dtype).reshape(height, width, components)


SHAPES = [(48, 64), (37, 3, 1), (48, 64, 3), (1, 1, 4), (33, 61, 4)]


@pytest.mark.parametrize("of, backend", pairs(pairs(SHAPES, ["u1", "u2", "f2", "f4"]), [None, "gl", "opencl"]), ids=str)
def test_every_pixel_has_its_place(context, of, backend):
    shape, dtype = of
    try:
        texture = pixelferry.gl.Texture(sample(shape, dtype), backend=backend)
    except pixelferry.DeviceError as why:
        missing({"gl": "egl", "opencl": "opencl"}.get(backend, "egl"), why)
    with texture:
        name = texture.name
        for seed in range(4):
            array = sample(shape, dtype, seed)[:: (-1) ** seed]
            texture.update(array)
            assert (read(context, texture) == reference(array)).all(), texture.explain()
        assert texture.name == name and texture.target == 0x0DE1 and texture.size == (shape[1], shape[0])
        assert texture.path in texture.explain() and texture.report["display"]["api"] == "opengl"
    assert not gl("glIsTexture", name)


def test_formats_and_layouts(context):
    array = sample((20, 30, 4), "f4")
    with pixelferry.gl.Texture(array, format="rgba32f") as texture:
        assert texture.format == "rgba32f" and (read(context, texture, "f4") == array).all()
        texture.update(array.transpose(2, 0, 1), "CHW")
        assert (read(context, texture, "f4") == array).all()
    with pixelferry.gl.Texture(array[:, :, 0], format="r32f") as texture:
        assert (read(context, texture, "f4", 1)[:, :, 0] == array[:, :, 0]).all()
        with pytest.raises(pixelferry.ShapeError, match="format r32f"):
            texture.update(array)
        assert (read(context, texture, "f4", 1)[:, :, 0] == array[:, :, 0]).all()


def test_draws_and_rows(context):
    array = sample((24, 32, 4), "u1")
    target = context.framebuffer([context.texture((64, 48), 4)])
    target.use()

    def drawn(*options, **more):
        context.clear()
        texture.draw(*options, **more)
        return np.frombuffer(target.read(components=4), "u1").reshape(48, 64, 4)

    for flip in [False, True]:
        with pixelferry.gl.Texture(array, flip=flip) as texture:
            rows = array[::-1] if flip else array
            assert (read(context, texture) == rows).all()
            assert (drawn(0, 0, 32, 24)[:24, :32] == rows).all()
            assert (drawn(8, 4, 32, 24)[4:28, 8:40] == rows).all()
            assert (drawn(0, 0, 64, 48, fit="stretch") == rows.repeat(2, 0).repeat(2, 1)).all()
            alone = drawn(0, 0, 64, 48, fit="none")
            assert (alone[12:36, 16:48] == rows).all() and not alone[:12].any()
            assert (drawn(0, 0, 64, 48, fit="none", background=(1, 0, 0))[:12] == [255, 0, 0, 255]).all()
            for wrong in [{"fit": "all"}, {"background": (2, 0, 0)}, {"width": 0}, {"width": -1}, {"height": 1_000_000}]:
                with pytest.raises(pixelferry.ShapeError):
                    texture.draw(**{"x": 0, "y": 0, "width": 4, "height": 4} | wrong)
    with pytest.raises(pixelferry.ClosedError):
        texture.draw(0, 0, 4, 4)


def test_a_shape_is_black_and_another_size_is_taken(context):
    with pixelferry.gl.Texture((5, 7)) as texture:
        assert texture.size == (7, 5) and (read(context, texture) == [0, 0, 0, 255]).all()
        array = sample((9, 4, 3), "u1")
        texture.update(array)
        assert texture.size == (4, 9) and (read(context, texture) == reference(array)).all()
    with pixelferry.gl.Texture((4, 5, 7), "CHW") as texture:
        assert texture.size == (7, 5) and not read(context, texture).any()
    for shape in [(), (4,), (4, 0), (4, 4, 5), (4, -4), (2**40, 2)]:
        with pytest.raises(pixelferry.ShapeError):
            pixelferry.gl.Texture(shape)


def test_the_programs_state_stays(context):
    mine = [context.texture((4, 4), 4), context.texture((2, 2), 4)]
    target = context.framebuffer([context.texture((16, 16), 4)])
    target.use()
    target.viewport, target.scissor, target.color_mask = (1, 2, 3, 4), (0, 1, 2, 3), (True, False, True, False)
    context.enable(moderngl.BLEND | moderngl.DEPTH_TEST | moderngl.CULL_FACE)
    gl("glPixelStorei", 0x0CF5, 2)
    gl("glPixelStorei", 0x0CF2, 11)
    gl("glPixelStorei", 0x0CF4, 3)
    gl("glBindBuffer", 0x88EC, context.buffer(reserve=64).glo)
    mine[1].use(location=5)
    mine[0].use(location=2)
    before = state()
    for array in [sample((33, 61, 3), "f4"), sample((12, 10, 4), "u1"), sample((12, 10, 4), "u1", 1)]:
        with pixelferry.gl.Texture((8, 8)) as texture:
            assert state() == before
            texture.update(array)
            assert state() == before
            texture.explain()
        assert state() == before
    assert context.error == "GL_NO_ERROR"


def gone(name):
    return not gl("glIsTexture", name)


def test_two_contexts(two):
    first, second = two
    arrays = [sample((10, 12, 4), "u1", seed) for seed in range(2)]
    with current(first, second):
        in_first = pixelferry.gl.Texture(arrays[0])
    in_second = pixelferry.gl.Texture(arrays[1])
    with pytest.raises(pixelferry.ContextError, match="another OpenGL context") as caught:
        in_first.update(arrays[1])
    assert isinstance(caught.value, RuntimeError) and isinstance(caught.value, pixelferry.Error)
    assert (read(second, in_second) == arrays[1]).all()
    with current(first, second):
        assert (read(first, in_first) == arrays[0]).all()
        in_first.update(arrays[1])
        assert (read(first, in_first) == arrays[1]).all()
        with pytest.raises(pixelferry.ContextError):
            in_second.update(arrays[0])
    assert (read(second, in_second) == arrays[1]).all()
    in_second.close()
    with current(first, second):
        in_first.close()


@pytest.mark.parametrize("how", ["close", "drop", "drop on a thread", "close on a thread"])
def test_what_goes_elsewhere_is_deleted_in_its_context(two, how):
    first, second = two
    with current(first, second):
        box = [pixelferry.gl.Texture((10, 12))]
    name = box[0].name
    action = box[0].close if how.startswith("close") else box.clear
    if how.endswith("thread"):
        thread = threading.Thread(target=action)
        thread.start()
        thread.join()
    else:
        action()
    del action
    # The other context has a name like that of its own, which stays.
    other = second.texture((3, 3), 4)
    while other.glo < name:
        other = second.texture((3, 3), 4)
    with pixelferry.gl.Texture((4, 4)):
        pass
    assert not gone(other.glo)
    with current(first, second):
        assert not gone(name)
        with pixelferry.gl.Texture((4, 4)):
            pass
        assert gone(name)


def test_no_context_and_other_threads(context):
    array = sample((4, 4), "u1")
    (error,) = on_a_thread(lambda: pixelferry.gl.Texture(array))
    assert type(error) is pixelferry.ContextError and "no context that is current" in str(error)
    texture = pixelferry.gl.Texture(array)
    for call in [lambda: texture.update(array), texture.explain, lambda: texture.report]:
        (error,) = on_a_thread(call)
        assert type(error) is pixelferry.ContextError and "another thread" in str(error)
    assert not on_a_thread(lambda: (texture.name, texture.size, repr(texture), texture.path))
    texture.update(array)
    assert (read(context, texture) == reference(array)).all()

    def in_a_context_of_its_own():
        own = open_context()
        made = pixelferry.gl.Texture(array)
        assert (read(own, made) == reference(array)).all()
        kept.append(made)

    kept = []
    assert not on_a_thread(in_a_context_of_its_own)
    # Its thread has ended, and it with that.
    with pytest.raises(pixelferry.ContextError):
        kept[0].update(array)
    kept.clear()


@pytest.mark.parametrize("backend, path", [("cpu", "host-round-trip"), ("opencl", "host-round-trip"), ("opencl", "pinned-upload")])
def test_a_thread_that_ends_with_its_texture(backend, path):
    """Its variables are gone by then, and the backend still has commands to queue: maps of memory end."""
    ended = run([sys.executable, "-c", f"""
import os, threading, time
import moderngl, numpy, pixelferry, pixelferry.gl
kept = []
def work():
    kept.append(moderngl.create_context(standalone=True, backend="egl"))
    try:
        kept.append(pixelferry.gl.Texture(numpy.zeros((4, 4), "u1"), backend="{backend}", path="{path}"))
    except pixelferry.DeviceError as why:
        print("NO DRIVER:", why)
thread = threading.Thread(target=work)
thread.start()
thread.join()
while os.path.exists(f"/proc/self/task/{{thread.native_id}}"):
    time.sleep(0.01)
print("done")
"""], env=dict(os.environ))
    if "NO DRIVER" in ended.stdout:
        missing({"opencl": "opencl"}.get(backend, "egl"), ended.stdout)
    assert ended.returncode == 0 and ended.stdout == "done\n" and "panicked" not in ended.stderr, ended.stdout + ended.stderr


def test_a_context_that_is_destroyed_early(context):
    array = sample((6, 5, 4), "u1")
    for _ in range(by_level(3, 10)):
        early = open_context()
        texture = pixelferry.gl.Texture(array)
        context.__enter__()
        early.release()
        later = open_context()
        with pytest.raises(pixelferry.ContextError, match="another"):
            texture.update(array)
        with pixelferry.gl.Texture(array) as again:
            assert (read(later, again) == array).all()
        del texture
        assert later.error == "GL_NO_ERROR"
        context.__enter__()
        later.release()


def test_a_context_with_the_address_of_another(context):
    """Nothing that the texture's context had is there."""
    array = sample((6, 5, 4), "u1")
    texture = pixelferry.gl.Texture(array)
    shaders = [name for name in range(1, 5000) if gl("glIsShader", name)]
    assert shaders
    for name in shaders:
        gl("glDeleteShader", name)
    with pytest.raises(pixelferry.ContextError, match="destroyed"):
        texture.update(array)
    with pixelferry.gl.Texture(array) as again:
        assert (read(context, again) == array).all()
        with pytest.raises(pixelferry.ContextError, match="destroyed"):
            texture.update(array)
        texture.close()
        again.update(array[::-1])
        assert (read(context, again) == array[::-1]).all()
    assert context.error == "GL_NO_ERROR"


def test_errors(context):
    array = sample((4, 4), "u1")
    for given, error in [(3, pixelferry.DtypeError), ([[1]], pixelferry.DtypeError), (array.astype("i8"), pixelferry.DtypeError),
                         (np.zeros((4, 4, 5), "u1"), pixelferry.ShapeError)]:
        with pytest.raises(error):
            pixelferry.gl.Texture(given)
    for options in [{"format": "rgb"}, {"path": ""}, {"backend": "rocm"}, {"layout": "WHX"}]:
        with pytest.raises(pixelferry.ShapeError):
            pixelferry.gl.Texture(array, **options)
    with pytest.raises(pixelferry.DeviceError):
        pixelferry.gl.Texture(array, path="direct")
    with pytest.raises(pixelferry.ShapeError, match="at most 16384 a side"):
        pixelferry.gl.Texture((4, 100_000))
    texture = pixelferry.gl.Texture(array)
    for wrong in [array.astype("i8"), np.zeros((4,), "u1"), np.broadcast_to(array[:1, :1], (4, 100_000))]:
        with pytest.raises(pixelferry.Error):
            texture.update(wrong)
        assert (read(context, texture) == reference(array)).all()
    texture.close()
    texture.close()
    for call in [lambda: texture.update(array), texture.explain, lambda: texture.name, lambda: texture.report]:
        with pytest.raises(pixelferry.ClosedError, match="is closed"):
            call()
    assert "closed" in repr(texture) and texture.format == "rgba8"


def test_textures_that_come_and_go_leave_no_names(context):
    def names():
        return {kind: sum(gl(kind, name) for name in range(1, 5000)) for kind in ["glIsTexture", "glIsBuffer", "glIsShader"]}

    array, before = sample((8, 8), "u1"), names()
    for _ in range(by_level(4, 50)):
        with pixelferry.gl.Texture(array):
            pass
    # One backend: another that is measured to be quicker would have shaders of its own.
    with pixelferry.gl.Texture(array, backend="cpu") as kept:
        alone = names()
        for _ in range(by_level(4, 50)):
            pixelferry.gl.Texture(array, backend="cpu").update(array[::-1])
        assert names() == alone and alone["glIsTexture"] > 0
        assert kept.name < 5000
    assert names() == before


def script(code):
    done = run([sys.executable, "-c", code], env=dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_forks_and_the_end_of_the_program():
    assert "parent done" in script("""
import os
import moderngl, numpy as np, pixelferry, pixelferry.gl
context = moderngl.create_context(standalone=True, backend="egl")
texture = pixelferry.gl.Texture((4, 4))
child = os.fork()
if not child:
    try:
        texture.update(np.zeros((4, 4), "u1"))
    except pixelferry.ClosedError:
        texture.close()
        del texture
        os._exit(7)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
texture.update(np.zeros((4, 4), "u1"))
context.release()
print("parent done")
""")
