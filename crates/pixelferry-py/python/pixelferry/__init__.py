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
    Recording,
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
    "Array", "ClosedError", "ContextError", "DeviceError", "DtypeError", "Error", "Event", "NoDisplayError", "Recording", "Report",
    "Server", "ShapeError", "Viewer", "__version__", "probe", "serve", "show",
]

try:
    from ._pixelferry import Publisher, Subscriber, streams  # noqa: F401
except ImportError:
    pass  # Only Linux has them.
else:
    __all__ += ["Publisher", "Subscriber", "streams"]
