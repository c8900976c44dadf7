//! The display's context for a compute backend that works in it: its commands and the draws are one queue.

mod bind_range;
mod bindings;
mod buffer;
mod device;
mod program;
mod shape;

pub use buffer::QueueBuffer;
pub use device::{ComputeLimits, GlDevice};
pub use program::ComputeProgram;
pub use shape::ProgramShape;
