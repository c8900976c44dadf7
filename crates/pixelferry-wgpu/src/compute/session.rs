//! State shared by everything that one backend made.

use crate::WgpuDevice;
use crate::compute::numbers::Numbers;
use interop_core::devices::owned::Maker;
use interop_core::{ComputeCaps, DeviceIdentity, Result};
use std::sync::{Mutex, OnceLock, PoisonError};
use wgsl_kernel::Limits;

/// One open device.
pub struct Session {
    pub device: WgpuDevice,
    pub identity: DeviceIdentity,
    pub caps: ComputeCaps,
    pub limits: Limits,
    /// The numbers of launches. Written and recorded by one thread at a time, so that each launch has its own.
    pub numbers: Mutex<Numbers>,
    /// Layout of group 0 of every kernel.
    pub layout: wgpu::BindGroupLayout,
    /// Result of a trial of CUDA kernels: whether they write what they should, or why not; tried when the first is
    /// built.
    #[cfg_attr(not(feature = "cuda"), expect(dead_code))]
    pub cuda: OnceLock<std::result::Result<(), String>>,
}

impl Maker for Session {
    fn name(&self) -> String {
        self.identity.to_string()
    }
}

impl Session {
    /// Runs `f` with the places of launches' numbers.
    pub fn with_numbers<R>(&self, f: impl FnOnce(&mut Numbers) -> R) -> R {
        f(&mut self.numbers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for all that was submitted.
    pub fn finish(&self) -> Result<()> {
        self.device.flush().and_then(|index| self.device.wait(Some(index)))
    }
}
