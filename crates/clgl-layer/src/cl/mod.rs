//! OpenCL's side: the functions behind the layer, and what is made of them.

pub mod driver;
pub mod handles;
pub mod memory;
