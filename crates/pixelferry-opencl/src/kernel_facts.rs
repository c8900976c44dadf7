//! [`Facts`]: what is known of a kernel, asked once and shared by its values.

use super::Param;
use std::sync::OnceLock;

/// Properties of a kernel's parameters and limits, from the driver.
pub struct Facts {
    pub count: usize,
    /// None where the driver does not tell.
    pub params: Option<Vec<Param>>,
    /// Asked once for each device of the context.
    pub limits: Vec<OnceLock<Limits>>,
}

impl Facts {
    pub fn new(count: usize, params: Option<Vec<Param>>, devices: usize) -> Self {
        Self { count, params, limits: (0..devices).map(|_| OnceLock::new()).collect() }
    }
}

/// Limits that a launch on a device is checked against.
pub struct Limits {
    pub items: usize,
    pub required: Option<[usize; 3]>,
    /// True where the last groups may be smaller.
    pub non_uniform: bool,
    pub local_used: u64,
    pub local_has: u64,
}
