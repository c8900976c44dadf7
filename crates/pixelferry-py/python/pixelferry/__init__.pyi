"""Arrays on the screen, without a detour through the host where they are on its GPU."""

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
    """Anything that pixelferry reports."""

class DtypeError(Error, TypeError):
    """What the array holds, or the object is, cannot be shown; the text says what to convert it to."""

class ShapeError(Error, ValueError):
    """A shape, stride, size or option that is not taken."""

class DeviceError(Error, RuntimeError):
    """A device, driver or memory that cannot be used so."""

class NoDisplayError(Error, RuntimeError):
    """There is no screen to open a window on."""

class ContextError(Error, RuntimeError):
    """The OpenGL context of a texture is not current on this thread."""

class ClosedError(Error, RuntimeError):
    """The viewer, its window or the texture was closed."""

class Report(dict[str, Any]):
    """A dict whose str() is the same for people."""

    text: str

    def __init__(self, data: dict[str, Any], text: str) -> None: ...

@disjoint_base
class Array:
    """Pixels or bytes that a display held, in memory of their own: numpy.from_dlpack, numpy.asarray, torch.from_dlpack and
    cupy.from_dlpack take it without a copy, and may write it.

    >>> import numpy, pixelferry
    >>> with pixelferry.Viewer(8, 8, headless=True, display="memory") as viewer:
    ...     viewer.show(numpy.full((4, 6), 7, "uint8"))
    ...     picture = numpy.from_dlpack(viewer.capture())
    >>> picture.shape, picture[0, 0].tolist()
    ((4, 6, 4), [7, 7, 7, 255])

    Any thread may use and drop it. The memory lives as long as the array, or anything that was made of it. A forked process has
    arrays of the host, but none of a GPU.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """(height, width, channels), (height, width) for one channel and for words of "rgb10a2", or (bytes,). The last index is the
        fastest."""
    @property
    def dtype(self) -> str:
        """"uint8", "uint16", "float16", "float32", or "uint32" for words of "rgb10a2"; numpy.dtype takes it."""
    @property
    def nbytes(self) -> int:
        """Bytes of all numbers."""
    @property
    def device(self) -> str:
        """"cpu", or "cuda:0" and so on."""
    def __dlpack__(
        self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Hands the memory over (DLPack 1.0, or 0.x where `max_version` is less).

        stream: on a GPU it waits until the pixels are there, and the host does not; None is the legacy default stream.
        dl_device: (1, 0) copies an array of a GPU to the host. BufferError for all else that is not its own device.
        copy: True makes a copy; with False, BufferError where one is needed.
        """
    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's kind and number of the device: (1, 0), or (2, n) for CUDA."""
    @property
    def __array_interface__(self) -> dict[str, Any]:
        """On the host only."""
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """On a GPU only. It waits until the pixels are there."""
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """An array of NumPy's. DeviceError on a GPU."""
    def __buffer__(self, flags: int, /) -> memoryview:
        """On the host only."""

@final
class Event:
    """What the user did with a window, or what happened to it. Fields that mean nothing for its type are None.

    Names and units are those of https://github.com/pygfx/renderview; `pixel` and `text` are ours, and keys that are held repeat. "hide" and
    "show" tell of a window that is covered wholly, where the system tells it. "char" is experimental there.
    """

    @property
    def type(self) -> Literal[
        "pointer_move", "pointer_enter", "pointer_leave", "pointer_down", "pointer_up", "double_click", "wheel", "key_down", "key_up", "char",
        "resize", "focus_in", "focus_out", "show", "hide", "close",
    ]: ...
    @property
    def timestamp(self) -> float:
        """When it came, in seconds on the clock of time.perf_counter()."""
    @property
    def x(self) -> float | None:
        """Where the pointer is, in logical pixels of the window from its left edge."""
    @property
    def y(self) -> float | None:
        """And from its top edge."""
    @property
    def pixel(self) -> tuple[int, int] | None:
        """Column and row of the array that the window shows there; None beside the picture."""
    @property
    def button(self) -> int | None:
        """1 left, 2 right, 3 middle, 4 back, 5 forward, or a higher one; 0 for "pointer_move"."""
    @property
    def dx(self) -> float | None:
        """How far the wheel was turned to the right; a notch is 100."""
    @property
    def dy(self) -> float | None:
        """How far it was turned towards the user, which scrolls down."""
    @property
    def key(self) -> str | None:
        """What the key types ("a", "A", "+", " "), or the name that the web gives it ("Enter", "ArrowLeft", "F1")."""
    @property
    def text(self) -> str | None:
        """What was typed, if anything."""
    @property
    def data(self) -> str | None:
        """What was typed, of "char"."""
    @property
    def input_type(self) -> Literal["insertText"] | None:
        """How it was typed, of "char"."""
    @property
    def is_composing(self) -> bool | None:
        """Whether it may still change, of "char"; False so far."""
    @property
    def repeat(self) -> bool | None:
        """Whether the key was held down; renderview has no such events."""
    @property
    def width(self) -> float | None:
        """The window's new width in logical pixels."""
    @property
    def height(self) -> float | None:
        """And its height."""
    @property
    def pwidth(self) -> int | None:
        """The width in physical pixels."""
    @property
    def pheight(self) -> int | None:
        """And the height."""
    @property
    def ratio(self) -> float | None:
        """Physical pixels of a logical one, along a side."""
    @property
    def buttons(self) -> tuple[int, ...]:
        """Those held down after it."""
    @property
    def modifiers(self) -> tuple[Literal["Shift", "Control", "Alt", "Meta"], ...]:
        """Those held down."""

@final
class Viewer:
    """Shows arrays: in a window, or off screen. Any thread may call.

    width, height: of the window, or of the framebuffer that is drawn into off screen; arrays of other sizes are fitted
        into it with their shape kept.
    format: of the surface. Those of one channel ("r8", "r16", "r16f", "r32f") and of two ("rg8", "rg16f", "rg32f") show arrays of as
        many channels; the others show arrays of one (grey) to four.
    mode: "latency" shows each array at once; "throughput" shows up to eight frames behind, where that is quicker.
    path: take this path or fail; `report["paths"]` lists them.
    backend: "cuda:1" or "cpu", say, instead of the array's GPU, or of what is measured to be the quickest
        for arrays of the host: `report["together"]`.
    vsync: a window's `show` waits for the screen's next picture, so that none is torn. `explain()` says whether the driver took
        it. Its effect can be seen on a real screen only.
    keep: frames of an array with a name that stay to be stepped through, with the one on show; all together at most 1 GiB.
    display: "gl" or "vulkan", or with no graphics driver at all "compute" (the GPU that computes, by kernels) or "memory", without a window.
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
        marks: bool = False,
    ) -> None:
        """With a name a window shows a copy closely, with zoom, values and histogram, beside the arrays of other names: keys by "?".

        Shows an array of numbers of any type: bool, integers, floats of 8 (DLPack) to 64 bits, bfloat16, complex.

        Does nothing where the user has closed the window: is_open is then False. After close() it raises ClosedError.

        layout: a letter for each axis: H and W and, where there are, C and N (pictures in a grid). None guesses by the shape as
            `explain()` lists: "HW", "HWC" of 1 to 4 channels, "CHW" of 1, 3 or 4, "NHW", "NHWC", "NCHW". Two channels are red and
            green. For a format of one or two channels that number of them. Strides of any kind.
        range: the numbers that are black and white: (0, 50), "minmax", "symmetric" about zero, or percentiles as ("1%", "99%").
            None is the whole range of uint8 and uint16, 0 to 1 of bool and floats, -pi to pi of a phase, and "minmax" of all else.
        exposure: stops by which all is made brighter, after the range.
        gamma: numbers above 0 are raised to 1/gamma, after the exposure.
        colormap: of 256 colours, for one channel, after the gamma.
        channel: one of several, from 0; or what is shown of complex numbers, which is the magnitude.
        marks: what is above 1 after the exposure is red, and below 0 blue.

        With any of these, NaN is magenta, infinity yellow and minus infinity cyan; without, NaN is black.
        A range that depends on the numbers is measured for every array before it is shown.
        When it returns the array was read and may be written again. Work that its library has queued on a GPU is
        waited for on the GPU.
        """
    def events(self, timeout: float = 0.0) -> list[Event]:
        """What the user did with the window since the last call, oldest first. Waits at most so many seconds for the first.
        Of moves in a row the last is kept, and of all the last 4096. Escape closes the window. Without a window there are none.
        """
    def finish(self) -> None:
        """Waits until the newest array is on the screen."""
    def capture(self, device: str = "cpu") -> Array:
        """The frame shown last as it is stored, in the viewer's format and with row 0 on top. No later call changes it.

        device: "cpu", "cuda" for the GPU that draws or else the first, or "cuda:1". What OpenGL shows gets to the GPU that draws
            without the host.
        """
    def screenshot(self) -> memoryview:
        """The frame shown last as files have it, at its own size: bytes of shape (height, width, 4); numpy.asarray takes it."""
    def _repr_png_(self) -> bytes | None:
        """The same as a PNG, by which notebooks show a viewer; None before the first array and after the end."""
    def save(self, file: _Path) -> None:
        """Saves the frame shown last (.png, .jpg). A file that cannot be written is an OSError, such as FileNotFoundError."""
    def record(self, file: _Path, rate: int = 60, step: bool = False) -> Recording:
        """Records what is shown from now on: .mp4, .mkv, .ts or .h264 by GStreamer, .y4m, or frames/%05d.png. The film shows what
        was shown at each of its frames; with step each shown array is one frame, and none is dropped."""
    def explain(self) -> str:
        """Everything about the path in use, to paste into a bug report."""
    def close(self) -> None:
        """Ends the viewer and closes its window. May be called again."""
    @property
    def path(self) -> str | None:
        """The path in use; None before the first array."""
    @property
    def report(self) -> Report | None:
        """Both devices, every path with its state, cost and reason; None before the first array."""
    @property
    def is_open(self) -> bool:
        """Whether arrays can be shown: False after close(), and when the user has closed the window."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@overload
def show(
    array: _Array, title: str = "pixelferry", *, block: Literal[True] = True, save: _Path | None = None,
    layout: _Layout | None = None, width: int | None = None, height: int | None = None, backend: str | None = None,
    range: _Range | None = None, exposure: float = 0.0, gamma: float = 1.0, colormap: _Colormap | None = None,
    channel: _Channel | None = None, marks: bool = False,
) -> None: ...
@overload
def show(
    array: _Array, title: str = "pixelferry", *, block: bool, save: _Path | None = None,
    layout: _Layout | None = None, width: int | None = None, height: int | None = None, backend: str | None = None,
    range: _Range | None = None, exposure: float = 0.0, gamma: float = 1.0, colormap: _Colormap | None = None,
    channel: _Channel | None = None, marks: bool = False,
) -> Viewer | None:
    """Shows one array. In a window of its size: waits until it is closed, or with block=False returns the viewer. With
    save="x.png": no window is opened, the picture is saved. How numbers become colours: Viewer.show. A file that cannot be written is an OSError, such as
    FileNotFoundError, before anything is shown."""

@final
class Server:
    """A page with arrays for browsers, which serve() opens. Keep it: with it goes the page."""

    @property
    def url(self) -> str:
        """Address for browsers, with the token that the page needs. Whoever has it looks and steers."""
    @property
    def viewers(self) -> int:
        """Browsers that look on at the moment."""
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
        marks: bool = False,
    ) -> None:
        """Shows an array beside the others, or instead of the one of its name, with its own look; without options it keeps the one
        that it has, or has that of the first. It is copied, and shown soon."""
    def widget(self) -> Any:
        """The same as a live widget of a notebook (pixelferry.notebook.Widget), whose browser need not reach the page. ImportError without
        anywidget."""
    @property
    def encoder(self) -> str:
        """What packs JPEGs: nvJPEG, where OpenGL draws on a GPU that has it, or "the host" and why. Pictures are JPEGs for widgets, and
        where host= is beyond this machine."""
    def wait(self) -> None:
        """Waits until Ctrl-C, or until another thread closes it."""
    def close(self) -> None:
        """Ends the page. May be called again."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

def serve(
    array: _Array, name: str = "array", *, host: str = "127.0.0.1", port: int = 0, layout: _Layout | None = None,
    range: _Range | None = None, exposure: float = 0.0, gamma: float = 1.0, colormap: _Colormap | None = None,
    channel: _Channel | None = None, marks: bool = False, keep: int = 8,
) -> Server:
    """Serves a page with the array for browsers: zoom, values under the pointer, range, colormap, histogram, several arrays. It
    needs OpenGL, also that of Mesa. In a notebook the Server as a cell's last line is the page. Beyond this machine (host="0.0.0.0")
    others on the line can read the address and the pictures: go there by an SSH tunnel."""

def probe(width: int = 640, height: int = 360) -> Report:
    """Tries every path between every device that computes and every display without a window, each proved by pixels."""

@final
class Recording:
    """A film of what a viewer shows, by Viewer.record(). It ends with stop(), at the end of its `with`, and with the viewer."""

    def stop(self) -> None:
        """Writes the end of the film. What failed on the way is an OSError or a DeviceError. May be called again."""
    @property
    def frames(self) -> int | None:
        """Frames of the film; None until it is stopped."""
    @property
    def dropped(self) -> int | None:
        """Frames whose own picture is missing, as the writer was behind; None until it is stopped."""
    def __enter__(self) -> Recording: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class Publisher:
    """A stream of arrays that other processes of this user take (Linux): Subscriber there, or `pixelferry view --attach NAME`.

    The newest array is the stream's frame. No subscriber makes publish() wait. Frames pass through memory of the host."""

    def __new__(cls, name: str, *, format: _Format | None = None, backend: str | None = None) -> Self:
        """name: letters, digits, "-", "_" and "."; one that is taken is a ShapeError. format: that of the frames; None for the
        one that has the numbers of each array as they are, with 4 channels for 3."""
    def publish(self, array: _Array, layout: _Layout = "HWC") -> int:
        """Makes an array the newest frame, and returns its number. When it returns, the array may be written again."""
    @property
    def name(self) -> str: ...
    @property
    def number(self) -> int:
        """Number of the newest frame; 0 before the first."""
    @property
    def subscribers(self) -> int:
        """Subscribers there are now."""
    @property
    def path(self) -> str | None:
        """The path in use; None before the first array."""
    def close(self) -> None:
        """Ends the stream; subscribers are told, and keep the last frame. May be called again."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

@final
class Subscriber:
    """The frames of a stream that another process publishes (Linux). What was published while nobody asked is passed over.

    As an iterator it waits for each newer frame, and ends when the publisher does."""

    def __new__(cls, name: str, *, device: str = "cpu") -> Self:
        """Where nobody publishes this it is a DeviceError. device: where arrays are, "cpu", "cuda" or "cuda:N"."""
    def next(self, timeout: float | None = None) -> Array | None:
        """The newest frame, once there is one newer than the last; None after so many seconds without. The array is a copy that no
        later frame changes. A publisher that has ended is a ClosedError. Ctrl-C ends the waiting."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> Array: ...
    @property
    def name(self) -> str: ...
    @property
    def number(self) -> int:
        """Number of the frame that was taken last; what is missing between two was passed over. 0 before the first."""
    @property
    def path(self) -> str | None:
        """The way in which that came here; None before the first."""
    def close(self) -> None:
        """Leaves the stream. May be called again."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

def streams() -> list[dict[str, Any]]:
    """Streams of this user (Linux), by their names: "name", "process" and "program"."""
