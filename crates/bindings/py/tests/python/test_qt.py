"""Arrays in widgets of Qt, whose OpenGL is that of an X server of our own. Each case is a process."""

import os
import sys

import pytest

import patience
from conftest import missing

HEAD = '''
import sys
try:
    from BINDING.QtWidgets import QApplication, QVBoxLayout, QWidget
    from BINDING.QtOpenGLWidgets import QOpenGLWidget
except ImportError as why:
    sys.exit(f"NO QT: {why}")
import numpy as np
import pixelferry
from pixelferry.qt import ArrayWidget
from conftest import reference, sample

assert ArrayWidget.__mro__[1] is QOpenGLWidget
application = QApplication([])


def seen(widget):
    """What Qt drew, row 0 on top."""
    picture = widget.grabFramebuffer().convertToFormat(FORMAT)
    bits = picture.constBits()
    if hasattr(bits, "setsize"):
        bits.setsize(picture.sizeInBytes())
    return np.frombuffer(bits, "u1").reshape(picture.height(), picture.bytesPerLine() // 4, 4)[:, : picture.width()].copy()


from BINDING.QtGui import QImage
FORMAT = QImage.Format.Format_RGBA8888
'''


# Widgets with OpenGL crash on the offscreen platform of Qt 6.4, which Debian 12 has for PyQt6.
# Each with the name of its row in pixelferry-testing.
PLATFORMS = {"PySide6": ("pyside6", "offscreen"), "PyQt6": ("pyqt6", "xcb")}


def run(screen, binding, code):
    row, platform = PLATFORMS[binding]
    environment = {k: v for k, v in os.environ.items() if k != "WAYLAND_DISPLAY"}
    environment |= {"DISPLAY": screen, "QT_QPA_PLATFORM": platform}
    environment["PYTHONPATH"] = os.pathsep.join([os.path.dirname(__file__), environment.get("PYTHONPATH", "")])
    ended = patience.run([sys.executable, "-c", (HEAD + code).replace("BINDING", binding)], env=environment)
    if "NO QT" in ended.stderr:
        missing(row, ended.stderr)
    assert ended.returncode == 0 and "done" in ended.stdout, ended.stdout + ended.stderr


@pytest.mark.parametrize("binding", PLATFORMS)
def test_arrays_are_seen(screen, binding):
    run(screen, binding, '''
widget = ArrayWidget()
widget.resize(64, 48)
first = sample((48, 64, 3), "u1")
assert widget.path is None and widget.report is None and "nothing" in widget.explain()
widget.show_array(first)
widget.show()
application.processEvents()
assert (seen(widget)[:, :, :3] == first).all()
for seed in range(4):
    for array in [sample((48, 64, 4), "f4", seed), sample((48, 64), "u2", seed), sample((48, 64, 3), "u1", seed)[::-1]]:
        widget.show_array(array)
        application.processEvents()
        assert (seen(widget)[:, :, :3] == reference(array)[:, :, :3]).all(), widget.explain()
assert widget.path in widget.explain() and widget.report["display"]["api"] == "opengl"
# The shape is kept: black to both sides of a narrow one.
widget.show_array(np.full((24, 16, 3), 255, "u1"))
found = seen(widget)[:, :, :3]
assert (found[:, 16:48] == 255).all() and not found[:, :16].any() and not found[:, 48:].any()
widget.resize(32, 48)
application.processEvents()
assert (seen(widget)[:, :, :3] == 255).all()
try:
    widget.show_array(np.zeros((3, 3, 7)))
except pixelferry.Error:
    pass
else:
    sys.exit("it was taken")
assert (seen(widget)[:, :, :3] == 255).all()
print("done")
''')


@pytest.mark.parametrize("binding", PLATFORMS)
def test_widgets_beside_others_and_another_window(screen, binding):
    """Qt gives a widget that moves to another window another context."""
    run(screen, binding, '''
windows = [QWidget(), QWidget()]
for window in windows:
    QVBoxLayout(window)
    window.resize(100, 100)
widgets = [ArrayWidget(), ArrayWidget(windows[0])]
arrays = [sample((40, 40, 3), "u1", seed) for seed in range(2)]
for widget, array in zip(widgets, arrays):
    widget.setFixedSize(40, 40)
    windows[0].layout().addWidget(widget)
    widget.show_array(array)
for window in windows:
    window.show()
application.processEvents()
for widget, array in zip(widgets, arrays):
    assert (seen(widget)[:, :, :3] == array).all()
windows[1].layout().addWidget(widgets[0])
application.processEvents()
for widget, array in zip(widgets, arrays):
    assert (seen(widget)[:, :, :3] == array).all()
    widget.show_array(array[:, ::-1])
    assert (seen(widget)[:, :, :3] == array[:, ::-1]).all()
    widget.close_texture()
    assert widget.path is None
    widget.show_array(array)
    assert (seen(widget)[:, :, :3] == array).all()
del widgets, widget
for window in windows:
    window.close()
    window.deleteLater()
application.processEvents()
print("done")
''')
