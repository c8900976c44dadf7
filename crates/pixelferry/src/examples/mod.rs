//! Types of the core given on with examples that run on threads and plain memory, which the core knows nothing of.

pub mod devices;
pub mod frames;
pub mod kernels;
pub mod reports;
