//! What the display and all its objects know, and how they tell their own from those of others.

use crate::error::{failure, in_scopes};
use crate::format::{TEXTURE_USAGE, bits};
use crate::gl::Gl;
use crate::vulkan::Vulkan;
use interop_core::describe::panics::catch;
use interop_core::devices::owned::Maker;
use interop_core::{DeviceIdentity, DisplayCaps, Error, Result};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

/// Why a device was lost, once it was.
pub(crate) type Loss = Arc<OnceLock<String>>;

/// One wgpu device.
pub(crate) struct Shared {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub identity: DeviceIdentity,
    pub caps: DisplayCaps,
    pub limits: wgpu::Limits,
    /// Set by the device's callback, where the device is ours.
    pub loss: Loss,
    /// Whether buffers of vertices may hold indices, too (not on every OpenGL).
    pub index_buffers: bool,
    /// Whether 32-bit floats are drawn to (not on every OpenGL).
    pub float_targets: bool,
    /// Vulkan's end of the device, where it is one.
    pub vulkan: Option<Vulkan>,
    /// OpenGL's end of it, where it is one.
    pub gl: Option<Rc<Gl>>,
}

/// The parts that differ from device to device.
pub(crate) struct Parts {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub identity: DeviceIdentity,
    pub caps: DisplayCaps,
    pub loss: Loss,
    pub index_buffers: bool,
    pub float_targets: bool,
    pub vulkan: Option<Vulkan>,
    pub gl: Option<Rc<Gl>>,
}

impl Maker for Shared {
    fn name(&self) -> String {
        self.identity.to_string()
    }
}

impl Shared {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { device, queue, identity, caps, loss, index_buffers, float_targets, vulkan, gl } = parts;
        Self { limits: device.limits(), device, queue, identity, caps, loss, index_buffers, float_targets, vulkan, gl }
    }

    /// Runs `f` and gives what wgpu reports of it as an error of `operation`.
    pub(crate) fn scoped<T>(&self, operation: &'static str, f: impl FnOnce() -> T) -> Result<T> {
        if let Some(reason) = self.loss.get() {
            return Err(self.failure(operation, format!("device lost: {reason}"), LOST));
        }
        in_scopes(&self.device, &self.identity, operation, f)
    }

    /// Records commands and submits them, with all that was written to the queue before.
    pub(crate) fn submit(
        &self,
        operation: &'static str,
        record: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<wgpu::SubmissionIndex> {
        self.scoped(operation, || {
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            record(&mut encoder);
            self.queue.submit([encoder.finish()])
        })
    }

    /// Submits what was written to the queue; done when all before is.
    pub(crate) fn flush(&self, operation: &'static str) -> Result<wgpu::SubmissionIndex> {
        self.scoped(operation, || self.queue.submit([]))
    }

    /// Waits for a submission, or for all of them.
    pub(crate) fn wait(&self, operation: &'static str, index: Option<wgpu::SubmissionIndex>) -> Result<()> {
        let poll = wgpu::PollType::Wait { submission_index: index, timeout: None };
        self.poll(operation, poll)
    }

    /// Lets callbacks of finished work run.
    pub(crate) fn poll(&self, operation: &'static str, poll: wgpu::PollType) -> Result<()> {
        self.scoped(operation, || {
            // wgpu panics here where the device is lost and has no other way of saying it.
            match catch(|| self.device.poll(poll)) {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) => Err(self.failure(operation, error.to_string(), "")),
                Err(_) => Err(self.failure(operation, "the device cannot be waited for".into(), LOST)),
            }
        })?
    }

    /// Finds out whether the device is still there, where it is ours: wgpu tells it when it is polled, and lets everything
    /// that is made of a lost device pass without an error.
    pub(crate) fn check_alive(&self, operation: &'static str) -> Result<()> {
        // First, as wgpu ends the program where OpenGL does not give it its context.
        self.collect(operation)?;
        self.poll(operation, wgpu::PollType::Poll)?;
        self.scoped(operation, || ())
    }

    /// Frees memory beside wgpu's that nothing reads any more. Fails where OpenGL does not give its context.
    pub(crate) fn collect(&self, operation: &'static str) -> Result<()> {
        self.gl.as_ref().map_or(Ok(()), |gl| gl.collect(operation))
    }

    /// What textures of this format are for.
    pub(crate) fn texture_usage(&self, format: wgpu::TextureFormat) -> wgpu::TextureUsages {
        if self.is_drawn_to(format) { TEXTURE_USAGE } else { TEXTURE_USAGE - wgpu::TextureUsages::RENDER_ATTACHMENT }
    }

    pub(crate) fn is_drawn_to(&self, format: wgpu::TextureFormat) -> bool {
        self.float_targets || bits(format).is_none()
    }

    pub(crate) fn failure(&self, operation: &'static str, code_name: String, hint: &str) -> Error {
        failure(&self.identity, operation, 0, code_name, hint)
    }

    pub(crate) fn unsupported(&self, operation: &'static str, reason: impl Into<String>) -> Error {
        Error::Unsupported { operation, device: self.identity.to_string(), reason: reason.into() }
    }
}

const LOST: &str = "The driver was reset; make a new device, display and links.";

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(vulkan) = &self.vulkan {
            vulkan.take_back(|| self.wait("drop", None));
        }
    }
}
