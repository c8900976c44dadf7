//! The display's context for a compute backend that works in it: its commands and the draws form one queue.

mod bind_range;
#[cfg(feature = "compute")]
mod bindings;
mod buffer;
mod device;
mod opener;
#[cfg(feature = "compute")]
pub(crate) mod program;
#[cfg(feature = "compute")]
pub(crate) mod semaphore;
#[cfg(feature = "compute")]
pub(crate) mod shape;
pub(crate) mod texture;

pub(crate) use buffer::{LentBuffer, QueueBuffer};
pub use device::GlDevice;
pub(crate) use texture::TextureHandle;
