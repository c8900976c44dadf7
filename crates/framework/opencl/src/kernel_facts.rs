//! [`Facts`]: properties of a kernel, queried once and shared by its clones.

use super::Param;
use std::sync::OnceLock;

/// Parameters and limits of a kernel that the driver reports.
pub struct Facts {
    pub count: usize,
    /// `None` where the driver does not report them.
    pub params: Option<Vec<Param>>,
    /// Queried once for each device of the context.
    pub limits: Vec<OnceLock<Limits>>,
}

impl Facts {
    pub fn new(count: usize, params: Option<Vec<Param>>, devices: usize) -> Self {
        Self { count, params, limits: (0..devices).map(|_| OnceLock::new()).collect() }
    }
}

/// Limits against which a launch on a device is checked.
pub struct Limits {
    pub items: usize,
    pub required: Option<[usize; 3]>,
    /// True where the last groups may be smaller.
    pub non_uniform: bool,
    pub local_used: u64,
    pub local_has: u64,
}
