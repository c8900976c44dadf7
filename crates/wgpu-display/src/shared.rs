//! What the display and all its objects know, and how they tell their own from those of others.

use crate::format::{TEXTURE_USAGE, bits};
use crate::gl::Gl;
use crate::painter::Painter;
use crate::splice::Splicer;
use crate::vulkan::Vulkan;
use interop_core::describe::panics::catch;
use interop_core::{DeviceIdentity, DisplayCaps, DriverError, Error, Result, Support};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

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
    pub painter: Painter,
    pub splicer: Splicer,
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

/// wgpu's futures are ready at once on native systems.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match std::pin::pin!(future).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

impl Shared {
    pub(crate) fn new(parts: Parts) -> Result<Self> {
        const OP: &str = "WgpuDisplay";
        let Parts { device, queue, identity, mut caps, loss, index_buffers, float_targets, vulkan, gl } = parts;
        let mut painter = in_scopes(&device, &identity, OP, || Painter::new(&device))?;
        // wgpu takes an extension of OpenGL 3.3 for storage buffers, and its shaders need 4.0.
        if gl.is_some()
            && caps.in_place_images.is_yes()
            && let Err(refused) = in_scopes(&device, &identity, OP, || painter.prove_memory(&device))
        {
            let reason = format!("fragment shaders read no storage buffers on this device: {refused}");
            caps.in_place_images = Support::No(reason);
            // Without the pipeline that is none.
            painter = in_scopes(&device, &identity, OP, || Painter::new(&device))?;
        }
        Ok(Self {
            limits: device.limits(),
            device,
            queue,
            identity,
            caps,
            loss,
            index_buffers,
            float_targets,
            painter,
            splicer: Splicer::default(),
            vulkan,
            gl,
        })
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

    pub(crate) fn foreign(&self, operation: &'static str, object: &'static str) -> Error {
        Error::Foreign { operation, object, device: self.identity.to_string() }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(vulkan) = &self.vulkan {
            vulkan.take_back(|| self.wait("drop", None));
        }
    }
}

const LOST: &str = "The driver was reset; make a new device, display and links.";

pub(crate) fn failure(
    identity: &DeviceIdentity,
    operation: &'static str,
    code: i64,
    code_name: String,
    hint: &str,
) -> Error {
    DriverError { operation, device: identity.to_string(), code, code_name, hint: hint.to_owned() }.into()
}

/// wgpu tells causes in lines below each other.
fn one_line(description: &str) -> String {
    let lines: Vec<_> = description.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" / ")
}

/// Without scopes wgpu calls the device's handler, which by default ends the program.
fn in_scopes<T>(
    device: &wgpu::Device,
    identity: &DeviceIdentity,
    operation: &'static str,
    f: impl FnOnce() -> T,
) -> Result<T> {
    use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
    let scopes = [Internal, OutOfMemory, Validation].map(|filter| device.push_error_scope(filter));
    let value = f();
    let mut first = None;
    for scope in scopes.into_iter().rev() {
        first = first.or(now(scope.pop()).flatten());
    }
    let (name, hint) = match first {
        None => return Ok(value),
        Some(wgpu::Error::OutOfMemory { source }) => {
            let hint = "Use a smaller surface or fewer slots, or close other programs that use the GPU.";
            (format!("out of memory: {source}"), hint)
        }
        Some(wgpu::Error::Validation { description, .. }) => (format!("refused: {}", one_line(&description)), ""),
        Some(wgpu::Error::Internal { description, .. }) => (format!("internal error: {}", one_line(&description)), ""),
    };
    Err(failure(identity, operation, 0, name, hint))
}
