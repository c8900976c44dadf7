//! Vulkan allocates the images, buffers and semaphores that GL and compute devices share through handles.
//!
//! GL can open such memory and semaphores but not create them, and memory that CUDA allocates shows wrong pixels as a
//! texture on some drivers. Vulkan neither draws nor computes here. It needs no GL context and stays on the display's
//! thread.

mod device;
mod memory;
mod semaphore;

pub(crate) use device::VulkanDevice;
pub(crate) use memory::VulkanMemory;
pub(crate) use pixelferry_vulkan::sharing::loader_support;
pub(crate) use semaphore::VulkanSemaphore;
