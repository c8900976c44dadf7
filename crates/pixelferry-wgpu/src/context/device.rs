//! [`WgpuDevice`].

use crate::context::error::{Loss, failure, in_scopes};
use crate::context::store_formats::StoreFormats;
use crate::context::vulkan::raw_buffer;
use interop_core::describe::panics::catch;
use interop_core::{DeviceIdentity, Error, QueueId, RawMemory, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A wgpu device and its queue, with what wgpu reports of calls as errors of theirs. Any thread may use it.
#[derive(Clone)]
pub struct WgpuDevice {
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// Identity of the device.
    pub identity: DeviceIdentity,
    /// Set by the device's callback, where the device is ours.
    pub(crate) loss: Loss,
    recorded: Arc<Mutex<Recorded>>,
    /// What its compute shaders store to.
    pub(crate) stores: Arc<StoreFormats>,
}

impl std::fmt::Debug for WgpuDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WgpuDevice").field("identity", &self.identity).finish_non_exhaustive()
    }
}

/// Commands that are not submitted yet.
#[derive(Debug, Default)]
struct Recorded {
    /// In their order, before `encoder`.
    finished: Vec<wgpu::CommandBuffer>,
    encoder: Option<wgpu::CommandEncoder>,
    calls: usize,
    /// Draws that are to follow, each with what is recorded before it.
    awaited: usize,
}

/// What is recorded goes with a draw that follows, while this lives; without one at its end.
pub(crate) struct Together(WgpuDevice);

impl Drop for Together {
    fn drop(&mut self) {
        self.0.recorded().awaited -= 1;
        if let Err(error) = self.0.submit_recorded() {
            tracing::warn!(%error, "recorded commands could not be submitted");
        }
    }
}

/// Calls of [`WgpuDevice::record`] that wait for a submission at most, so that a device does not idle for long.
const MOST_RECORDED: usize = 4;

#[cfg_attr(not(feature = "compute"), allow(dead_code, reason = "the backend alone calls some of it"))]
impl WgpuDevice {
    pub(crate) fn new(
        adapter: &wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
        identity: DeviceIdentity,
        loss: Loss,
    ) -> Self {
        let stores = Arc::new(StoreFormats::of(adapter, &device));
        Self { device, queue, identity, loss, recorded: Arc::default(), stores }
    }

    /// Its queue, as the core tells queues apart.
    pub(crate) fn queue_id(&self) -> QueueId {
        QueueId::of(&self.loss)
    }

    /// A buffer of this device by Vulkan's names, where Vulkan drives it.
    pub(crate) fn raw_vulkan(&self, buffer: &wgpu::Buffer) -> Option<RawMemory> {
        raw_buffer(&self.device, buffer)
    }

    /// Runs `f` and gives what wgpu reports of it as an error.
    pub(crate) fn scoped<T>(&self, f: impl FnOnce() -> T) -> Result<T> {
        if let Some(reason) = self.loss.get() {
            return Err(self.failure(format!("device lost: {reason}"), LOST));
        }
        in_scopes(&self.device, &self.identity, f)
    }

    /// Records commands that are submitted with the next ones, or after a few more calls: a submission costs more than what
    /// is in it. `record` may not call this device's own functions.
    ///
    /// Whoever then writes by [`wgpu::Queue`] what these commands use, or gives it to others who submit, calls
    /// [`WgpuDevice::submit_recorded`] first. The other functions here do so themselves.
    pub(crate) fn record(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<()> {
        let mut recorded = self.recorded();
        self.scoped(|| {
            record(self.encoder(&mut recorded));
            recorded.calls += 1;
            if recorded.calls >= MOST_RECORDED {
                self.submit_all(&mut recorded);
            }
        })
    }

    /// Records by an API of the driver's, which wgpu allows only where nothing else is recorded into the encoder. Otherwise as
    /// [`WgpuDevice::record`].
    pub(crate) fn record_apart<T>(&self, record: impl FnOnce(&mut wgpu::CommandEncoder) -> T) -> Result<T> {
        let mut recorded = self.recorded();
        self.scoped(|| {
            let before = recorded.encoder.take().map(wgpu::CommandEncoder::finish);
            recorded.finished.extend(before);
            let done = record(self.encoder(&mut recorded));
            let apart = recorded.encoder.take().map(wgpu::CommandEncoder::finish);
            recorded.finished.extend(apart);
            recorded.calls += 1;
            if recorded.calls >= MOST_RECORDED {
                self.submit_all(&mut recorded);
            }
            done
        })
    }

    /// Records commands and submits them, after all that was recorded and written to the queue before. `record` may not call
    /// this device's own functions.
    pub(crate) fn submit(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<wgpu::SubmissionIndex> {
        let mut recorded = self.recorded();
        self.scoped(|| {
            record(self.encoder(&mut recorded));
            self.submit_all(&mut recorded)
        })
    }

    /// Submits what was recorded and what was written to the queue; done when all before is.
    pub(crate) fn flush(&self) -> Result<wgpu::SubmissionIndex> {
        let mut recorded = self.recorded();
        self.scoped(|| self.submit_all(&mut recorded))
    }

    /// [`WgpuDevice::flush`], except for what goes with a draw that follows.
    pub(crate) fn flush_alone(&self) -> Result<Option<wgpu::SubmissionIndex>> {
        let is_awaited = self.recorded().awaited > 0;
        if is_awaited { Ok(None) } else { self.flush().map(Some) }
    }

    /// Lets what is recorded go with a draw that follows.
    pub(crate) fn with_the_draw(&self) -> Together {
        self.recorded().awaited += 1;
        Together(self.clone())
    }

    /// Submits what was recorded, if anything was.
    pub(crate) fn submit_recorded(&self) -> Result<()> {
        let mut recorded = self.recorded();
        if recorded.encoder.is_none() && recorded.finished.is_empty() {
            return Ok(());
        }
        self.scoped(|| self.submit_all(&mut recorded)).map(drop)
    }

    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn encoder<'r>(&self, recorded: &'r mut Recorded) -> &'r mut wgpu::CommandEncoder {
        let new = || self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        recorded.encoder.get_or_insert_with(new)
    }

    fn submit_all(&self, recorded: &mut Recorded) -> wgpu::SubmissionIndex {
        recorded.calls = 0;
        let last = recorded.encoder.take().map(wgpu::CommandEncoder::finish);
        self.queue.submit(recorded.finished.drain(..).chain(last))
    }

    /// Waits for a submission, or for all that was recorded and submitted.
    pub fn wait(&self, index: Option<wgpu::SubmissionIndex>) -> Result<()> {
        if index.is_none() {
            self.submit_recorded()?;
        }
        let poll = wgpu::PollType::Wait { submission_index: index, timeout: None };
        self.poll(poll)
    }

    /// Lets callbacks of finished work run.
    pub(crate) fn poll(&self, poll: wgpu::PollType) -> Result<()> {
        self.scoped(|| {
            // wgpu panics here where the device is lost and has no other way of saying it.
            match catch(|| self.device.poll(poll)) {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) => Err(self.failure(error.to_string(), "")),
                Err(_) => Err(self.failure("the device cannot be waited for".into(), LOST)),
            }
        })?
    }

    /// An error of a call by wgpu's own words.
    pub(crate) fn failure(&self, code_name: String, hint: &str) -> Error {
        failure(&self.identity, 0, code_name, hint)
    }

    /// The device cannot do this.
    pub(crate) fn unsupported(&self, reason: impl Into<String>) -> Error {
        Error::unsupported(&self.identity, reason)
    }
}

const LOST: &str = "The driver was reset; make a new device, display and links.";
