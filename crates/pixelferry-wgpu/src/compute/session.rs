//! State shared by everything that one backend made.

use crate::WgpuDevice;
use crate::compute::numbers::{Numbers, texture_layout};
use crate::context::vulkan::Opener;
use interop_core::devices::owned::Maker;
use interop_core::{ComputeCaps, DeviceIdentity, Result};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use wgsl_kernel::Limits;

/// One open device.
pub struct Session {
    pub device: WgpuDevice,
    pub identity: DeviceIdentity,
    pub caps: ComputeCaps,
    pub limits: Limits,
    /// Opens memory of others, where Vulkan drives the device.
    pub opener: Option<Opener>,
    /// Bytes of numbers that commands themselves carry.
    pub immediates: usize,
    /// The numbers of launches. Written and recorded by one thread at a time, so that each launch has its own.
    pub numbers: Mutex<Numbers>,
    /// Layout of group 0 of every kernel that writes linear memory.
    pub layout: wgpu::BindGroupLayout,
    /// Layouts of group 0 of kernels that store to textures, made when they are first needed.
    pub texture_layouts: Mutex<HashMap<wgpu::TextureFormat, wgpu::BindGroupLayout>>,
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

    /// Layout of group 0 of kernels that store to textures of this format.
    pub fn texture_layout(&self, format: wgpu::TextureFormat) -> Result<wgpu::BindGroupLayout> {
        let mut layouts = self.texture_layouts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layout) = layouts.get(&format) {
            return Ok(layout.clone());
        }
        let layout = self.device.scoped(|| texture_layout(&self.device.device, format))?;
        layouts.insert(format, layout.clone());
        Ok(layout)
    }

    /// Waits for all that was submitted.
    pub fn finish(&self) -> Result<()> {
        self.device.flush().and_then(|index| self.device.wait(Some(index)))
    }
}
