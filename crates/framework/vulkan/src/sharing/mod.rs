//! Memory and semaphores of Vulkan that other APIs can open, and memory of others that Vulkan opens.
//!
//! For displays on any API that have or create a Vulkan device. [`SharingDevice`] holds a device's functions for sharing,
//! loaded from handles that the display keeps alive. Its objects are destroyed when dropped; an [`Allocation`] can move
//! to another thread.
//!
//! | to find | look in |
//! |---|---|
//! | the extensions of a device, and its errors | [`SharingDevice`], [`failure`] |
//! | the identity of a physical device | [`Ids`] |
//! | the loader and an instance | [`loader`], [`Instance`] |
//! | the extensions to enable when a device is created | [`DeviceNeeds`], [`DEVICE_EXTENSIONS`] |
//! | the memory and semaphores that a device exports and imports, as data | [`SharingDevice::imports`], [`SharingDevice::exports`],
//! [`SharingDevice::semaphores`], [`SharingDevice::opened_by_kernels`] |
//! | buffers and images with memory of their own | [`SharingDevice::exported_buffer`], [`SharingDevice::exported_image`], [`Allocation`] |
//! | mapped buffers, and buffers and images for this device alone | [`SharingDevice::mapped_buffer`],
//! [`SharingDevice::local_buffer`], [`SharingDevice::local_image`] |
//! | memory of a CPU driver at a host address | [`MappedMemory`] |
//! | imported memory and host pages | [`SharingDevice::imported_buffer`], [`SharingDevice::imported_host_buffer`],
//! [`Allocation::import`] |
//! | semaphores | [`SharingDevice::exported_semaphore`], [`SharingDevice::imported_semaphore`], [`Semaphore`] |
//! | the operating system's handle types | [`MEMORY_EXTENSION`], [`SEMAPHORE_EXTENSION`], [`MEMORY_HANDLE`] |
//!
//! File descriptors (`VK_KHR_external_memory_fd`, `VK_KHR_external_semaphore_fd`) are covered by the tests of the
//! displays. NT handles (`VK_KHR_external_memory_win32`, `VK_KHR_external_semaphore_win32`) compile, but have never
//! been run.

mod allocation;
mod buffer;
mod caps;
mod device;
mod device_needs;
mod error;
mod host;
mod ids;
mod image;
mod instance;
mod mapped_memory;
mod memory_host;
#[cfg_attr(unix, path = "os/unix.rs")]
#[cfg_attr(windows, path = "os/windows.rs")]
mod os;
mod own_device;
mod semaphore;

pub use allocation::{Allocation, Object};
pub use device::{SharingDevice, enabled};
pub use device_needs::{DEVICE_EXTENSIONS, DeviceExtension, DeviceNeeds};
pub use error::failure;
pub use ids::Ids;
pub use image::{pixel_format, vk_format};
pub use instance::{Candidate, Instance, loader, loader_support};
pub use mapped_memory::MappedMemory;
pub use memory_host::HOST_EXTENSION;
pub use os::{MEMORY_EXTENSION, MEMORY_HANDLE, SEMAPHORE_EXTENSION};
pub use own_device::OwnDevice;
pub use semaphore::Semaphore;
