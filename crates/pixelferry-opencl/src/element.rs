//! [`Element`]: values that cross between host and device.

use bytemuck::Pod;

/// Values that cross between host and device as bytes, by `clEnqueueReadBuffer`, `clSetKernelArg` and their like. Any
/// plain type will do of which every pattern of bits is a value.
pub trait Element: Pod + Send + Sync {}

impl<T: Pod + Send + Sync> Element for T {}
