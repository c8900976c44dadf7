"""Arrays as textures and buffer objects of the program's own OpenGL context, and back: moderngl, vispy, pyqtgraph, GLFW, ImGui, PyOpenGL."""

from types import TracebackType
from typing import Literal, Protocol, Self, final

from . import Array, Report, _Array, _Format, _Layout

__all__ = ["Buffer", "Source", "Target", "Texture"]

class _Glo(Protocol):
    """As moderngl's objects have it."""

    @property
    def glo(self) -> int: ...

@final
class Texture:
    """An array as a TEXTURE_2D of the OpenGL context (3.3 or ES 3.0, or later) that is current on the calling thread.

    Row 0 of the array is row 0 of the texture, as glTexSubImage2D has it. What is bound, and all other state of the
    context, stays as it was. Call it on that thread with that context current, and close it before the context goes.

    array_or_shape: a first array, or a tuple such as (height, width, 4) for a black one. A first array of the GPU is
        better there, as one of the host and one of the GPU take different paths.
    format: of the texture, as for Viewer.
    path: take this path or fail; `report["paths"]` lists them.
    backend: "cuda:1" or "cpu", say, instead of the array's GPU, or of what is measured to be the quickest
        for arrays of the host: `report["together"]`.
    stable: take only paths that keep the name. Others save a copy on the GPU, but show each array under the next of two or
        three names.
    flip: row 0 of the array is the texture's last row, so that a draw by OpenGL's coordinates puts it on top.
    """

    def __new__(
        cls,
        array_or_shape: _Array | tuple[int, ...],
        layout: _Layout = "HWC",
        *,
        format: _Format = "rgba8",
        path: str | None = None,
        backend: str | None = None,
        stable: bool = True,
        flip: bool = False,
    ) -> Self: ...
    def update(self, array: _Array, layout: _Layout = "HWC") -> None:
        """Writes an array, of what Viewer.show takes. When it returns the array was read and may be written again."""
    def draw(
        self, x: int, y: int, width: int, height: int, *,
        fit: Literal["contain", "stretch", "cover", "integer", "none"] = "contain",
        background: tuple[float, float, float] | None = None,
    ) -> None:
        """Draws the texture into this part of the framebuffer that is bound for drawing; y counts from the bottom.

        background: red, green and blue from 0 to 1 for what the picture leaves of it; None leaves what is there.
        """
    def read(self, device: str = "cpu") -> Array:
        """What the texture holds, with the rows of the array that was shown: an array that no later call changes.

        device: as for Source. On a GPU it costs a copy more than a Source does.
        """
    def explain(self) -> str:
        """Everything about the path in use, to paste into a bug report. On the texture's thread."""
    def close(self) -> None:
        """Deletes the texture, as soon as its context is current on its thread. May be called again, on any thread."""
    @property
    def name(self) -> int:
        """OpenGL's name of the texture. An array of another size, or of another device than the one before, and a path
        that fails change it, and so may a forced path and stable=False: ask after `update`. Do not delete it."""
    @property
    def target(self) -> int:
        """GL_TEXTURE_2D."""
    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
    @property
    def format(self) -> str:
        """As it was given."""
    @property
    def path(self) -> str:
        """The path in use."""
    @property
    def report(self) -> Report:
        """Both devices, every path with its state, cost and reason. On the texture's thread."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@final
class Buffer:
    """An array as a buffer object of the OpenGL context (3.3 or ES 3.0, or later) that is current on the calling thread: vertices,
    indices, storage.

    It holds the array's bytes in the order of its indices, the last one fastest, with no gap. Elements may be of any kind.
    State, thread and context are as for Texture.

    array_or_bytes: a first array, or a number of bytes for zeros.
    path, backend, stable: as for Texture.
    """

    def __new__(
        cls,
        array_or_bytes: _Array | int,
        *,
        path: str | None = None,
        backend: str | None = None,
        stable: bool = True,
    ) -> Self: ...
    def update(self, array: _Array) -> None:
        """Writes an array, of any length. When it returns the array was read and may be written again."""
    def read(self, device: str = "cpu") -> Array:
        """What the buffer holds as uint8, in an array that no later call changes. It goes by the host to any device; a Source
        does not."""
    def explain(self) -> str:
        """Everything about the path in use, to paste into a bug report. On the buffer's thread."""
    def close(self) -> None:
        """Deletes the buffer, as soon as its context is current on its thread. May be called again, on any thread."""
    @property
    def name(self) -> int:
        """OpenGL's name of the buffer object. It changes as that of a Texture does: ask after `update`. Do not delete it."""
    @property
    def offset(self) -> int:
        """Where in the buffer object the array begins, in bytes. 0 with stable=True."""
    @property
    def nbytes(self) -> int:
        """How long the array is, in bytes."""
    @property
    def path(self) -> str:
        """The path in use."""
    @property
    def report(self) -> Report:
        """Both devices, every path with its state, cost and reason. On the buffer's thread."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@final
class Target:
    """A texture (level 0 of a TEXTURE_2D) or a buffer object of the program's, of the OpenGL context that is current on the calling
    thread, to be written. Its name, storage, mipmaps and lifetime stay the program's.

    >>> import moderngl, numpy, pixelferry.gl
    >>> context = moderngl.create_context(standalone=True, backend="egl")
    >>> mine = context.texture((64, 48), 4)
    >>> with pixelferry.gl.Target(mine) as target:
    ...     target.write(numpy.full((48, 64, 3), 7, "uint8"))
    >>> list(mine.read()[:4])
    [7, 7, 7, 255]

    Paths are tried and timed with the first array. State, thread and context are as for Texture. Close it before the object goes.
    While the object is gone, or has another size or format, `write` raises ShapeError; for another object make another Target.

    texture_or_buffer: OpenGL's name, or an object that has it as `glo` (moderngl) or `name` (Texture and Buffer).
    size: width and height of the texture, or bytes to write from the start of the buffer; by default the object's own `size` or
        `nbytes`.
    format: of the texture, as for Viewer.
    rows: "bottom-up" makes row 0 of the array the texture's row 0, as glTexSubImage2D has it; "top-down" makes it the last row, which
        OpenGL draws on top.
    path: take this path or fail; `explain` lists them.
    backend: "cuda:1" or "opencl", say, instead of the array's GPU, or of the CPU for arrays of the host.
    """

    def __new__(
        cls,
        texture_or_buffer: int | _Glo | Texture | Buffer,
        size: tuple[int, int] | int | None = None,
        *,
        format: _Format = "rgba8",
        rows: Literal["top-down", "bottom-up"] = "bottom-up",
        path: str | None = None,
        backend: str | None = None,
    ) -> Self: ...
    def write(self, array: _Array, layout: _Layout = "HWC") -> None:
        """Writes an array of its size: of what Viewer.show takes into a texture, of any kind into a buffer. What the context is told
        from now on sees it. When it returns the array was read and may be written again."""
    def explain(self) -> str:
        """What was found of every path, to paste into a bug report. On the target's thread."""
    def close(self) -> None:
        """Lets go of the object, as soon as its context is current on its thread. May be called again, on any thread."""
    @property
    def name(self) -> int:
        """OpenGL's name of what is written."""
    @property
    def size(self) -> tuple[int, int] | int:
        """Width and height in pixels, or bytes."""
    @property
    def format(self) -> str | None:
        """As it was given; None for a buffer."""
    @property
    def path(self) -> str | None:
        """The path in use; None before the first array."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@final
class Source:
    """A texture (level 0 of a TEXTURE_2D) or a buffer object of the program's, of the OpenGL context that is current on the calling
    thread, to be read as arrays.

    >>> import moderngl, numpy, pixelferry.gl
    >>> context = moderngl.create_context(standalone=True, backend="egl")
    >>> target = context.framebuffer([context.texture((64, 48), 4)])
    >>> with pixelferry.gl.Source(target.color_attachments[0]) as source:
    ...     target.clear(1, 0, 0, 1)
    ...     picture = numpy.from_dlpack(source.read())
    >>> picture.shape, picture[0, 0].tolist()
    ((48, 64, 4), [255, 0, 0, 255])

    Paths are tried and timed when it is made. State, thread and context are as for Texture. Close it before the object goes. While
    the object is gone, or has another size or format, `read` raises ShapeError; for another object make another Source.

    texture_or_buffer: OpenGL's name, or an object that has it as `glo` (moderngl) or `name` (Texture and Buffer).
    size: width and height of the texture, or bytes to read from the start of the buffer; by default the object's own `size` or
        `nbytes`.
    format: of the texture. Its numbers are given as they are stored.
    rows: "bottom-up" makes the texture's row 0 that of the array, as Target does and glGetTexImage has it; "top-down" makes it the
        last row, which OpenGL draws on top.
    device: "cpu", "cuda" for the GPU that draws or else the first, or "cuda:1". On the GPU that draws nothing goes by the host
        where a path allows that.
    path: take this path or fail; `explain` lists them.
    """

    def __new__(
        cls,
        texture_or_buffer: int | _Glo | Texture | Buffer,
        size: tuple[int, int] | int | None = None,
        *,
        format: _Format = "rgba8",
        rows: Literal["top-down", "bottom-up"] = "bottom-up",
        device: str = "cpu",
        path: str | None = None,
    ) -> Self: ...
    def read(self) -> Array:
        """What the context was told to render there by now, in memory of its own: (height, width, 4), (height, width) for one
        channel, or (bytes,). No later call changes it."""
    def explain(self) -> str:
        """What was found of every path, to paste into a bug report. On the source's thread."""
    def close(self) -> None:
        """Lets go of the object, as soon as its context is current on its thread. May be called again, on any thread. Arrays stay."""
    @property
    def name(self) -> int:
        """OpenGL's name of what is read."""
    @property
    def size(self) -> tuple[int, int] | int:
        """Width and height in pixels, or bytes."""
    @property
    def format(self) -> str | None:
        """As it was given; None for a buffer."""
    @property
    def device(self) -> str:
        """As it was given."""
    @property
    def path(self) -> str:
        """The path in use."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
