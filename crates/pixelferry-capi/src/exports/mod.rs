//! The exported functions. Each checks what it was given by `boundary`, looks its handles up, and leaves the work to safe code.
//!
//! The header says what a caller promises: pointers are null or point to what their types say.

mod backend;
mod display;
mod frame;
mod given;
mod link;
mod machine;
mod memory;
mod results;
mod shown;
mod vulkan;
