//! The display's context for a compute backend that works in it: its commands and the draws are one queue.

mod bind_range;
mod bindings;
mod buffer;
mod device;
mod graves;
mod program;

pub use buffer::LentBuffer;
pub use device::{ComputeLimits, GlDevice};
pub use program::ComputeProgram;

pub(crate) use graves::Graves;
