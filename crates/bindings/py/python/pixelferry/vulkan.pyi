"""Memory, semaphores and images of the program's own Vulkan, for arrays; works with the package vulkan or any other
binding. Linux only.

A handle is a number: with the package vulkan, `int(vulkan.ffi.cast("uintptr_t", handle))`. Handles cannot be checked:
nothing shows that a handle was destroyed or belongs to another program. As in Vulkan itself, such a mistake crashes the
program, or worse.

A successful call takes over a file descriptor (fd) and closes it. If the call raises, the descriptor stays the
caller's.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self, final

from . import Array, _Array, _Layout

__all__ = ["Memory", "Semaphore", "Texture", "device_extensions"]

class _Uuid(Protocol):
    """An object with a UUID as `bytes`, such as uuid.UUID and PyTorch's device properties."""

    @property
    def bytes(self) -> bytes: ...

@final
class Memory(Array):
    """Memory that Vulkan exported (VK_KHR_external_memory_fd, OPAQUE_FD), as an array of its bytes without a copy:
    `torch.from_dlpack(memory)`, `numpy.asarray(memory)`. Vulkan and arrays see each other's writes.

    An array made from it keeps the memory alive. The program must order accesses: with a Semaphore, or by waiting for a
    Vulkan fence before it reads an array, and for the array's work before Vulkan reads. Images of Vulkan have a pixel
    order that no array can describe; share a buffer's memory.

    On a CUDA GPU the array is on that device. With a driver that runs on the CPU it is on the host. Memory of other
    GPUs raises DeviceError.

    fd: result of vkGetMemoryFdKHR.
    bytes: size of the whole allocation, VkMemoryAllocateInfo.allocationSize. CUDA's driver does not check it.
    uuid: VkPhysicalDeviceIDProperties.deviceUUID, 16 bytes, or an object that has them as `bytes`.
    dedicated: whether it is a dedicated allocation for one buffer (VkMemoryDedicatedAllocateInfo).
    """

    def __new__(cls, fd: int, bytes: int, *, uuid: bytes | _Uuid, dedicated: bool = False) -> Self: ...
    @staticmethod
    def export(bytes: int, *, uuid: bytes | _Uuid) -> Memory:
        """Allocates memory that the program's Vulkan can import (VkImportMemoryFdInfoKHR) with `fd()`, `allocation` and
        `dedicated`: its first `bytes` are the array's. Its initial content is zero on the host, and undefined on a
        GPU."""
    def fd(self) -> int:
        """Returns a new descriptor of exported memory. The caller owns it and passes it to vkAllocateMemory or
        os.close. Raises DeviceError if the program exported the memory, and so has its descriptor."""
    @property
    def allocation(self) -> int:
        """VkMemoryAllocateInfo.allocationSize."""
    @property
    def dedicated(self) -> bool:
        """Whether it is a dedicated allocation for one buffer, which Vulkan must then specify, too."""

@final
class Semaphore:
    """A semaphore that Vulkan exported (VK_KHR_external_semaphore_fd, OPAQUE_FD), on its CUDA device: the GPU waits,
    not the host. May be used from any thread. Raises DeviceError if CUDA does not have that device.

    fd: result of vkGetSemaphoreFdKHR.
    uuid: as for Memory.
    timeline: whether Vulkan made it as a timeline semaphore.
    """

    def __new__(cls, fd: int, *, uuid: bytes | _Uuid, timeline: bool = False) -> Self: ...
    def wait(self, value: int = 0, stream: int = 0) -> None:
        """Makes later work on a CUDA stream wait until Vulkan has signalled: a timeline semaphore until its value is at
        least `value`. For a binary semaphore, Vulkan's signal must be submitted before, once for each wait.

        stream: a live stream of the device, for example `torch.cuda.current_stream().cuda_stream`; 0 and 1 are the
            default stream.
        """
    def signal(self, value: int = 0, stream: int = 0) -> None:
        """Signals when the earlier work on a CUDA stream is done: a timeline semaphore gets `value`, which must be
        larger than its current one. A binary semaphore must have been waited for since its last signal."""
    def close(self) -> None:
        """Releases the semaphore when queued work is done. May be called again."""
    @property
    def timeline(self) -> bool:
        """Whether it is a timeline semaphore, as it was given."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@final
class Texture:
    """Writes arrays into an image of the program's Vulkan with copies in the program's own queue.

    Use it on the thread that made it, and do not use the queue on another thread at the same time. Close it on that
    thread before the image or the device is destroyed. Work that is submitted to the queue later sees what was written,
    in the same layout. To use another queue, first wait for this one.

    instance, physical_device, device, queue, image: valid handles that belong together. Instance and device support
        Vulkan 1.1 or later.
    queue_family: family of the queue, which owns the image (unless several families share it), and supports graphics or
        compute.
    format, size: VkFormat, and width and height, of the image; it has two dimensions and one sample.
    usage: VkImageUsageFlags of the image, including TRANSFER_DST.
    image_layout: VkImageLayout of the image at each write; 1 is GENERAL.
    extensions, timeline_semaphores: what the device was made with, of what `device_extensions` names. Without them,
        arrays on a GPU pass through the host.
    path: use this path or fail; `explain` lists them.
    backend: for example "cuda:1" or "opencl". The default is the array's GPU, or the CPU for arrays on the host.
    """

    def __new__(
        cls,
        instance: int,
        physical_device: int,
        device: int,
        queue: int,
        queue_family: int,
        image: int,
        format: int,
        size: tuple[int, int],
        *,
        usage: int,
        image_layout: int = 1,
        extensions: Sequence[str] | None = None,
        timeline_semaphores: bool = False,
        path: str | None = None,
        backend: str | None = None,
    ) -> Self: ...
    def write(self, array: _Array, layout: _Layout = "HWC") -> None:
        """Writes an array of the image's size that Viewer.show supports. Row 0 is the image's first row. When the call
        returns, the array has been read and may be written again."""
    def explain(self) -> str:
        """Describes the findings about every path, for a bug report. Call it on the texture's thread."""
    def close(self) -> None:
        """Waits for earlier writes and releases the image: at once on its thread, else at the next call there. May be
        called again."""
    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, as they were given."""
    @property
    def format(self) -> str | None:
        """Pixel format, as Viewer names it."""
    @property
    def path(self) -> str | None:
        """The current path; None before the first array."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

def device_extensions(instance: int, physical_device: int) -> tuple[list[str], bool]:
    """Returns the extensions to enable when the device is made, of those that its driver supports, and whether to
    enable the feature timelineSemaphore, for Texture."""
