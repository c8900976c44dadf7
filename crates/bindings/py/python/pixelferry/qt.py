"""A Qt widget that shows arrays, for PySide6 or PyQt6: the one that the program has imported, else the installed
one."""

import importlib
import sys
from typing import Any

from . import Report
from .gl import Texture

__all__ = ["ArrayWidget"]


def _base() -> Any:
    """Returns the OpenGL widget class of the binding."""
    why = None
    for name in sorted(["PySide6", "PyQt6"], key=lambda name: name not in sys.modules):
        try:
            return importlib.import_module(name + ".QtOpenGLWidgets").QOpenGLWidget
        except ImportError as error:
            why = why or error
    raise ImportError("pixelferry.qt needs PySide6 or PyQt6: pip install PySide6-Essentials") from why


_Base: Any = _base()


class _Held:
    """Objects of a widget's context. They are separate from the widget, because its context is destroyed while the
    widget is being deleted."""

    texture: Texture | None = None
    context: Any = None

    def leave(self) -> None:
        """Called while the context is being destroyed; it is current."""
        if self.texture is not None:
            self.texture.close()
        self.texture = self.context = None


class ArrayWidget(_Base):
    """Shows arrays in its OpenGL context; they keep their aspect ratio, and row 0 is on top. Use it on the thread of
    the program's widgets.

    Qt draws it with the other widgets, and delivers mouse, keys and sizes as for any widget. Painters may draw over it:
    override paintGL in a subclass and draw after super().paintGL().

    format, path, backend, stable: as for pixelferry.gl.Texture.
    """

    def __init__(self, parent: Any = None, *, format: str = "rgba8", path: str | None = None, backend: str | None = None,
                 stable: bool = True) -> None:
        super().__init__(parent)
        self._options: dict[str, Any] = {
            "format": format, "path": path, "backend": backend, "stable": stable, "flip": True}
        self._held = _Held()
        self._array: tuple[Any, str] | None = None

    def show_array(self, array: Any, layout: str = "HWC") -> None:
        """Shows an array that Viewer.show supports. When the call returns, the array has been read and may be written
        again.

        The widget keeps a reference to the array: before it is on the screen it has no context, and Qt may give it
        another context later. The array is read again then.
        """
        if self._held.context is not None:
            self.makeCurrent()
            try:
                self._update(array, layout)
            finally:
                self.doneCurrent()
        self._array = array, layout
        self.update()

    def _update(self, array: Any, layout: str) -> None:
        if self._held.texture is None:
            self._held.texture = Texture(array, layout, **self._options)
        else:
            self._held.texture.update(array, layout)

    def close_texture(self) -> None:
        """Deletes the texture; Qt calls this when the widget's context is destroyed. The next array makes a new
        texture."""
        if self._held.texture is not None:
            self.makeCurrent()
            self._held.texture.close()
            self._held.texture = None
            self.doneCurrent()

    @property
    def path(self) -> str | None:
        """The current path; None before the first array is on the screen."""
        return None if self._held.texture is None else self._held.texture.path

    @property
    def report(self) -> Report | None:
        """Both devices, and every path with its state, cost and reason."""
        if self._held.texture is None:
            return None
        self.makeCurrent()
        try:
            return self._held.texture.report
        finally:
            self.doneCurrent()

    def explain(self) -> str:
        """Describes the current path in detail, for a bug report."""
        return str(self.report or "nothing has been shown yet")

    def initializeGL(self) -> None:
        """Called by Qt."""
        context = self.context()
        if context is not self._held.context:
            self._held.context = context
            context.aboutToBeDestroyed.connect(self._held.leave)
        if self._array is not None:
            self._update(*self._array)

    def paintGL(self) -> None:
        """Called by Qt."""
        scale = self.devicePixelRatioF()
        if self._held.texture is not None:
            width, height = round(self.width() * scale), round(self.height() * scale)
            self._held.texture.draw(0, 0, width, height, background=(0, 0, 0))
