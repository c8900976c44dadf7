//! [`WgpuDevice`].

use crate::context::error::{Loss, failure, in_scopes};
use crate::context::store_formats::StoreFormats;
use crate::context::vulkan::raw_buffer;
use interop_core::describe::PlainMutex;
use interop_core::describe::panics::catch;
use interop_core::{DeviceIdentity, Error, QueueId, RawMemory, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// A wgpu device and its queue. Errors that wgpu reports are returned from the calls. Any thread may use it.
#[derive(Clone)]
pub struct WgpuDevice {
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// Identity of the device.
    pub identity: DeviceIdentity,
    /// Set by the device's callback, if this crate opened the device.
    pub(crate) loss: Loss,
    recorded: Arc<PlainMutex<PendingCommands>>,
    /// The formats that its compute shaders store to.
    pub(crate) stores: Arc<StoreFormats>,
}

interop_core::debug_as!(WgpuDevice, |this| identity = &this.identity);

/// Commands that have not been submitted yet.
#[derive(Debug, Default)]
struct PendingCommands {
    /// Finished command buffers, in their order, before `encoder`.
    finished: Vec<wgpu::CommandBuffer>,
    encoder: Option<wgpu::CommandEncoder>,
    calls: usize,
    /// Number of announced draws that follow; the commands recorded before a draw go with it.
    awaited: usize,
}

/// While this lives, recorded commands go with a draw that follows; if none does, they are submitted at its end.
pub(crate) struct Together(WgpuDevice);

impl Drop for Together {
    fn drop(&mut self) {
        self.0.recorded().awaited -= 1;
        if let Err(error) = self.0.submit_recorded() {
            tracing::warn!(%error, "recorded commands could not be submitted");
        }
    }
}

/// A submission whose end can be asked for.
pub(crate) struct Submission {
    pub(crate) index: wgpu::SubmissionIndex,
    /// Set by wgpu, at a poll, after this and all earlier submissions.
    is_done: Arc<AtomicBool>,
}

/// Maximum number of calls of [`WgpuDevice::record`] before a submission, so that a device does not idle for long.
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

    /// Returns the identity of its queue.
    pub(crate) fn queue_id(&self) -> QueueId {
        QueueId::of(&self.loss)
    }

    /// Returns the raw Vulkan handles of a buffer, if the device's API is Vulkan.
    pub(crate) fn raw_vulkan(&self, buffer: &wgpu::Buffer) -> Option<RawMemory> {
        raw_buffer(&self.device, buffer)
    }

    /// Runs `f` and returns the errors that wgpu reports.
    pub(crate) fn scoped<T>(&self, f: impl FnOnce() -> T) -> Result<T> {
        if let Some(reason) = self.loss.get() {
            return Err(self.failure(format!("device lost: {reason}"), LOST));
        }
        in_scopes(&self.device, &self.identity, f)
    }

    /// Records commands that are submitted with the next ones, or after a few more calls: a submission costs more than
    /// the commands in it. `record` must not call this device's own functions.
    ///
    /// Call [`WgpuDevice::submit_recorded`] before a write by [`wgpu::Queue`] to objects that these commands use, and
    /// before other code that submits receives them. The other functions of this type do so themselves.
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

    /// Records by the driver's own API, which wgpu allows only in an encoder of its own. Otherwise like
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

    /// Records commands and submits them, after all earlier records and queue writes. `record` must not call this
    /// device's own functions.
    pub(crate) fn submit(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<wgpu::SubmissionIndex> {
        let mut recorded = self.recorded();
        self.scoped(|| {
            record(self.encoder(&mut recorded));
            self.submit_all(&mut recorded)
        })
    }

    /// Submits recorded commands and queue writes. The submission completes after all earlier work.
    pub(crate) fn flush(&self) -> Result<wgpu::SubmissionIndex> {
        let mut recorded = self.recorded();
        self.scoped(|| self.submit_all(&mut recorded))
    }

    /// [`WgpuDevice::flush`], except for commands that go with a draw that follows.
    pub(crate) fn flush_alone(&self) -> Result<Option<wgpu::SubmissionIndex>> {
        let is_awaited = self.recorded().awaited > 0;
        if is_awaited { Ok(None) } else { self.flush().map(Some) }
    }

    /// Lets recorded commands go with a draw that follows.
    pub(crate) fn with_the_draw(&self) -> Together {
        self.recorded().awaited += 1;
        Together(self.clone())
    }

    /// Submits recorded commands, if there are any.
    pub(crate) fn submit_recorded(&self) -> Result<()> {
        let mut recorded = self.recorded();
        if recorded.encoder.is_none() && recorded.finished.is_empty() {
            return Ok(());
        }
        self.scoped(|| self.submit_all(&mut recorded)).map(drop)
    }

    fn recorded(&self) -> MutexGuard<'_, PendingCommands> {
        self.recorded.lock()
    }

    fn encoder<'r>(&self, recorded: &'r mut PendingCommands) -> &'r mut wgpu::CommandEncoder {
        let new = || self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        recorded.encoder.get_or_insert_with(new)
    }

    fn submit_all(&self, recorded: &mut PendingCommands) -> wgpu::SubmissionIndex {
        recorded.calls = 0;
        let last = recorded.encoder.take().map(wgpu::CommandEncoder::finish);
        self.queue.submit(recorded.finished.drain(..).chain(last))
    }

    /// Waits for a submission, or for everything that was recorded and submitted.
    pub fn wait(&self, index: Option<wgpu::SubmissionIndex>) -> Result<()> {
        if index.is_none() {
            self.submit_recorded()?;
        }
        loop {
            let begun = Instant::now();
            if self.polled(wgpu::PollType::Wait { submission_index: index.clone(), timeout: None })? {
                return Ok(());
            }
            // On OpenGL, wgpu waits for about 2 s at most, and reports a failed wait as a timeout, too.
            if begun.elapsed() < LEAST_TIMEOUT {
                return Err(self.failure("waiting for the device failed".into(), LOST));
            }
        }
    }

    /// Lets [`WgpuDevice::is_done`] answer for the last submission, `index`.
    pub(crate) fn submission(&self, index: wgpu::SubmissionIndex) -> Submission {
        let is_done = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_done);
        self.queue.on_submitted_work_done(move || told.store(true, Ordering::Release));
        Submission { index, is_done }
    }

    /// Returns true where a submission has completed. Does not wait.
    pub(crate) fn is_done(&self, submission: &Submission) -> Result<bool> {
        // A wait with a timeout of 0 would panic where another thread polls at the same time: wgpu-core 30 reads the
        // fence before it looks whether the queue is empty (mended by gfx-rs/wgpu#9958).
        self.poll(wgpu::PollType::Poll)?;
        Ok(submission.is_done.load(Ordering::Acquire))
    }

    /// Runs the callbacks of completed work.
    pub(crate) fn poll(&self, poll: wgpu::PollType) -> Result<()> {
        self.polled(poll).map(drop)
    }

    /// Polls; returns false where the time was over first.
    fn polled(&self, poll: wgpu::PollType) -> Result<bool> {
        self.scoped(|| {
            // wgpu panics here if the device is lost, because the function cannot return this error.
            match catch(|| self.device.poll(poll)) {
                Ok(Ok(_)) => Ok(true),
                Ok(Err(wgpu::PollError::Timeout)) => Ok(false),
                Ok(Err(error)) => Err(self.failure(error.to_string(), "")),
                Err(_) => Err(self.failure("waiting for the device failed".into(), LOST)),
            }
        })?
    }

    /// Makes an error with wgpu's message.
    pub(crate) fn failure(&self, code_name: String, hint: &str) -> Error {
        failure(&self.identity, 0, code_name, hint)
    }

    /// Returns an error for something that the device does not support.
    pub(crate) fn unsupported(&self, reason: impl Into<String>) -> Error {
        Error::unsupported(&self.identity, reason)
    }
}

/// A timeout that comes earlier is a failed wait.
const LEAST_TIMEOUT: Duration = Duration::from_secs(1);
const LOST: &str = "The driver was reset; create a new device, display and links.";
