//! Records of commands: submitted at once, or in a batch with others, because a submission costs more than the commands in
//! it.

use super::slot::{Point, QueueTurn, Slot};
use super::submissions::{ALL, Submissions};
use crate::queue::commands::{CopyImage, transition};
use ash::vk;
use interop_core::Result;
use interop_core::describe::threads::this_thread;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Ends a batch, also after a panic.
struct BatchGuard<'a>(&'a AtomicUsize);

impl Drop for BatchGuard<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Submissions {
    /// Submits commands, after all that was submitted to the queue before and before all that comes later. Returns the
    /// submission's number.
    ///
    /// # Safety
    /// The recorded commands are valid in this queue, and everything they use lives until the submission has completed.
    pub(crate) unsafe fn record(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<u64> {
        // SAFETY: the caller's promise.
        unsafe { self.record_with(&[], record) }
    }

    /// [`Submissions::record`] with temporary layouts for images: these changes share one barrier with the others,
    /// because each barrier stalls the GPU.
    ///
    /// # Safety
    /// The promises of [`Submissions::record`]; the images have their layouts then, and live until the submission has
    /// completed.
    pub(crate) unsafe fn record_with(
        &self,
        images: &[(CopyImage, vk::ImageLayout)],
        record: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> Result<u64> {
        let changed = || images.iter().filter(|(place, other)| place.layout != *other);
        let into: Vec<_> = changed().map(|(place, other)| transition(place.image, (place.layout, *other))).collect();
        let back: Vec<_> = changed().map(|(place, other)| transition(place.image, (*other, place.layout))).collect();
        let mut turn = self.turn()?;
        // Earlier commands of a batch end with a barrier.
        let (slot, is_ordered) = match turn.recorded.take() {
            Some(slot) => (slot, into.is_empty()),
            None => (self.begun(&turn)?, false),
        };
        // SAFETY: the commands are being recorded, and the caller vouches for the rest.
        unsafe {
            if !is_ordered {
                self.barrier(slot.commands, ALL, ALL, &into);
            }
            record(&self.device, slot.commands);
            // The host is not a stage of the queue's commands.
            self.barrier(slot.commands, ALL, ALL | vk::PipelineStageFlags::HOST, &back);
        }
        if self.is_in_batch() {
            *turn.recorded = Some(slot);
            self.state.lock().has_recorded = true;
            return Ok(self.last());
        }
        self.end(turn, slot, None)
    }

    /// Returns commands that are being recorded.
    fn begun(&self, turn: &QueueTurn<'_>) -> Result<Slot> {
        let slot = self.slot(turn)?;
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: nothing runs these commands any more, as their fence was signalled.
        let begun = unsafe { self.device.begin_command_buffer(slot.commands, &begin) };
        self.usable(slot, begun.map_err(self.failed("vkBeginCommandBuffer")))
    }

    /// Returns the slot, or gives it back after an error.
    fn usable(&self, slot: Slot, result: Result<()>) -> Result<Slot> {
        match result {
            Ok(()) => Ok(slot),
            Err(error) => {
                self.state.lock().free.push(slot);
                Err(error)
            }
        }
    }

    /// Submits recorded commands.
    pub(super) fn end(&self, turn: QueueTurn<'_>, slot: Slot, signal: Option<Point>) -> Result<u64> {
        // SAFETY: the commands are being recorded.
        let ended = unsafe { self.device.end_command_buffer(slot.commands) };
        let slot = self.usable(slot, ended.map_err(self.failed("vkEndCommandBuffer")))?;
        let commands = [slot.commands];
        self.submit(turn, slot, &commands, signal)
    }

    /// Records a barrier: all earlier work completes and becomes visible before any later work.
    ///
    /// # Safety
    /// `commands` is being recorded.
    unsafe fn barrier(
        &self,
        commands: vk::CommandBuffer,
        before: vk::PipelineStageFlags,
        after: vk::PipelineStageFlags,
        images: &[vk::ImageMemoryBarrier<'_>],
    ) {
        use vk::AccessFlags as Access;
        let host = if after.contains(vk::PipelineStageFlags::HOST) { Access::HOST_READ } else { Access::empty() };
        let all = Access::MEMORY_READ | Access::MEMORY_WRITE;
        let memory = [vk::MemoryBarrier::default().src_access_mask(all).dst_access_mask(all | host)];
        let none = vk::DependencyFlags::empty();
        // SAFETY: the caller's promise.
        unsafe { self.device.cmd_pipeline_barrier(commands, before, after, none, &memory, &[], images) };
    }

    /// Runs `work`, and then submits the commands that this thread recorded meanwhile, all at once; whoever waits for one of
    /// them or submits others submits them earlier. One thread has a batch at a time: those of others are submitted as always.
    ///
    /// # Errors
    /// The errors of a submission. The commands are lost, though `work` succeeded.
    pub(crate) fn batch<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        let free = self.batch.compare_exchange(0, this_thread(), Ordering::Relaxed, Ordering::Relaxed);
        if free.is_err() {
            return Ok(work());
        }
        let guard = BatchGuard(&self.batch);
        let result = work();
        drop(guard);
        let mut turn = self.turn()?;
        match turn.recorded.take() {
            Some(slot) => self.end(turn, slot, None).map(|_| result),
            None => Ok(result),
        }
    }

    /// True where records of this thread are not submitted at once.
    pub(super) fn is_in_batch(&self) -> bool {
        self.batch.load(Ordering::Relaxed) == this_thread()
    }

    /// Returns the right to record.
    pub(super) fn turn(&self) -> Result<QueueTurn<'_>> {
        self.check_turn()?;
        let recorded = self.turn.lock();
        self.owner.store(this_thread(), Ordering::Relaxed);
        Ok(QueueTurn { owner: &self.owner, recorded })
    }
}
