//! Limits of a device.

use crate::guard::TextError;
use interop_core::{DeviceIdentity, Error};

/// Limits of a device for kernels.
#[derive(Debug, Clone)]
pub struct Limits {
    pub(crate) device: String,
    pub(crate) memories: usize,
    pub(crate) groups: u32,
    pub(crate) items: u32,
}

impl Limits {
    /// Creates the limits of a device: `memories`, the storage buffers of one kernel including the target's; `groups`,
    /// the groups of a grid in one direction, at least 1; `items`, the work items of a group.
    pub fn new(device: &DeviceIdentity, memories: u32, groups: u32, items: u32) -> Self {
        Self { device: device.to_string(), memories: memories as usize, groups: groups.max(1), items }
    }

    /// Returns the error for a kernel that could not be built.
    pub fn refused(&self, kernel: &str, error: impl Into<TextError>) -> Error {
        let log = error.into().to_string();
        Error::KernelBuild { kernel: kernel.to_owned(), device: self.device.clone(), log }
    }

    pub(crate) fn unsupported(&self, reason: String) -> Error {
        Error::unsupported(self.device.clone(), reason)
    }
}
