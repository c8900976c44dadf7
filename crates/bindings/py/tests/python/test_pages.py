"""The programs of docs/python.md, of the package's README and in examples, each as it stands, with a user who closes its windows."""

import importlib
import os
import pathlib
import sys

import pytest

import patience
from conftest import library, missing
from test_window import HEAD, environment

CRATE = pathlib.Path(__file__).parents[2]
# Before a block of the page that repeats lines of a file, which has a test of its own here.
QUOTED = "<!-- lines of "


def blocks(page):
    before, *rest = page.read_text(encoding="utf-8").split("```python\n")
    for part in rest:
        code, after = part.split("```", 1)
        if QUOTED not in before.strip().split("\n")[-1]:
            yield code
        before = after


BLOCKS = [pytest.param(code, id=f"{page.name} {n}")
          for page in [CRATE.parents[2] / "docs" / "python.md", CRATE / "README.md"] for n, code in enumerate(blocks(page))]

# Ends each window that has shown something.
USER = '''
def user():
    while True:
        for window in list(windows().values()):
            if colours(window, 40, 30) != {0}:
                END(window)
                assert wait_for(lambda: window not in windows().values())
        time.sleep(0.05)
threading.Thread(target=user, daemon=True).start()
'''

# Qt has windows of its own kind on the platform that test_qt.py takes, and closes them itself.
QT = '''
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
loop = QApplication.exec


def until_seen(*_):
    def look():
        if any(getattr(widget, "path", None) for widget in QApplication.topLevelWidgets()):
            QApplication.closeAllWindows()
        else:
            QTimer.singleShot(20, look)
    QTimer.singleShot(20, look)
    return loop()


QApplication.exec = until_seen
'''


def run(screen, folder, code, **more):
    # Mesa's Vulkan complains where there is no such folder.
    env = environment(screen) | {"XDG_RUNTIME_DIR": str(folder)} | more
    ended = patience.run([sys.executable, "-c", code], env=env, cwd=folder)
    # Qt's offscreen platform says that it shows no widget with OpenGL, which has its context and texture all the same.
    said = [line for line in ended.stderr.splitlines() if not line.startswith("QOpenGLWidget")]
    assert ended.returncode == 0 and not said, f"exit status {ended.returncode}: {ended.stdout}{ended.stderr}"
    return ended.stdout


@pytest.mark.parametrize("end", ["escape", "close"])
@pytest.mark.parametrize("code", BLOCKS)
def test_programs_of_the_pages(screen, tmp_path, code, end):
    if "torch" in code:
        if os.environ.get("PIXELFERRY_GPU") != "1":
            missing("nvidia", "it is tested where PIXELFERRY_GPU=1 is set")
        library("torch")
    if "moderngl" in code:
        library("moderngl")
    user, more = HEAD + USER.replace("END", end), {}
    if "PySide6" in code:
        try:
            importlib.import_module("PySide6.QtOpenGLWidgets")
        except ImportError as why:
            missing("pyside6", why)
        user, more = QT, {"QT_QPA_PLATFORM": "offscreen"}
    # In a module of its own: its names are not ours.
    run(screen, tmp_path, user + f"exec({code!r}, {{'__name__': '__main__'}})", **more)
    if "save=" in code:
        assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_the_pages_have_programs_of_each_kind():
    codes = [block.values[0] for block in BLOCKS]
    for word in ["is_open", "save=", "torch", "gl.Target", "PySide6"]:
        assert any(word in code for code in codes), word
    assert len(codes) == 7


HAND = '''
test = c.CDLL("libXtst.so.6")
said = []


def fake(name, *arguments):
    getattr(test, name)(server, *arguments, c.c_ulong(0))
    x.XFlush(server)


def key(symbol):
    for down in (1, 0):
        fake("XTestFakeKeyEvent", c.c_uint(x.XKeysymToKeycode(server, c.c_ulong(symbol))), down)


def pixel(window, at_x, at_y):
    return x.XGetPixel(x.XGetImage(server, window, at_x, at_y, 1, 1, 0xFFFFFFFF, 2), 0, 0)


def user():
    assert wait_for(lambda: "waves" in windows())
    window = windows()["waves"]
    assert wait_for(lambda: len(colours(window, 640, 480)) > 9)
    x.XMoveWindow(server, c.c_ulong(window), 0, 0)
    x.XSetInputFocus(server, c.c_ulong(window), 1, c.c_ulong(0))
    # Far from the light it is dark; where the mouse is the light goes, at the top of its wave.
    assert pixel(window, 40, 30) & 0xFF < 60
    def follows(at_x, at_y):
        fake("XTestFakeMotionEvent", -1, at_x, at_y)
        return wait_for(lambda: pixel(window, at_x, at_y) >> 16 & 0xFF > 200)
    assert follows(40, 30) and follows(600, 400)
    # Paused, the picture stands still.
    def stands():
        before = [pixel(window, 500, n) for n in range(300, 400, 7)]
        time.sleep(0.3)
        return before == [pixel(window, 500, n) for n in range(300, 400, 7)]
    assert not stands()
    key(0x20)
    assert wait_for(stands)
    wave = [pixel(window, 500, n) for n in range(300, 400, 7)]
    fake("XTestFakeButtonEvent", 4, 1)
    fake("XTestFakeButtonEvent", 4, 0)
    assert wait_for(lambda: wave != [pixel(window, 500, n) for n in range(300, 400, 7)])
    key(0x73)
    assert wait_for(lambda: os.path.exists("waves.png"))
    said.append("seen")
    escape(window)


import runpy
hand = threading.Thread(target=user)
hand.start()
runpy.run_path(EXAMPLE, run_name="__main__")
hand.join()
print(*said, "done")
'''


def test_the_example_follows_the_user_to_its_end(screen, tmp_path):
    example = CRATE / "examples" / "window.py"
    assert run(screen, tmp_path, HEAD + HAND.replace("EXAMPLE", repr(str(example)))) == "seen done\n"
    assert (tmp_path / "waves.png").read_bytes().startswith(b"\x89PNG")
