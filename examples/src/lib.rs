//! What the larger examples are made of: the two engines' camera and kernels, and the stages of `overlap`.

pub mod engine;
pub mod overlap;
