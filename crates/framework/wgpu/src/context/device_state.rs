//! State that the display shares with its objects, and by which they are distinguished from those of other displays.

use crate::context::device::WgpuDevice;
use crate::context::format::{TEXTURE_USAGE, bits};
use crate::context::gl::Gl;
use crate::context::vulkan::Vulkan;
use interop_core::describe::process::is_forked;
use interop_core::devices::maker_object::Maker;
use interop_core::{DisplayCaps, Result};
use std::ops::Deref;
use std::sync::Arc;

/// State of one wgpu device.
pub(crate) struct DeviceState {
    pub base: WgpuDevice,
    /// True where an engine created the device; its loss is then not reported.
    pub is_engines: bool,
    pub caps: DisplayCaps,
    pub limits: wgpu::Limits,
    /// True where vertex buffers may also hold indices (not on every OpenGL).
    pub index_buffers: bool,
    /// True where 32-bit floats can be drawn to (not on every OpenGL).
    pub float_targets: bool,
    /// Vulkan objects of the device, if its API is Vulkan.
    pub vulkan: Option<Vulkan>,
    /// OpenGL objects of the device, if its API is OpenGL.
    pub gl: Option<Arc<Gl>>,
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
    /// Checks that a device of this crate is not lost: wgpu learns this when it is polled, and reports no error for
    /// objects made from a lost device.
    pub(crate) fn check_alive(&self) -> Result<()> {
        // First, because wgpu ends the program if its OpenGL context cannot be made current.
        self.collect()?;
        self.poll(wgpu::PollType::Poll)?;
        self.scoped(|| ())
    }

    /// Frees memory outside wgpu that nothing reads any more. Fails if the OpenGL context cannot be made current.
    pub(crate) fn collect(&self) -> Result<()> {
        self.gl.as_ref().map_or(Ok(()), |gl| gl.collect())
    }

    /// Makes the device's writes to mapped memory visible to the host once this submission has completed.
    pub(crate) fn show_host(&self) -> Result<wgpu::SubmissionIndex> {
        if let Some(vulkan) = &self.vulkan {
            self.record_apart(|encoder| vulkan.show_host(encoder))?;
        }
        self.flush()
    }

    /// Returns the usage of textures of this format.
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
