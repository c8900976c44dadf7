"""Memory, semaphores and images of the program's own Vulkan, for arrays. Linux."""

from ._pixelferry import _vulkan_device_extensions as device_extensions
from ._pixelferry import _VulkanMemory as Memory
from ._pixelferry import _VulkanSemaphore as Semaphore
from ._pixelferry import _VulkanTexture as Texture

__all__ = ["Memory", "Semaphore", "Texture", "device_extensions"]
