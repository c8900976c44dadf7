//! Vulkan itself as a display of pixelferry: an engine's own instance, device and queue.
//!
//! | to get a display | call |
//! |---|---|
//! | on an engine's device, by ash 0.38 | [`VulkanEngine::new`], [`VulkanDisplay::from_engine`] |
//! | on an engine's device, by raw handles | [`VulkanEngine::from_raw`], [`VulkanDisplay::from_engine`] |
//! | with a device of its own | [`VulkanDisplay::headless`] |
//!
//! | to | call |
//! |---|---|
//! | see what the engine should switch on | [`device_extensions`], [`device_extensions_raw`] |
//! | draw a frame | [`VulkanDisplay::surface_frame`], in a submission of the engine's |
//! | copy a frame into an image of the engine's | [`VulkanDisplay::record_blit`] |
//! | let kernels read or write an image or buffer of the engine's | [`VulkanDisplay::engine_image`], [`VulkanDisplay::engine_buffer`] |
//! | read frames on another queue than the display's | [`VulkanEngine::read_by`], [`VulkanDisplay::read_until`] |
//!
//! # Threads
//! A [`VulkanDisplay`] and all that it made stay on one thread; nothing here is `Send`. The engine's queue may be used on others:
//! the display submits under the engine's lock ([`QueueLock`]).
//!
//! # Sharing
//! Without any extension: buffers that stay mapped, and copies from them. With extensions ([`DEVICE_EXTENSIONS`]): pages of
//! the host, memory of a compute device, buffers and images that compute devices open, and semaphores for which both sides'
//! queues wait. Linear memory is given to the engine in place, as storage or for a copy.
//!
//! The display itself draws nothing. Reading back copies what the engine gets, in the engine's queue.

mod blit;
mod commands;
mod device_state;
mod display;
mod engine;
mod engine_surfaces;
mod frame;
mod functions;
mod headless;
mod identity;
mod in_place;
mod memory;
mod needs;
mod offscreen;
mod pool;
mod queue_lock;
mod scratch;
mod semaphore;
mod shown;
mod staging;
mod stored;
mod submissions;
mod transfer;

pub use blit::BlitTarget;
pub use display::VulkanDisplay;
pub use engine::{RawVulkan, VulkanEngine};
pub use engine_surfaces::{EngineBuffer, EngineImage};
pub use frame::{TimelinePoint, VulkanFrame, VulkanObject};
pub use headless::VulkanOptions;
pub use needs::{device_extensions, device_extensions_raw};
pub use queue_lock::{CLock, QueueLock};
pub use vulkan_sharing::{DEVICE_EXTENSIONS, DeviceExtension, DeviceNeeds};

/// The version of ash whose types appear in this API.
pub use ash;
