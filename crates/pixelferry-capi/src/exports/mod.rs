//! The exported functions. Each checks its arguments with `boundary`, looks up its handles, and leaves the work to safe
//! code.
//!
//! The header says what callers promise: pointers are null or point to what their types say.

pub mod backend;
pub mod display;
pub mod frame;
mod given;
pub mod link;
pub mod log;
pub mod machine;
pub mod memory;
pub mod objects;
mod results;
pub mod shared;
pub mod shown;
pub mod stream;
pub mod target;
pub mod vulkan;
