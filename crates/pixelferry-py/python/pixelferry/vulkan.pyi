"""Memory, semaphores and images of the program's own Vulkan, for arrays: of the package vulkan, or any other binding. Linux.

A handle is a number: of the package vulkan, `int(vulkan.ffi.cast("uintptr_t", handle))`. What a number stands for is believed, as
nothing tells a handle that was destroyed, or another program's: such a mistake ends the program, or worse, as it does in Vulkan.

A descriptor (fd) is taken where a call succeeds, and is closed then. Where it raises, the descriptor stays the caller's.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self, final

from . import Array, _Array, _Layout

__all__ = ["Memory", "Semaphore", "Texture", "device_extensions"]

class _Uuid(Protocol):
    """As uuid.UUID and PyTorch's properties of a device have it."""

    @property
    def bytes(self) -> bytes: ...

@final
class Memory(Array):
    """Memory that Vulkan exported (VK_KHR_external_memory_fd, OPAQUE_FD), as an array of its bytes, without a copy:
    `torch.from_dlpack(memory)`, `numpy.asarray(memory)`. Vulkan and arrays see what the other writes.

    Whoever has an array of it keeps it. Order is the program's to keep: by Semaphore, or by waiting for a fence of Vulkan before an
    array is read, and for the array's work before Vulkan is told to read. What lies in an image of Vulkan has an order of pixels that
    no array tells; share a buffer's memory.

    On a GPU of CUDA the array is on that device. With a driver that runs on the CPU it is on the host. Memory of other GPUs raises
    DeviceError.

    fd: what vkGetMemoryFdKHR gave.
    bytes: the size of the whole allocation, VkMemoryAllocateInfo.allocationSize. CUDA's driver believes it.
    uuid: VkPhysicalDeviceIDProperties.deviceUUID, 16 bytes, or an object that has them as `bytes`.
    dedicated: it was allocated for one buffer alone (VkMemoryDedicatedAllocateInfo).
    """

    def __new__(cls, fd: int, bytes: int, *, uuid: bytes | _Uuid, dedicated: bool = False) -> Self: ...
    @staticmethod
    def export(bytes: int, *, uuid: bytes | _Uuid) -> Memory:
        """Memory that the program's Vulkan opens (VkImportMemoryFdInfoKHR) with `fd()`, `allocation` and `dedicated`: its first `bytes`
        are the array's. Zero at first on the host, and undefined on a GPU."""
    def fd(self) -> int:
        """A new descriptor of exported memory. It is the caller's: vkAllocateMemory takes it, or os.close. DeviceError where the program
        exported the memory, and so has its descriptor."""
    @property
    def allocation(self) -> int:
        """VkMemoryAllocateInfo.allocationSize."""
    @property
    def dedicated(self) -> bool:
        """True where it was allocated for one buffer alone: Vulkan opens it so, too."""

@final
class Semaphore:
    """A semaphore that Vulkan exported (VK_KHR_external_semaphore_fd, OPAQUE_FD), on its CUDA device: the GPU waits, the host does not.
    Any thread. Where CUDA has no such device it raises DeviceError.

    fd: what vkGetSemaphoreFdKHR gave.
    uuid: as for Memory.
    timeline: it counts. It must be as Vulkan made it.
    """

    def __new__(cls, fd: int, *, uuid: bytes | _Uuid, timeline: bool = False) -> Self: ...
    def wait(self, value: int = 0, stream: int = 0) -> None:
        """What is queued on a CUDA stream from now on waits until Vulkan signalled: for a timeline, until it is at least `value`. Vulkan
        must have been told to signal a binary one, once for each wait.

        stream: a live stream of the device, as `torch.cuda.current_stream().cuda_stream` has it; 0 and 1 are the default one.
        """
    def signal(self, value: int = 0, stream: int = 0) -> None:
        """Signals when what was queued on a CUDA stream so far is done: a timeline gets `value`, which is more than it has. A binary one
        must have been waited for since its last signal."""
    def close(self) -> None:
        """Lets go of it, when what was queued is done. May be called again."""
    @property
    def timeline(self) -> bool:
        """As it was given."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@final
class Texture:
    """An image of the program's, to be written with arrays, by copies in the program's own queue.

    Call it on the thread that made it, and use the queue on no other thread meanwhile. Close it there before the image or the device
    is destroyed. Work that is submitted to the queue later sees what was written, in the same layout. On another queue wait for this
    one first.

    instance, physical_device, device, queue, image: handles, which are alive and belong together. Instance and device are of Vulkan
        1.1 or later.
    queue_family: of the queue, which owns the image (or it is shared by several), and draws or computes.
    format, size: as the image was made, of two dimensions and one sample: VkFormat, and width and height.
    usage: VkImageUsageFlags that it was made with, TRANSFER_DST among them.
    image_layout: VkImageLayout in which it is whenever it is written; 1 is GENERAL.
    extensions, timeline_semaphores: what the device was made with, of what `device_extensions` names. Without them arrays of a GPU go
        by the host.
    path: take this path or fail; `explain` lists them.
    backend: "cuda:1" or "opencl", say, instead of the array's GPU, or of the CPU for arrays of the host.
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
        """Writes an array of its size, of what Viewer.show takes. Row 0 is the image's first. When it returns the array was read and may
        be written again."""
    def explain(self) -> str:
        """What was found of every path, to paste into a bug report. On the texture's thread."""
    def close(self) -> None:
        """Waits for what was written and lets go of the image: at once on its thread, else at the next call there. May be called again."""
    @property
    def size(self) -> tuple[int, int]:
        """As it was given."""
    @property
    def format(self) -> str | None:
        """Its format, as Viewer names it."""
    @property
    def path(self) -> str | None:
        """The path in use; None before the first array."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

def device_extensions(instance: int, physical_device: int) -> tuple[list[str], bool]:
    """Extensions that a device should be made with, of those that its driver has, and whether it has the feature timelineSemaphore,
    for Texture."""
