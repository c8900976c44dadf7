//! State that the display shares with all its objects, and by which they are told from those of others.

use crate::context::device::WgpuDevice;
use crate::context::format::{TEXTURE_USAGE, bits};
use crate::context::gl::Gl;
use crate::context::vulkan::Vulkan;
use interop_core::describe::process::is_forked;
use interop_core::devices::owned::Maker;
use interop_core::{DisplayCaps, Result};
use std::ops::Deref;
use std::rc::Rc;

/// One wgpu device.
pub(crate) struct DeviceState {
    pub base: WgpuDevice,
    /// Made by an engine, which does not tell when it is lost.
    pub is_engines: bool,
    pub caps: DisplayCaps,
    pub limits: wgpu::Limits,
    /// True where buffers of vertices may hold indices, too (not on every OpenGL).
    pub index_buffers: bool,
    /// True where 32-bit floats are drawn to (not on every OpenGL).
    pub float_targets: bool,
    /// Vulkan's end of the device, where it is one.
    pub vulkan: Option<Vulkan>,
    /// OpenGL's end of it, where it is one.
    pub gl: Option<Rc<Gl>>,
}

/// The parts that differ from device to device.
pub(crate) struct Parts {
    pub base: WgpuDevice,
    pub is_engines: bool,
    pub caps: DisplayCaps,
    pub index_buffers: bool,
    pub float_targets: bool,
    pub vulkan: Option<Vulkan>,
    pub gl: Option<Rc<Gl>>,
}

impl Deref for DeviceState {
    type Target = WgpuDevice;

    fn deref(&self) -> &WgpuDevice {
        &self.base
    }
}

impl Maker for DeviceState {
    fn name(&self) -> String {
        self.identity.to_string()
    }
}

impl DeviceState {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { base, is_engines, caps, index_buffers, float_targets, vulkan, gl } = parts;
        Self { limits: base.device.limits(), base, is_engines, caps, index_buffers, float_targets, vulkan, gl }
    }

    /// Finds out whether the device is still there, where it is ours: wgpu tells it when it is polled, and lets everything
    /// that is made of a lost device pass without an error.
    pub(crate) fn check_alive(&self) -> Result<()> {
        // First, as wgpu ends the program where OpenGL does not give it its context.
        self.collect()?;
        self.poll(wgpu::PollType::Poll)?;
        self.scoped(|| ())
    }

    /// Frees memory beside wgpu's that nothing reads any more. Fails where OpenGL does not give its context.
    pub(crate) fn collect(&self) -> Result<()> {
        self.gl.as_ref().map_or(Ok(()), |gl| gl.collect())
    }

    /// Lets the host see what the device has written to memory that stays mapped, once this submission is done.
    pub(crate) fn show_host(&self) -> Result<wgpu::SubmissionIndex> {
        if let Some(vulkan) = &self.vulkan {
            self.record_apart(|encoder| vulkan.show_host(encoder))?;
        }
        self.flush()
    }

    /// Returns what textures of this format are for.
    pub(crate) fn texture_usage(&self, format: wgpu::TextureFormat) -> wgpu::TextureUsages {
        let drawn = if self.is_drawn_to(format) {
            TEXTURE_USAGE
        } else {
            TEXTURE_USAGE - wgpu::TextureUsages::RENDER_ATTACHMENT
        };
        drawn | self.stores.usage(format)
    }

    pub(crate) fn is_drawn_to(&self, format: wgpu::TextureFormat) -> bool {
        self.float_targets || bits(format).is_none()
    }
}

impl Drop for DeviceState {
    fn drop(&mut self) {
        if is_forked() {
            return std::mem::forget((
                self.base.device.clone(),
                self.base.queue.clone(),
                self.gl.clone(),
                self.vulkan.take(),
            ));
        }
        if let Some(vulkan) = &self.vulkan {
            vulkan.take_back(|| self.wait(None));
        }
    }
}
