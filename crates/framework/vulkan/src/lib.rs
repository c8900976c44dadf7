//! Vulkan as a display of pixelferry, on an engine's own instance, device and queue. With the feature `compute` (on by
//! default) also as a compute backend: [`compute`]. Without the feature `display` only [`sharing`], the functions that
//! the displays of other APIs use to share with Vulkan.
//!
//! | to get a display | call |
//! |---|---|
//! | on an engine's device, by ash 0.38 | [`VulkanEngine::new`], [`VulkanDisplay::from_engine`] |
//! | on an engine's device, by raw handles | [`VulkanEngine::from_raw`], [`VulkanDisplay::from_engine`] |
//! | with a device of its own | [`VulkanDisplay::headless`] |
//!
//! | to | call |
//! |---|---|
//! | find what the engine should enable | [`device_extensions`], [`device_extensions_raw`] |
//! | draw a frame in a submission of the engine | [`VulkanDisplay::surface_frame`] |
//! | copy a frame into an image of the engine | [`VulkanDisplay::record_blit`] |
//! | show frames in an image of the engine: by stores of kernels where that is faster, else copied or drawn |
//! [`VulkanDisplay::image_target`] |
//! | let kernels read or write an image or buffer of the engine | [`VulkanDisplay::engine_image`],
//! [`VulkanDisplay::engine_buffer`] |
//! | let kernels run in the display's queue | [`VulkanBackend::on`] |
//! | read frames on another queue than the display's | [`VulkanEngine::read_by`], [`VulkanDisplay::read_until`] |
//!
//! # Threads
//! Any thread may use a [`VulkanDisplay`], its objects and its backends; links move with
//! [`interop_core::Link::for_any_thread`]. One thread at a time records and submits. The engine may use its queue on other
//! threads: the display submits under the engine's lock ([`QueueLock`]).
//!
//! # Sharing
//! Without any extension, frames pass through buffers that stay mapped, and are copied from there. With extensions
//! ([`DEVICE_EXTENSIONS`]), the display opens host pages and memory of a compute device, exports buffers and images
//! that compute devices open, and shares semaphores for which the queues of both sides wait. The engine receives linear
//! memory in place, as storage or as the source of a copy.
//!
//! Reading back copies the frame that the engine receives, in the engine's queue.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "compute")]
pub mod compute;
#[cfg(feature = "display")]
mod context;
#[cfg(feature = "display")]
mod display;
#[cfg(feature = "display")]
mod draw;
#[cfg(feature = "compute")]
mod launch;
#[cfg(feature = "display")]
mod queue;
pub mod sharing;
#[cfg(feature = "display")]
mod staging;
#[cfg(feature = "display")]
mod surface;

#[cfg(feature = "compute")]
pub use compute::{SPIR_V, SpirV, VulkanBackend};
#[cfg(feature = "display")]
pub use context::engine::{RawVulkan, VulkanEngine};
#[cfg(feature = "display")]
pub use context::headless::VulkanOptions;
#[cfg(feature = "display")]
pub use context::needs::{device_extensions, device_extensions_raw};
#[cfg(feature = "display")]
pub use display::blit::BlitTarget;
#[cfg(feature = "display")]
pub use display::contract::VulkanDisplay;
#[cfg(feature = "display")]
pub use display::engine_surfaces::{EngineBuffer, EngineImage};
#[cfg(feature = "display")]
pub use display::image_target::ImageTarget;
#[cfg(feature = "display")]
pub use queue::queue_lock::{CLock, QueueLock};
pub use sharing::{DEVICE_EXTENSIONS, DeviceExtension, DeviceNeeds};
#[cfg(feature = "display")]
pub use surface::frame::{TimelinePoint, VulkanFrame, VulkanObject};

/// The version of ash whose types appear in this API.
pub use ash;
