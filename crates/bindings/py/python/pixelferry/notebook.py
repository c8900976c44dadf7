"""A widget for notebooks with the page of pixelferry.serve(), made with anywidget. Its pictures use the kernel's own
connection, so the browser need not be able to reach the page, for example in JupyterHub."""

import threading
import weakref
from typing import Any

from . import Event
from ._pixelferry import _WIDGET  # type: ignore[import-not-found]

try:
    import anywidget  # type: ignore[import-not-found]
except ImportError as why:
    raise ImportError("pixelferry.Server.widget() needs anywidget: pip install anywidget") from why

__all__ = ["Widget"]

# Interval in seconds at which a thread checks whether its widget still exists.
_LOOK = 0.5


class Widget(anywidget.AnyWidget):  # type: ignore[misc]
    """Shows a server's arrays as the output of a cell, with mouse and keys. All widgets and browsers share the server's
    view.

    The next picture is sent when the browser has received the previous one. While a cell runs, the kernel receives no
    messages, so that only one more picture arrives during it. May be called from any thread.
    """

    _esm = _WIDGET

    def __init__(self, server: Any) -> None:
        super().__init__()
        self._watcher = server._watcher()
        self._is_free = threading.Event()
        self._views = 0
        self.on_msg(self._told)
        # The thread holds no strong reference to the widget.
        threading.Thread(target=_send, args=(weakref.ref(self), self._watcher, self._is_free), daemon=True).start()

    def _told(self, _: Any, told: dict[str, Any], buffers: list[Any]) -> None:
        """Handles a message of the browser."""
        if "watch" in told:
            self._views = max(0, self._views + (1 if told["watch"] else -1))
            self._watcher.watch(self._views > 0)
        if told.get("taken") or told.get("watch"):
            self._is_free.set()
        if told.get("input") and buffers:
            self._watcher.send(bytes(buffers[0]))
        event = told.get("event", {})
        if event.get("event_type") == "resize":
            self._watcher.resize(*(float(event[name]) for name in ("width", "height", "pixel_ratio")))
        elif event:
            self._watcher.enter(event.get("event_type") == "pointer_enter")

    def events(self, timeout: float = 0.0) -> list[Event]:
        """Returns the user's events since the last call, like Viewer.events(); positions are pixels of the picture. No
        events arrive while a cell runs.
        """
        return list(self._watcher.events(timeout))

    def close(self) -> None:
        """Ends the widget; the server continues."""
        if hasattr(self, "_watcher"):
            self._watcher.close()
        super().close()


def _send(widget: "weakref.ref[Widget]", watcher: Any, is_free: threading.Event) -> None:
    """Sends pictures for as long as the widget exists."""
    while widget() is not None and not watcher.is_over:
        if not is_free.wait(_LOOK):
            continue
        picture = watcher.next(_LOOK)
        to = widget()
        if picture is not None and to is not None and to.comm is not None:
            is_free.clear()
            to.send({"picture": True}, [picture])
        # Drop the reference during the wait.
        del to
    to = widget()
    if to is not None and to.comm is not None:
        to.send({"ended": True})
        watcher.close()
