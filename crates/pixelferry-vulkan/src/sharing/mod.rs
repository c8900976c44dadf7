//! Memory and semaphores of Vulkan that other APIs can open, and memory of others that Vulkan opens.
//!
//! For displays on any API that have a Vulkan device, or make one: [`Sharing`] is a device's functions for it, made of handles that the
//! display keeps alive. What it makes is destroyed when dropped; [`Allocation`] can go to another thread.
//!
//! | to find | look in |
//! |---|---|
//! | what a device was made with, and its errors | [`Sharing`], [`failure`] |
//! | who a physical device is | [`Ids`] |
//! | the loader and an instance of one's own | [`loader`], [`Instance`] |
//! | what to switch on when a device is made | [`DeviceNeeds`], [`DEVICE_EXTENSIONS`] |
//! | what a device hands over and takes, as data | [`Sharing::imports`], [`Sharing::exports`], [`Sharing::semaphores`], [`Sharing::opened_by_kernels`] |
//! | buffers and images with memory of their own | [`Sharing::exported_buffer`], [`Sharing::exported_image`], [`Allocation`] |
//! | buffers that stay mapped, and those of this device alone | [`Sharing::mapped_buffer`], [`Sharing::local_buffer`], [`Sharing::local_image`] |
//! | memory of a driver on the CPU at an address of the host | [`MappedMemory`] |
//! | memory of others, and pages of the host | [`Sharing::imported_buffer`], [`Sharing::imported_host_buffer`], [`Allocation::import`] |
//! | semaphores | [`Sharing::exported_semaphore`], [`Sharing::imported_semaphore`], [`Semaphore`] |
//! | handles of this operating system | [`MEMORY_EXTENSION`], [`SEMAPHORE_EXTENSION`], [`MEMORY_HANDLE`] |
//!
//! File descriptors (`VK_KHR_external_memory_fd`, `VK_KHR_external_semaphore_fd`) are run by the tests of the displays. NT
//! handles (`VK_KHR_external_memory_win32`, `VK_KHR_external_semaphore_win32`) compile, and were never run.

mod allocation;
mod buffer;
mod caps;
mod device;
mod error;
mod host;
mod ids;
mod image;
mod instance;
mod mapped;
mod memory_host;
#[cfg_attr(unix, path = "os/unix.rs")]
#[cfg_attr(windows, path = "os/windows.rs")]
mod os;
mod own_device;
mod semaphore;
mod wanted;

pub use allocation::{Allocation, Object};
pub use device::{Sharing, enabled};
pub use error::failure;
pub use ids::Ids;
pub use image::{pixel_format, vk_format};
pub use instance::{Candidate, Instance, loader, loader_support};
pub use mapped::MappedMemory;
pub use memory_host::HOST_EXTENSION;
pub use os::{MEMORY_EXTENSION, MEMORY_HANDLE, SEMAPHORE_EXTENSION};
pub use own_device::OwnDevice;
pub use semaphore::Semaphore;
pub use wanted::{DEVICE_EXTENSIONS, DeviceExtension, DeviceNeeds};
