//! OpenCL's side: the functions behind the layer, and wrappers for them.

pub mod driver;
pub mod handles;
pub mod memory;
