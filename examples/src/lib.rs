//! Parts of the larger examples: the kernel of `film`, and kernels of other libraries.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

pub mod film;
pub mod own_kernels;
