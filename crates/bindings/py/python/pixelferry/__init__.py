"""Shows arrays on the screen. An array on the GPU of the screen gets there without a copy through the host."""

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
    pass  # These exist on Linux only.
else:
    __all__ += ["Publisher", "Subscriber", "streams"]
