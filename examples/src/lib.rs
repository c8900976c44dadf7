//! What the larger examples are made of: the two engines' camera and kernels, the stages of `overlap`, and
//! kernels of other libraries.

pub mod engine;
pub mod overlap;
pub mod own_kernels;
