"""Arrays on the screen, without a detour through the host where they are on its GPU."""

from ._pixelferry import (
    Array,
    ClosedError,
    ContextError,
    DeviceError,
    DtypeError,
    Error,
    Event,
    NoDisplayError,
    Report,
    Server,
    ShapeError,
    Viewer,
    __version__,
    probe,
    serve,
    show,
)

__all__ = [
    "Array", "ClosedError", "ContextError", "DeviceError", "DtypeError", "Error", "Event", "NoDisplayError", "Report", "Server", "ShapeError",
    "Viewer", "__version__", "probe", "serve", "show",
]
