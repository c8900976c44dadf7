"""Arrays in vispy's OpenGL context, off screen by EGL: what vispy draws of its own texture is what it draws of ours."""

import os
import sys

import patience
from conftest import missing

CODE = '''
import sys
try:
    import vispy
    from vispy import app, gloo
except ImportError as why:
    sys.exit(f"NO VISPY: {why}")
try:
    vispy.use(app="egl", gl="gl2")
    canvas = app.Canvas(size=(64, 48), show=True)
    canvas.set_current()
except Exception as why:
    sys.exit(f"NO EGL: {why}")
import numpy as np
import pixelferry.gl
from conftest import reference, sample

gl = gloo.gl
program = gloo.Program(
    "attribute vec2 at; varying vec2 where; void main() { where = at * 0.5 + 0.5; gl_Position = vec4(at, 0.0, 1.0); }",
    "uniform sampler2D picture; varying vec2 where; void main() { gl_FragColor = texture2D(picture, where); }")
program["at"] = np.array([[-1, -1], [3, -1], [-1, 3]], "f4")


def picture(texture):
    """What vispy draws; the texture is vispy's own."""
    program["picture"] = texture
    gloo.set_viewport(0, 0, 64, 48)
    gloo.clear("black")
    program.draw("triangles")
    return gloo.read_pixels((0, 0, 64, 48), alpha=True)


array = sample((48, 64, 4), "u1")
theirs = gloo.Texture2D(array, interpolation="nearest", wrapping="clamp_to_edge")
expected = picture(theirs)
assert (expected[::-1] == array).all(), "vispy draws something else"
with pixelferry.gl.Texture(np.zeros_like(array)) as ours:
    # vispy's texture object stands for a name of OpenGL's, which is ours from here on.
    stands = canvas.context.shared.parser.get_object(theirs.id)
    before, stands._handle = stands._handle, ours.name
    assert not picture(theirs).any()
    for seed, dtype in enumerate(["u1", "u2", "f2", "f4"]):
        array = sample((48, 64, 4), dtype, seed)
        ours.update(array)
        assert (picture(theirs)[::-1] == reference(array)).all(), (dtype, ours.explain())
    # We draw it, into vispy's framebuffer: a compatibility profile.
    target = gloo.FrameBuffer(color=gloo.Texture2D((48, 64, 4)))
    with target:
        canvas.context.flush_commands()
        ours.draw(0, 0, 64, 48)
        assert (gloo.read_pixels((0, 0, 64, 48), alpha=True)[::-1] == reference(array)).all()
        gloo.clear("black")
        canvas.context.flush_commands()
        ours.draw(8, 4, 32, 32, fit="contain")
        found = gloo.read_pixels((0, 0, 64, 48), alpha=True)[::-1, :, :3]
        assert not found[:8].any() and not found[36:].any() and found[8:32, 8:40].any() and not found[:, :8].any()
    gl.check_error()
    # vispy's state did not change: its own texture is drawn as before.
    stands._handle = before
    assert (picture(theirs) == expected).all()

# Points from a buffer of ours, drawn by vispy's program.
points = gloo.Program(
    "attribute vec2 at; void main() { gl_PointSize = 1.0; gl_Position = vec4(at, 0.0, 1.0); }",
    "void main() { gl_FragColor = vec4(1.0); }")
vertices = (np.random.default_rng(0).random((200, 2)) * 2 - 1).astype("f4")


def drawn(buffer):
    points["at"] = buffer
    gloo.clear("black")
    points.draw("points")
    return gloo.read_pixels((0, 0, 64, 48), alpha=False)


theirs = gloo.VertexBuffer(vertices)
expected = drawn(theirs)
assert expected.any() and not expected.all()
with pixelferry.gl.Buffer(np.full_like(vertices, 9)) as ours:
    stands = canvas.context.shared.parser.get_object(theirs.id)
    before, stands._handle = stands._handle, ours.name
    assert not drawn(theirs).any()
    ours.update(vertices)
    assert (drawn(theirs) == expected).all()
    ours.update(vertices[::-1])
    assert (drawn(theirs) == expected).all()
    stands._handle = before
canvas.close()
print("done")
'''


def test_what_vispy_draws():
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment["PYTHONPATH"] = os.pathsep.join([os.path.dirname(__file__), environment.get("PYTHONPATH", "")])
    # vispy asks for the display that needs no name.
    environment["EGL_PLATFORM"] = "surfaceless"
    ended = patience.run([sys.executable, "-c", CODE], env=environment)
    for name, what in [("vispy", "NO VISPY"), ("egl", "NO EGL")]:
        if what in ended.stderr:
            missing(name, ended.stderr)
    assert ended.returncode == 0 and "done" in ended.stdout, ended.stdout + ended.stderr
