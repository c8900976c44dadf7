"""Memory, semaphores and images of the program's own Vulkan, for arrays. Linux only."""

from ._pixelferry import _VulkanMemory as Memory
from ._pixelferry import _VulkanSemaphore as Semaphore
from ._pixelferry import _VulkanTexture as Texture
from ._pixelferry import device_extensions

__all__ = ["Memory", "Semaphore", "Texture", "device_extensions"]
