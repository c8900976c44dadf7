//! The display's work in the queue: recording, completion, and the objects that are freed on completion.
//!
//! Every submission has a fence, because fences exist without timeline semaphores. Where the device has those, one of
//! them also counts the submissions for the engine.

use super::slot::{Fence, Point, QueueTurn, Slot};
use crate::queue::queue_lock::QueueLock;
use crate::sharing::failure;
use ash::vk;
use interop_core::describe::PlainMutex;
use interop_core::describe::threads::{SignalMaskGuard, this_thread};
use interop_core::{Error, Result};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Default)]
pub(super) struct SubmissionState {
    /// Number of the last submission; the first is 1.
    pub last: u64,
    /// Commands are recorded that the next submission has.
    pub has_recorded: bool,
    /// All submissions up to this one have completed.
    done: u64,
    /// In the order of their numbers.
    running: VecDeque<(u64, Slot)>,
    pub free: Vec<Slot>,
    /// Commands whose fence another thread still waited for.
    spare: Vec<vk::CommandBuffer>,
    /// Semaphores of the next frame: the next submission waits for them, and so must every reader of a frame.
    waits: Vec<Point>,
    /// Semaphores of the engine's reads: the next submission waits for them.
    reads: Vec<Point>,
    /// Values that are dropped once their submission has completed.
    retired: Vec<(u64, Box<dyn Any + Send + Sync>)>,
}

/// Counts the submissions that have completed.
struct Counter {
    semaphore: vk::Semaphore,
    wait: Option<vk::PFN_vkWaitSemaphores>,
}

pub(crate) struct Submissions {
    pub(super) device: ash::Device,
    name: String,
    queue: vk::Queue,
    lock: Box<dyn QueueLock>,
    pool: vk::CommandPool,
    counter: Option<Counter>,
    pub(super) state: PlainMutex<SubmissionState>,
    /// Commands that are recorded, but not submitted, for the thread that has the turn.
    pub(super) turn: PlainMutex<Option<Slot>>,
    /// The thread that has the turn, 0 for none.
    pub(super) owner: AtomicUsize,
    /// The thread whose records are not submitted at once, 0 for none.
    pub(super) batch: AtomicUsize,
}

pub(super) const ALL: vk::PipelineStageFlags = vk::PipelineStageFlags::ALL_COMMANDS;

impl Submissions {
    /// Creates the state of a queue. Errors name the device `name`. `counts`: the device was created with timeline
    /// semaphores.
    ///
    /// # Safety
    /// The device belongs to this instance, the queue to this device and to the family, whose queues draw or compute;
    /// `lock` limits the queue to one thread at a time. The device outlives this and everything that is retired here.
    pub(crate) unsafe fn new(
        instance: &ash::Instance,
        device: ash::Device,
        (queue, family): (vk::Queue, u32),
        lock: Box<dyn QueueLock>,
        counts: bool,
        name: String,
    ) -> Result<Self> {
        let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER | vk::CommandPoolCreateFlags::TRANSIENT;
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family).flags(flags);
        // SAFETY: the device is alive; the structures live through the calls.
        let pool = unsafe { device.create_command_pool(&info, None) }.map_err(failure("vkCreateCommandPool", &name))?;
        let (state, turn, owner, batch) = Default::default();
        let mut made = Self { device, name, queue, lock, pool, counter: None, state, turn, owner, batch };
        if counts {
            let mut kind =
                vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE).initial_value(0);
            let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
            // SAFETY: as above, and the feature is on.
            let counter = unsafe { made.device.create_semaphore(&info, None) };
            let semaphore = counter.map_err(failure("vkCreateSemaphore", &made.name))?;
            let wait = [c"vkWaitSemaphores", c"vkWaitSemaphoresKHR"].iter().find_map(|name| {
                // SAFETY: instance and device belong together and are alive, by the caller's promise; a function of that name has
                // that signature.
                unsafe {
                    let found = (instance.fp_v1_0().get_device_proc_addr)(made.device.handle(), name.as_ptr());
                    std::mem::transmute::<vk::PFN_vkVoidFunction, Option<vk::PFN_vkWaitSemaphores>>(found)
                }
            });
            made.counter = Some(Counter { semaphore, wait });
        }
        Ok(made)
    }

    pub(super) fn failed(&self, operation: &'static str) -> impl FnOnce(vk::Result) -> Error + use<> {
        failure(operation, &self.name)
    }

    /// Rejects a call from inside the engine's lock, which would wait for itself.
    ///
    /// # Errors
    /// [`Error::InvalidInput`].
    pub(crate) fn check_turn(&self) -> Result<()> {
        if self.owner.load(Ordering::Relaxed) == this_thread() {
            return Err(Error::invalid("vkQueueSubmit", "the engine's lock of the queue used the display"));
        }
        Ok(())
    }

    pub(super) fn slot(&self, _: &QueueTurn<'_>) -> Result<Slot> {
        let mut state = self.state.lock();
        if let Some(slot) = state.free.pop() {
            return Ok(slot);
        }
        let spare = state.spare.pop();
        drop(state);
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool is of this device and used during turns alone; the structures live through the calls.
        unsafe {
            let commands = match spare {
                Some(commands) => vec![commands],
                None => {
                    let made = self.device.allocate_command_buffers(&info);
                    made.map_err(self.failed("vkAllocateCommandBuffers"))?
                }
            };
            let fence = self.device.create_fence(&vk::FenceCreateInfo::default(), None);
            let fence = fence.map_err(self.failed("vkCreateFence"))?;
            // Freed with the pool, if there is none.
            let commands = commands.first().copied().unwrap_or_default();
            Ok(Slot { fence: Arc::new(Fence { device: self.device.clone(), raw: fence }), commands })
        }
    }

    /// Submits the commands of a batch, or none: waits for the pending semaphores, and signals.
    pub(crate) fn flush(&self, signal: Option<Point>) -> Result<u64> {
        let mut turn = self.turn()?;
        if let Some(slot) = turn.recorded.take() {
            return self.end(turn, slot, signal);
        }
        let slot = self.slot(&turn)?;
        self.submit(turn, slot, &[], signal)
    }

    pub(super) fn submit(
        &self,
        turn: QueueTurn<'_>,
        slot: Slot,
        commands: &[vk::CommandBuffer],
        signal: Option<Point>,
    ) -> Result<u64> {
        let (number, waits) = {
            let state = self.state.lock();
            (state.last + 1, state.waits.iter().chain(&state.reads).copied().collect::<Vec<_>>())
        };
        let counted = self.counter.as_ref().map(|counter| Point { semaphore: counter.semaphore, value: Some(number) });
        // The counter comes last: once a waiter sees it, the other semaphore may be destroyed.
        let signals: Vec<Point> = signal.into_iter().chain(counted).collect();
        let answer = self.to_queue(commands, &waits, &signals, slot.fence.raw);
        let mut state = self.state.lock();
        state.has_recorded = false;
        if let Err(error) = answer {
            state.free.push(slot);
            return Err(error);
        }
        // Another thread may have added waits since.
        state.waits.retain(|point| !waits.contains(point));
        state.reads.retain(|point| !waits.contains(point));
        state.last = number;
        state.running.push_back((number, slot));
        drop(state);
        // Before objects are dropped, which may submit, too.
        drop(turn);
        self.collect();
        Ok(number)
    }

    fn to_queue(
        &self,
        commands: &[vk::CommandBuffer],
        waits: &[Point],
        signals: &[Point],
        fence: vk::Fence,
    ) -> Result<()> {
        let split = |points: &[Point]| -> (Vec<vk::Semaphore>, Vec<u64>) {
            points.iter().map(|point| (point.semaphore, point.value.unwrap_or(0))).unzip()
        };
        let ((waited, wait_values), (signalled, signal_values)) = (split(waits), split(signals));
        let stages = vec![ALL; waited.len()];
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&wait_values)
            .signal_semaphore_values(&signal_values);
        let mut info = vk::SubmitInfo::default()
            .command_buffers(commands)
            .wait_semaphores(&waited)
            .wait_dst_stage_mask(&stages)
            .signal_semaphores(&signalled);
        // Older devices do not support the structure.
        if self.counter.is_some() {
            info = info.push_next(&mut values);
        }
        let mut answer = None;
        self.lock.with(&mut || {
            if answer.is_none() {
                // Mesa starts a queue's thread at its first use.
                let _blocked = SignalMaskGuard::new();
                // SAFETY: queue, commands, semaphores and fence are of this device and alive, the fence is not signalled,
                // and the lock gives the queue to this thread.
                answer = Some(unsafe { self.device.queue_submit(self.queue, &[info], fence) });
            }
        });
        match answer {
            Some(answer) => answer.map_err(self.failed("vkQueueSubmit")),
            None => Err(Error::invalid("vkQueueSubmit", "the engine's lock of the queue did not call its argument")),
        }
    }

    /// Makes the next submission wait, and every reader of a frame ([`Submissions::ready`]). For a binary semaphore
    /// this submits at once: the other side may signal it again after this returns.
    pub(crate) fn wait_for(&self, point: Point) -> Result<()> {
        self.state.lock().waits.push(point);
        if point.value.is_some() {
            return Ok(());
        }
        let flushed = self.flush(None);
        if flushed.is_err() {
            // The caller repeats a failed call.
            self.forget(point.semaphore);
        }
        flushed.map(drop)
    }

    /// Makes the next submission wait until the engine has read.
    pub(crate) fn read_until(&self, point: Point) {
        self.state.lock().reads.push(point);
    }

    /// Removes all waits for a semaphore.
    pub(crate) fn forget(&self, semaphore: vk::Semaphore) {
        self.state.lock().waits.retain(|point| point.semaphore != semaphore);
    }

    /// Returns when all frames that the display received are ready. `None` without timeline semaphores.
    pub(crate) fn ready(&self) -> Result<Option<(vk::Semaphore, u64)>> {
        let state = self.state.lock();
        let is_submitted = state.waits.is_empty() && !state.has_recorded;
        drop(state);
        if !is_submitted {
            self.flush(None)?;
        }
        let last = self.state.lock().last;
        Ok(self.counter.as_ref().map(|counter| (counter.semaphore, last)))
    }

    /// Returns the number of the last submission, or of the next one where commands are recorded for it.
    pub(crate) fn last(&self) -> u64 {
        let state = self.state.lock();
        state.last + u64::from(state.has_recorded)
    }

    /// Returns the last submission that is known to have completed.
    pub(crate) fn done(&self) -> u64 {
        self.collect();
        self.state.lock().done
    }

    /// Reclaims completed submissions, and frees the objects that they used last.
    fn collect(&self) {
        let mut state = self.state.lock();
        while let Some((number, slot)) = state.running.front() {
            // SAFETY: the fence is of this device and was submitted.
            match unsafe { self.device.get_fence_status(slot.fence.raw) } {
                Ok(true) => state.done = *number,
                // A lost device returns an error to the next wait or submission.
                Ok(false) | Err(_) => break,
            }
            self.take_back(&mut state);
        }
        let done = state.done;
        let (gone, kept) = state.retired.drain(..).partition(|(number, _)| *number <= done);
        state.retired = kept;
        drop(state);
        // Dropped only now, because a drop may call this again.
        drop::<Vec<_>>(gone);
    }

    /// Reclaims the first running submission, which has completed.
    fn take_back(&self, state: &mut SubmissionState) {
        let Some((_, mut slot)) = state.running.pop_front() else { return };
        // While another thread waits for the fence, it cannot be reset.
        let alone = Arc::get_mut(&mut slot.fence).is_some();
        // SAFETY: the fence is of this device and nothing is left that signals it.
        if alone && unsafe { self.device.reset_fences(&[slot.fence.raw]) }.is_ok() {
            state.free.push(slot);
        } else {
            state.spare.push(slot.commands);
        }
    }

    /// Waits until a submission has completed.
    pub(crate) fn wait(&self, number: u64) -> Result<()> {
        let slot_of = |state: &SubmissionState| {
            state.running.iter().find(|(running, _)| *running == number).map(|(_, slot)| Arc::clone(&slot.fence))
        };
        if number > self.state.lock().last {
            // A batch has recorded it.
            self.flush(None)?;
        }
        let fence = slot_of(&self.state.lock());
        if let Some(fence) = fence {
            // SAFETY: the fence is of this device and was submitted.
            let waited = unsafe { self.device.wait_for_fences(&[fence.raw], true, u64::MAX) };
            drop(fence);
            waited.map_err(self.failed("vkWaitForFences"))?;
        }
        self.collect();
        Ok(())
    }

    /// Waits for all work that was submitted to the queue, by the display or others.
    pub(crate) fn finish(&self) -> Result<()> {
        let last = self.flush(None)?;
        self.wait(last)
    }

    /// Drops an object when a submission has completed.
    pub(crate) fn retire_at(&self, number: u64, object: Box<dyn Any + Send + Sync>) {
        self.state.lock().retired.push((number, object));
        self.collect();
    }

    /// Drops an object when all work submitted to the queue so far has completed, by the display or others.
    pub(crate) fn retire(&self, object: Box<dyn Any + Send + Sync>) {
        let number = match self.check_turn() {
            // This thread records the next submission, whose commands may use the object.
            Err(_) => self.state.lock().last + 1,
            Ok(()) if self.is_in_batch() => self.state.lock().last + 1,
            Ok(()) => self.flush(None).unwrap_or_else(|error| {
                tracing::warn!(%error, "could not mark the last use of an object; it is freed with the display");
                u64::MAX
            }),
        };
        self.retire_at(number, object);
    }
}

impl Drop for Submissions {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let state = std::mem::take(self.state.get_mut());
        let fences: Vec<_> = state.running.iter().map(|(_, slot)| slot.fence.raw).collect();
        if !fences.is_empty() {
            // SAFETY: all are of this device and were submitted.
            if let Err(code) = unsafe { self.device.wait_for_fences(&fences, true, u64::MAX) } {
                tracing::warn!(?code, device = self.name, "waiting for the device failed");
            }
        }
        // Mesa on the CPU sets a timeline semaphore's value after the fence, and would write to a destroyed one.
        if let Some(Counter { semaphore, wait: Some(wait) }) = &self.counter {
            let (semaphores, values) = ([*semaphore], [state.last]);
            let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
            // SAFETY: the semaphore is of this device and counts to that value, and the structure lives through the call.
            if let Err(code) = unsafe { wait(self.device.handle(), &raw const info, u64::MAX) }.result() {
                tracing::warn!(?code, device = self.name, "waiting for the device failed");
            }
        }
        // SAFETY: all is of this device, which is alive, and done or lost with it.
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            if let Some(counter) = &self.counter {
                self.device.destroy_semaphore(counter.semaphore, None);
            }
        }
        drop(state.retired);
    }
}
