"""Arrays as textures and buffer objects in the program's own OpenGL context, and back: for moderngl, vispy, pyqtgraph,
GLFW, ImGui, PyOpenGL."""

from types import TracebackType
from typing import Literal, Protocol, Self, final

from . import Array, Report, _Array, _Format, _Layout

__all__ = ["Buffer", "Source", "Target", "Texture"]

class _Glo(Protocol):
    """An object that names an OpenGL object as moderngl's do."""

    @property
    def glo(self) -> int: ...

@final
class Texture:
    """An array as a TEXTURE_2D in the OpenGL context (3.3 or ES 3.0, or later) that is current on the calling thread.

    Row 0 of the array is row 0 of the texture, as in glTexSubImage2D. All of the context's state, including bindings,
    stays unchanged. Use the texture on that thread with that context current, and close it before the context is
    destroyed.

    array_or_shape: a first array, or a tuple such as (height, width, 4) for a black one. If later arrays are on the
        GPU, the first one should be, too, because arrays on the host and on the GPU take different paths.
    format: pixel format of the texture, as for Viewer.
    path: use this path or fail; `report["paths"]` lists them.
    backend: for example "cuda:1" or "cpu". The default is the array's GPU, or for arrays on the host the backend that
        is measured to be the fastest: `report["together"]`.
    stable: use only paths that keep the texture's name. Others avoid a copy on the GPU, but show arrays alternately
        under two or three names.
    flip: row 0 of the array is the texture's last row, so that a draw in OpenGL's coordinates puts it on top.
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
        """Writes an array that Viewer.show supports. When the call returns, the array has been read and may be written
        again."""
    def draw(
        self, x: int, y: int, width: int, height: int, *,
        fit: Literal["contain", "stretch", "cover", "integer", "none"] = "contain",
        background: tuple[float, float, float] | None = None,
    ) -> None:
        """Draws the texture into this part of the current draw framebuffer; y counts from the bottom.

        background: red, green and blue from 0 to 1 for the part that the picture does not cover; None keeps its
            content.
        """
    def read(self, device: str = "cpu") -> Array:
        """Returns the texture's content with the rows in the order of the shown array. No later call changes the
        result.

        device: as for Source. On a GPU it costs one copy more than a Source.
        """
    def explain(self) -> str:
        """Describes the current path in detail, for a bug report. Call it on the texture's thread."""
    def close(self) -> None:
        """Deletes the texture as soon as its context is current on its thread. May be called again, and on any
        thread."""
    @property
    def name(self) -> int:
        """OpenGL's name of the texture. It changes after an array of another size or another device, and when a path
        fails; it may also change with a forced path or stable=False. Read it after `update`. Do not delete the
        texture."""
    @property
    def target(self) -> int:
        """GL_TEXTURE_2D."""
    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
    @property
    def format(self) -> str:
        """Pixel format, as it was given."""
    @property
    def path(self) -> str:
        """The current path."""
    @property
    def report(self) -> Report:
        """Both devices, and every path with its state, cost and reason. Read it on the texture's thread."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@final
class Buffer:
    """An array as a buffer object in the OpenGL context (3.3 or ES 3.0, or later) that is current on the calling
    thread: vertices, indices, storage.

    The buffer contains the array's bytes in the order of its indices, the last one fastest, without gaps. Elements may
    be of any type. State, thread and context are as for Texture.

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
        """Writes an array of any length. When the call returns, the array has been read and may be written again."""
    def read(self, device: str = "cpu") -> Array:
        """Returns the buffer's content as uint8. No later call changes the result. It passes through the host for every
        device; a Source does not."""
    def explain(self) -> str:
        """Describes the current path in detail, for a bug report. Call it on the buffer's thread."""
    def close(self) -> None:
        """Deletes the buffer as soon as its context is current on its thread. May be called again, and on any
        thread."""
    @property
    def name(self) -> int:
        """OpenGL's name of the buffer object. It changes as that of a Texture does: read it after `update`. Do not
        delete the buffer object."""
    @property
    def offset(self) -> int:
        """Offset of the array in the buffer object, in bytes; 0 with stable=True."""
    @property
    def nbytes(self) -> int:
        """Length of the array in bytes."""
    @property
    def path(self) -> str:
        """The current path."""
    @property
    def report(self) -> Report:
        """Both devices, and every path with its state, cost and reason. Read it on the buffer's thread."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@final
class Target:
    """Writes arrays into a texture (level 0 of a TEXTURE_2D) or buffer object of the program, in the OpenGL context
    that is current on the calling thread. The program keeps its name, storage, mipmaps and lifetime.

    >>> import moderngl, numpy, pixelferry.gl
    >>> context = moderngl.create_context(standalone=True, backend="egl")
    >>> mine = context.texture((64, 48), 4)
    >>> with pixelferry.gl.Target(mine) as target:
    ...     target.write(numpy.full((48, 64, 3), 7, "uint8"))
    >>> list(mine.read()[:4])
    [7, 7, 7, 255]

    The first array tries and times the paths. State, thread and context are as for Texture. Close the target before the
    object is deleted. If the object was deleted, or has another size or format, `write` raises ShapeError; for another
    object make another Target.

    texture_or_buffer: OpenGL's name, or an object with that name as `glo` (moderngl) or `name` (Texture and Buffer).
    size: width and height of the texture, or the number of bytes to write from the start of the buffer; by default the
        object's own `size` or `nbytes`.
    format: pixel format of the texture, as for Viewer.
    rows: "bottom-up" makes row 0 of the array the texture's row 0, as in glTexSubImage2D; "top-down" makes it the last
        row, which OpenGL draws on top.
    path: use this path or fail; `explain` lists them.
    backend: for example "cuda:1" or "opencl". The default is the array's GPU, or the CPU for arrays on the host.
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
        """Writes an array of the object's size: into a texture one that Viewer.show supports, into a buffer any. OpenGL
        commands from now on see it. When the call returns, the array has been read and may be written again."""
    def explain(self) -> str:
        """Describes the findings about every path, for a bug report. Call it on the target's thread."""
    def close(self) -> None:
        """Releases the object as soon as its context is current on its thread. May be called again, and on any
        thread."""
    @property
    def name(self) -> int:
        """OpenGL's name of the object."""
    @property
    def size(self) -> tuple[int, int] | int:
        """Width and height in pixels, or bytes."""
    @property
    def format(self) -> str | None:
        """Pixel format, as it was given; None for a buffer."""
    @property
    def path(self) -> str | None:
        """The current path; None before the first array."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@final
class Source:
    """Reads arrays from a texture (level 0 of a TEXTURE_2D) or buffer object of the program, in the OpenGL context that
    is current on the calling thread.

    >>> import moderngl, numpy, pixelferry.gl
    >>> context = moderngl.create_context(standalone=True, backend="egl")
    >>> target = context.framebuffer([context.texture((64, 48), 4)])
    >>> with pixelferry.gl.Source(target.color_attachments[0]) as source:
    ...     target.clear(1, 0, 0, 1)
    ...     picture = numpy.from_dlpack(source.read())
    >>> picture.shape, picture[0, 0].tolist()
    ((48, 64, 4), [255, 0, 0, 255])

    Making it tries and times the paths. State, thread and context are as for Texture. Close the source before the
    object is deleted. If the object was deleted, or has another size or format, `read` raises ShapeError; for another
    object make another Source.

    texture_or_buffer: OpenGL's name, or an object with that name as `glo` (moderngl) or `name` (Texture and Buffer).
    size: width and height of the texture, or the number of bytes to read from the start of the buffer; by default the
        object's own `size` or `nbytes`.
    format: pixel format of the texture. Arrays contain the numbers as they are stored.
    rows: "bottom-up" makes the texture's row 0 that of the array, as for Target and in glGetTexImage; "top-down" makes
        it the last row, which OpenGL draws on top.
    device: "cpu"; "cuda" for the GPU that draws, or else the first GPU; or "cuda:1". On the GPU that draws, arrays do
        not pass through the host if a path allows that.
    path: use this path or fail; `explain` lists them.
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
        """Returns what earlier OpenGL commands rendered there, in memory of its own: (height, width, 4), (height,
        width) for one channel, or (bytes,). No later call changes the result."""
    def explain(self) -> str:
        """Describes the findings about every path, for a bug report. Call it on the source's thread."""
    def close(self) -> None:
        """Releases the object as soon as its context is current on its thread. May be called again, and on any thread.
        Arrays stay valid."""
    @property
    def name(self) -> int:
        """OpenGL's name of the object."""
    @property
    def size(self) -> tuple[int, int] | int:
        """Width and height in pixels, or bytes."""
    @property
    def format(self) -> str | None:
        """Pixel format, as it was given; None for a buffer."""
    @property
    def device(self) -> str:
        """Device of the arrays, as it was given."""
    @property
    def path(self) -> str:
        """The current path."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
