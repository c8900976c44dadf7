//! The exported functions. Each checks its arguments with `boundary`, looks up its handles, and leaves the work to safe
//! code.
//!
//! The header says what callers promise: pointers are null or point to what their types say.

pub mod backend;
mod caller_structs;
pub mod display;
pub mod frame;
pub mod link;
pub mod log;
pub mod machine;
pub mod memory;
pub mod objects;
mod results;
pub mod shared_link;
pub mod shown_frame;
pub mod stream;
pub mod target;
pub mod vulkan;
