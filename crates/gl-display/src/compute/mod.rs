//! The display's context for a compute backend that works in it: its commands and the draws are one queue.

mod bind_range;
mod bindings;
mod buffer;
mod deferred_deletes;
mod device;
mod program;

pub use buffer::QueueBuffer;
pub use device::{ComputeLimits, GlDevice};
pub use program::ComputeProgram;

pub(crate) use deferred_deletes::DeferredDeletes;
