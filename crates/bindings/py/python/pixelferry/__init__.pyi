"""Shows arrays on the screen. An array on the GPU of the screen gets there without a copy through the host."""

from os import PathLike
from types import TracebackType
from typing import Any, Literal, Protocol, Self, final, overload

from typing_extensions import Buffer, disjoint_base

__all__ = [
    "Array", "ClosedError", "ContextError", "DeviceError", "DtypeError", "Error", "Event", "NoDisplayError", "Recording", "Report",
    "Server", "ShapeError", "Viewer", "__version__", "probe", "serve", "show", "Publisher", "Subscriber", "streams",
]

__version__: str

class _DLPack(Protocol):
    def __dlpack__(self, *, stream: int | None = None) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

class _CudaArray(Protocol):
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

_Array = _DLPack | _CudaArray | Buffer
_Layout = str
_Range = Literal["minmax", "symmetric"] | tuple[float | str, float | str]
_Colormap = Literal["grey", "viridis", "magma", "turbo", "rdbu"]
_Channel = int | Literal["magnitude", "phase", "real", "imaginary"]
_Format = Literal["r8", "rg8", "r16", "r16f", "rgba8", "bgra8", "rgb10a2", "rg16f", "r32f", "rgba16f", "rg32f", "rgba32f"]
_Path = str | PathLike[str]

class Error(Exception):
    """Base class of all errors that pixelferry raises."""

class DtypeError(Error, TypeError):
    """The array's type, or the object, cannot be shown; the message says what to convert it to."""

class ShapeError(Error, ValueError):
    """A shape, stride, size or option is invalid."""

class DeviceError(Error, RuntimeError):
    """A device, driver or memory cannot be used."""

class NoDisplayError(Error, RuntimeError):
    """There is no screen to open a window on."""

class ContextError(Error, RuntimeError):
    """The OpenGL context of a texture is not current on this thread."""

class ClosedError(Error, RuntimeError):
    """The viewer, its window or the texture was closed."""

class Report(dict[str, Any]):
    """A dict. str() formats it for people."""

    text: str

    def __init__(self, data: dict[str, Any], text: str) -> None: ...

@disjoint_base
class Array:
    """Pixels or bytes that were read from a display, in memory of their own. numpy.from_dlpack, numpy.asarray,
    torch.from_dlpack and cupy.from_dlpack use that memory without a copy, and may write it.

    >>> import numpy, pixelferry
    >>> with pixelferry.Viewer(8, 8, headless=True, display="memory") as viewer:
    ...     viewer.show(numpy.full((4, 6), 7, "uint8"))
    ...     picture = numpy.from_dlpack(viewer.capture())
    >>> picture.shape, picture[0, 0].tolist()
    ((4, 6, 4), [7, 7, 7, 255])

    Any thread may use and drop it. The memory lives as long as the array or anything made from it. In a forked process,
    arrays on the host stay usable; arrays on a GPU do not.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """(height, width, channels); (height, width) for one channel and for words of "rgb10a2"; or (bytes,). The last
        index is the fastest."""
    @property
    def dtype(self) -> str:
        """"uint8", "uint16", "float16", "float32", or "uint32" for words of "rgb10a2"; a valid argument of
        numpy.dtype."""
    @property
    def nbytes(self) -> int:
        """Size in bytes."""
    @property
    def device(self) -> str:
        """"cpu", or "cuda:0" and so on."""
    def __dlpack__(
        self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Exports the array (DLPack 1.0, or 0.x if `max_version` is less).

        stream: the CUDA stream that waits until the pixels are there, without blocking the host; None is the legacy
            default stream.
        dl_device: (1, 0) copies an array of a GPU to the host. Any other foreign device raises BufferError.
        copy: True makes a copy; False raises BufferError if a copy is needed.
        """
    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's type and number of the device: (1, 0), or (2, n) for CUDA."""
    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Exists for arrays on the host only."""
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Exists for arrays on a GPU only. It waits until the pixels are there."""
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Returns a NumPy array. Raises DeviceError for an array on a GPU."""
    def __buffer__(self, flags: int, /) -> memoryview:
        """Works for arrays on the host only."""

@final
class Event:
    """An input of the window's user, or a change of the window. Fields that have no meaning for its type are None.

    Names and units are those of https://github.com/pygfx/renderview, except for `pixel` and `text`, which that
    specification does not have, and for held keys, which repeat here. "hide" and "show" report that a window is fully
    covered, on systems that report it. "char" is experimental there.
    """

    @property
    def type(self) -> Literal[
        "pointer_move", "pointer_enter", "pointer_leave", "pointer_down", "pointer_up", "double_click", "wheel", "key_down", "key_up", "char",
        "resize", "focus_in", "focus_out", "show", "hide", "close",
    ]: ...
    @property
    def timestamp(self) -> float:
        """Time of the event in seconds, on the clock of time.perf_counter()."""
    @property
    def x(self) -> float | None:
        """Horizontal position of the pointer in logical pixels, from the window's left edge."""
    @property
    def y(self) -> float | None:
        """Vertical position of the pointer in logical pixels, from the window's top edge."""
    @property
    def pixel(self) -> tuple[int, int] | None:
        """Column and row of the array that the window shows there; None beside the picture."""
    @property
    def button(self) -> int | None:
        """1 left, 2 right, 3 middle, 4 back, 5 forward, or a higher number; 0 for "pointer_move"."""
    @property
    def dx(self) -> float | None:
        """How far the wheel was turned to the right; a notch is 100."""
    @property
    def dy(self) -> float | None:
        """How far the wheel was turned towards the user, which scrolls down; a notch is 100."""
    @property
    def key(self) -> str | None:
        """What the key types ("a", "A", "+", " "), or its name on the web ("Enter", "ArrowLeft", "F1")."""
    @property
    def text(self) -> str | None:
        """Text that the key typed, or None."""
    @property
    def data(self) -> str | None:
        """Typed text of "char"."""
    @property
    def input_type(self) -> Literal["insertText"] | None:
        """Input type of "char"."""
    @property
    def is_composing(self) -> bool | None:
        """Whether the text of "char" may still change; always False so far."""
    @property
    def repeat(self) -> bool | None:
        """Whether a held key repeats; renderview has no such events."""
    @property
    def width(self) -> float | None:
        """New width of the window in logical pixels."""
    @property
    def height(self) -> float | None:
        """New height of the window in logical pixels."""
    @property
    def pwidth(self) -> int | None:
        """New width of the window in physical pixels."""
    @property
    def pheight(self) -> int | None:
        """New height of the window in physical pixels."""
    @property
    def ratio(self) -> float | None:
        """Physical pixels per logical pixel, along a side."""
    @property
    def buttons(self) -> tuple[int, ...]:
        """Buttons that are held after the event."""
    @property
    def modifiers(self) -> tuple[Literal["Shift", "Control", "Alt", "Meta"], ...]:
        """Modifier keys that are held."""

@final
class Viewer:
    """Shows arrays in a window or offscreen. May be called from any thread.

    width, height: size of the window, or of the offscreen framebuffer, in pixels; arrays of other sizes are scaled to
        fit and keep their aspect ratio.
    format: pixel format of the surface. Formats of one channel ("r8", "r16", "r16f", "r32f") and of two ("rg8",
        "rg16f", "rg32f") show arrays of that many channels; the others show arrays of one channel (grey) to four.
    mode: "latency" shows each array at once; "throughput" may show an array up to eight frames old if that is faster.
    path: use this path or fail; `report["paths"]` lists them.
    backend: for example "cuda:1" or "cpu". The default is the array's GPU, or for arrays on the host the backend that
        is measured to be the fastest: `report["together"]`.
    vsync: a window's `show` waits for the screen's next refresh, which avoids tearing. `explain()` says whether the
        driver accepted it. Only a real screen shows the effect.
    keep: number of recent frames of a named array to keep for stepping back, including the shown one; at most 1 GiB for
        all.
    audit: which frames are compared while the program runs, as the kernels wrote them and as the display reads them:
        "auto" (each 60th and one a second), a number N for each Nth, or "off". `report["audits"]` counts them. A path
        that showed a wrong frame is left.
    display: "gl" or "vulkan"; or, without a graphics driver and without a window, "compute" (kernels on the GPU that
        computes) or "memory".
    """

    def __new__(
        cls,
        width: int = 1280,
        height: int = 720,
        *,
        title: str = "pixelferry",
        format: _Format = "rgba8",
        headless: bool = False,
        mode: Literal["latency", "throughput"] = "latency",
        path: str | None = None,
        backend: str | None = None,
        display: Literal["auto", "gl", "compute", "memory", "vulkan"] = "auto",
        vsync: bool = False,
        keep: int = 8,
        audit: Literal["auto", "off"] | int | None = None,
    ) -> Self: ...
    def show(
        self,
        array: _Array,
        layout: _Layout | None = None,
        *,
        name: str | None = None,
        range: _Range | None = None,
        exposure: float = 0.0,
        gamma: float = 1.0,
        colormap: _Colormap | None = None,
        channel: _Channel | None = None,
        marks: bool | None = None,
    ) -> None:
        """Shows an array of numbers of any type: bool, integers, floats of 8 (DLPack) to 64 bits, bfloat16, complex.

        With a name, a window shows a copy closely, beside arrays with other names: with zoom, values and histogram. "?"
        lists the keys.

        Does nothing if the user has closed the window: is_open is then False. After close() it raises ClosedError.

        layout: a letter for each axis: H and W, and if present, C for channels and N for several pictures, which are
            shown as a grid. None guesses from the shape as `explain()` lists: "HW", "HWC" with 1 to 4 channels, "CHW"
            with 1, 3 or 4, "NHW", "NHWC", "NCHW". Two channels are red and green. For a format of one or two channels,
            it guesses that number of channels. Strides may be of any kind.
        range: the numbers that become black and white: (0, 50), "minmax", "symmetric" about zero, or percentiles such
            as ("1%", "99%"). None means the whole range of uint8 and uint16, 0 to 1 for bool and floats, -pi to pi for
            a phase, and "minmax" for all other types.
        exposure: brightens by this many stops, after the range.
        gamma: numbers above 0 are raised to 1/gamma, after the exposure.
        colormap: name of a map of 256 colours for one channel, applied after the gamma.
        channel: one of several channels, from 0; or the shown part of complex numbers, by default the magnitude.
        marks: numbers above 1 after the exposure are shown red, and those below 0 blue. None does so in windows that
            look closely and on pages, for one channel whose numbers may be outside the range.

        With any of these options, NaN is magenta, infinity yellow and minus infinity cyan; without them, NaN is black.
        A range that depends on the numbers is measured for each array before it is shown. When the call returns, the
        array has been read and may be written again. Work that the array's library has queued on a GPU is awaited on
        the GPU.
        """
    def events(self, timeout: float = 0.0) -> list[Event]:
        """Returns the events since the last call, oldest first. Waits up to `timeout` seconds for the first. Of
        consecutive moves only the last is kept, and at most 4096 events in all. Escape closes the window. Without a
        window there are no events.
        """
    def finish(self) -> None:
        """Waits until the newest array is on the screen."""
    def capture(self, device: str = "cpu") -> Array:
        """Returns the most recently shown frame as it is stored, in the viewer's format and with row 0 on top. No later
        call changes the result.

        device: "cpu"; "cuda" for the GPU that draws, or else the first GPU; or "cuda:1". A frame that OpenGL shows gets
            to the GPU that draws without a copy through the host.
        """
    def screenshot(self) -> memoryview:
        """Returns the most recently shown frame in its own size, as bytes of shape (height, width, 4) for files; a
        valid argument of numpy.asarray."""
    def _repr_png_(self) -> bytes | None:
        """Returns that frame as a PNG, with which notebooks show a viewer; None before the first array and after
        close()."""
    def save(self, file: _Path) -> None:
        """Saves the most recently shown frame (.png, .jpg). A file that cannot be written raises OSError, for example
        FileNotFoundError."""
    def record(self, file: _Path, rate: int = 60, step: bool = False) -> Recording:
        """Records everything shown from now on: .mp4, .mkv, .ts or .h264 via GStreamer, .y4m, or frames/%05d.png. The
        film samples what is shown at its own frame rate; with `step`, each shown array is one frame, and none is
        dropped."""
    def explain(self) -> str:
        """Describes the current path in detail, for a bug report."""
    def close(self) -> None:
        """Ends the viewer and closes its window. May be called again."""
    @property
    def path(self) -> str | None:
        """The current path; None before the first array."""
    @property
    def report(self) -> Report | None:
        """Both devices, and every path with its state, cost and reason; None before the first array."""
    @property
    def is_open(self) -> bool:
        """Whether arrays can be shown: False after close(), and after the user has closed the window."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@overload
def show(
    array: _Array, title: str = "pixelferry", *, block: Literal[True] = True, save: _Path | None = None,
    layout: _Layout | None = None, width: int | None = None, height: int | None = None, backend: str | None = None,
    range: _Range | None = None, exposure: float = 0.0, gamma: float = 1.0, colormap: _Colormap | None = None,
    channel: _Channel | None = None, marks: bool | None = None,
) -> None: ...
@overload
def show(
    array: _Array, title: str = "pixelferry", *, block: bool, save: _Path | None = None,
    layout: _Layout | None = None, width: int | None = None, height: int | None = None, backend: str | None = None,
    range: _Range | None = None, exposure: float = 0.0, gamma: float = 1.0, colormap: _Colormap | None = None,
    channel: _Channel | None = None, marks: bool | None = None,
) -> Viewer | None:
    """Shows one array in a window of its size and waits until the window is closed. With block=False, returns the
    viewer instead. With save="x.png", saves the picture and opens no window. For the meaning of the other options
    see Viewer.show. A file that cannot be written raises OSError, for example FileNotFoundError, before anything is
    shown."""

@final
class Server:
    """A page that shows arrays in browsers, opened by serve(). Keep a reference: dropping it ends the page."""

    @property
    def url(self) -> str:
        """Address for browsers, which includes the page's token. Everyone who has it can watch and control the view."""
    @property
    def viewers(self) -> int:
        """Number of browsers that are watching now."""
    def show(
        self,
        array: _Array,
        name: str = "array",
        *,
        layout: _Layout | None = None,
        range: _Range | None = None,
        exposure: float = 0.0,
        gamma: float = 1.0,
        colormap: _Colormap | None = None,
        channel: _Channel | None = None,
        marks: bool | None = None,
    ) -> None:
        """Shows an array beside the others, or in place of the one of its name, with a look of its own. Without look
        options it keeps the look of that name, or gets that of the first array. The array is copied and shown soon."""
    def widget(self) -> Any:
        """Returns the page as a live widget for notebooks (pixelferry.notebook.Widget); the browser need not be able to
        reach the page. Raises ImportError without anywidget."""
    @property
    def encoder(self) -> str:
        """What encodes JPEGs: nvJPEG, if OpenGL draws on a GPU that has it, or "the host" and the reason. Pictures are
        JPEGs for widgets, and if host= is not this machine's own address."""
    def wait(self) -> None:
        """Waits until Ctrl-C, or until another thread closes the page."""
    def close(self) -> None:
        """Ends the page. May be called again."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

def serve(
    array: _Array, name: str = "array", *, host: str = "127.0.0.1", port: int = 0, layout: _Layout | None = None,
    range: _Range | None = None, exposure: float = 0.0, gamma: float = 1.0, colormap: _Colormap | None = None,
    channel: _Channel | None = None, marks: bool | None = None, keep: int = 8,
) -> Server:
    """Serves a page that shows the array in browsers: zoom, values under the pointer, range, colormap, histogram,
    several arrays. It needs OpenGL; Mesa's software renderer works. A Server as the last line of a notebook's cell
    displays the page. With host="0.0.0.0" the page is reachable from the network, where others can read its address
    and pictures: use an SSH tunnel instead."""

def probe(width: int = 640, height: int = 360) -> Report:
    """Tries every path between every compute device and every display that needs no window, and proves each by
    pixels."""

@final
class Recording:
    """A film of what a viewer shows, from Viewer.record(). It ends with stop(), at the end of its `with` block, and
    with the viewer."""

    def stop(self) -> None:
        """Writes the end of the film. Raises OSError or DeviceError if recording failed. May be called again."""
    @property
    def frames(self) -> int | None:
        """Number of frames; None until the film is stopped."""
    @property
    def dropped(self) -> int | None:
        """Number of frames that repeat an earlier picture because the writer was behind; None until the film is
        stopped."""
    def __enter__(self) -> Recording: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class Publisher:
    """Publishes arrays as a stream for other processes of this user (Linux): Subscriber in Python, or `pixelferry view
    --attach NAME`.

    The newest array is the stream's frame. Subscribers never make publish() wait."""

    def __new__(
        cls, name: str, *, format: _Format | None = None, backend: str | None = None, device: str = "cpu"
    ) -> Self:
        """Opens the stream.

        name: letters, digits, "-", "_" and "."; a name in use raises ShapeError.
        format: pixel format of the frames. None chooses one that keeps the numbers of each array, with 4 channels for
            3.
        device: where the frames are, "cpu", "cuda" or "cuda:N". On a CUDA device they reach a Subscriber of the same
            device without a copy; others get them through host memory. That needs NVIDIA's Vulkan driver: without it
            the frames are in host memory, and `path` says so."""
    def publish(self, array: _Array, layout: _Layout = "HWC") -> int:
        """Makes an array the newest frame and returns the frame's number. When the call returns, the array may be
        written again."""
    @property
    def name(self) -> str: ...
    @property
    def number(self) -> int:
        """Number of the newest frame; 0 before the first."""
    @property
    def subscribers(self) -> int:
        """Current number of subscribers."""
    @property
    def path(self) -> str | None:
        """The current path; None before the first array."""
    def close(self) -> None:
        """Ends the stream. Subscribers are notified and keep the last frame. May be called again."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

@final
class Subscriber:
    """The frames of another process's stream (Linux). Frames that are published between two calls are skipped.

    As an iterator it waits for each newer frame, and ends when the publisher does."""

    def __new__(cls, name: str, *, device: str = "cpu") -> Self:
        """Subscribes to a stream; a stream without a publisher raises DeviceError.

        device: where the arrays are, "cpu", "cuda" or "cuda:N". Arrays on the CUDA device on which frames are published
            are the publisher's own memory, which kernels must not write; see Publisher."""
    def next(self, timeout: float | None = None) -> Array | None:
        """Waits for a frame newer than the last and returns it; None after `timeout` seconds without one. Later frames
        do not change the array. Raises ClosedError if the publisher has ended. Ctrl-C ends the
        wait."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> Array: ...
    @property
    def name(self) -> str: ...
    @property
    def number(self) -> int:
        """Number of the most recently taken frame; missing numbers are skipped frames. 0 before the first."""
    @property
    def path(self) -> str | None:
        """Path by which that frame was read; None before the first."""
    def close(self) -> None:
        """Ends the subscription. May be called again."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

def streams() -> list[dict[str, Any]]:
    """Returns the streams of this user (Linux), sorted by name: "name", "process" and "program" of each."""
