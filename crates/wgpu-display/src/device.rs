//! [`WgpuDevice`].

use crate::error::{Loss, failure, in_scopes};
use interop_core::describe::panics::catch;
use interop_core::{DeviceIdentity, Error, Result};
use std::sync::Arc;

/// A wgpu device and its queue, with what wgpu reports of calls as errors of theirs. Any thread may use it.
#[derive(Debug, Clone)]
pub struct WgpuDevice {
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// Who it is.
    pub identity: DeviceIdentity,
    /// Set by the device's callback, where the device is ours.
    pub(crate) loss: Loss,
}

impl WgpuDevice {
    /// True of clones of one device. (Of `wgpu::Device`s that cannot be asked: those of two instances may compare equal.)
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.loss, &other.loss)
    }

    /// Runs `f` and gives what wgpu reports of it as an error of `operation`.
    pub fn scoped<T>(&self, operation: &'static str, f: impl FnOnce() -> T) -> Result<T> {
        if let Some(reason) = self.loss.get() {
            return Err(self.failure(operation, format!("device lost: {reason}"), LOST));
        }
        in_scopes(&self.device, &self.identity, operation, f)
    }

    /// Records commands and submits them, with all that was written to the queue before.
    pub fn submit(
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
    pub fn flush(&self, operation: &'static str) -> Result<wgpu::SubmissionIndex> {
        self.scoped(operation, || self.queue.submit([]))
    }

    /// Waits for a submission, or for all of them.
    pub fn wait(&self, operation: &'static str, index: Option<wgpu::SubmissionIndex>) -> Result<()> {
        let poll = wgpu::PollType::Wait { submission_index: index, timeout: None };
        self.poll(operation, poll)
    }

    /// Lets callbacks of finished work run.
    pub fn poll(&self, operation: &'static str, poll: wgpu::PollType) -> Result<()> {
        self.scoped(operation, || {
            // wgpu panics here where the device is lost and has no other way of saying it.
            match catch(|| self.device.poll(poll)) {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) => Err(self.failure(operation, error.to_string(), "")),
                Err(_) => Err(self.failure(operation, "the device cannot be waited for".into(), LOST)),
            }
        })?
    }

    /// An error of a call by wgpu's own words.
    pub fn failure(&self, operation: &'static str, code_name: String, hint: &str) -> Error {
        failure(&self.identity, operation, 0, code_name, hint)
    }

    /// The device cannot do this.
    pub fn unsupported(&self, operation: &'static str, reason: impl Into<String>) -> Error {
        Error::Unsupported { operation, device: self.identity.to_string(), reason: reason.into() }
    }
}

const LOST: &str = "The driver was reset; make a new device, display and links.";
