//! What everything made by one backend shares.

use interop_core::devices::owned::Maker;
use interop_core::{ComputeCaps, DeviceIdentity, Result};
use std::sync::{Mutex, PoisonError};
use wgpu_display::WgpuDevice;
use wgsl_kernel::Limits;

/// One open device.
pub struct Session {
    pub device: WgpuDevice,
    pub identity: DeviceIdentity,
    pub caps: ComputeCaps,
    pub limits: Limits,
    /// The launch's numbers. Written and submitted by one thread at a time, so that each launch has its own.
    pub numbers: Mutex<wgpu::Buffer>,
}

impl Maker for Session {
    fn name(&self) -> String {
        self.identity.to_string()
    }
}

impl Session {
    /// Runs `f` with the buffer of the launch's numbers.
    pub fn with_numbers<R>(&self, f: impl FnOnce(&wgpu::Buffer) -> R) -> R {
        f(&self.numbers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for all that was submitted.
    pub fn finish(&self, operation: &'static str) -> Result<()> {
        self.device.flush(operation).and_then(|index| self.device.wait(operation, Some(index)))
    }
}
