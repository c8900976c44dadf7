//! What one submission consists of, and the right to make one.

use ash::vk;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard};

/// A semaphore and its value; binary semaphores have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Point {
    pub semaphore: vk::Semaphore,
    pub value: Option<u64>,
}

/// Destroyed when dropped: threads that wait for a fence share it.
pub(super) struct Fence {
    pub device: ash::Device,
    pub raw: vk::Fence,
}

impl Drop for Fence {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: the fence is of this device, which is alive, and nothing is left that signals it.
        unsafe { self.device.destroy_fence(self.raw, None) };
    }
}

/// Commands and the fence of one submission.
pub(super) struct Slot {
    pub fence: Arc<Fence>,
    pub commands: vk::CommandBuffer,
}

/// The right to record and submit commands, which one thread has at a time.
pub(super) struct QueueTurn<'a> {
    pub owner: &'a AtomicUsize,
    /// Commands that are recorded, but not submitted.
    pub recorded: MutexGuard<'a, Option<Slot>>,
}

impl Drop for QueueTurn<'_> {
    fn drop(&mut self) {
        self.owner.store(0, Ordering::Relaxed);
    }
}
