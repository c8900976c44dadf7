//! [`Element`]: values that are copied between host and device.

use bytemuck::Pod;

/// Values that are copied between host and device as bytes, by `clEnqueueReadBuffer`, `clSetKernelArg` and similar
/// calls: any plain type of which every bit pattern is a valid value.
pub trait Element: Pod + Send + Sync {}

impl<T: Pod + Send + Sync> Element for T {}
