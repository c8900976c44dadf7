//! Vulkan as the maker of what GL and compute devices share by handles: images, buffers and semaphores.
//!
//! GL can open such memory and semaphores but makes none, and memory that CUDA allocates shows wrong pixels as a texture
//! on some drivers. Nothing is drawn or computed by Vulkan. Needs no GL context; stays on the display's thread.

mod device;
mod memory;
mod semaphore;

pub(crate) use device::VulkanDevice;
pub(crate) use memory::VulkanMemory;
pub(crate) use semaphore::VulkanSemaphore;
