"""Arrays on the screen, without a detour through the host where they are on its GPU."""

from ._pixelferry import (
    ClosedError,
    ContextError,
    DeviceError,
    DtypeError,
    Error,
    Event,
    NoDisplayError,
    Report,
    ShapeError,
    Viewer,
    __version__,
    probe,
    show,
)

__all__ = [
    "ClosedError", "ContextError", "DeviceError", "DtypeError", "Error", "Event", "NoDisplayError", "Report", "ShapeError", "Viewer",
    "__version__", "probe", "show",
]
