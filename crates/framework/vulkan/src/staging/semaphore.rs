//! Semaphores for which both sides' queues wait.

use crate::context::device_state::DeviceState;
use crate::queue::slot::Point;
use crate::sharing::Semaphore;
use crate::staging::block::VulkanStaging;
use interop_core::display::SemaphoreDriver;
#[cfg(feature = "compute")]
use interop_core::{ComputeSemaphore, SemaphoreHandle};
use interop_core::{Result, SharedHandle, Staging, SyncKind};
use std::sync::Arc;

/// A semaphore, initially unsignalled or with its counter at 0.
pub(crate) struct VulkanSemaphore {
    /// `None` only during the drop.
    raw: Option<Semaphore>,
    point: Point,
    shared: Arc<DeviceState>,
}

impl VulkanSemaphore {
    /// Creates a semaphore of a supported kind, and a handle of it.
    pub(crate) fn new(shared: &Arc<DeviceState>, kind: SyncKind) -> Result<(Self, SharedHandle)> {
        let raw = shared.sharing.exported_semaphore(kind)?;
        let handle = raw.export(&shared.sharing)?;
        Ok((Self::over(shared, raw, kind), SharedHandle::Semaphore(handle)))
    }

    /// Imports another device's semaphore.
    #[cfg(feature = "compute")]
    pub(crate) fn open(shared: &Arc<DeviceState>, handle: SemaphoreHandle) -> Result<Self> {
        let kind = handle.kind();
        Ok(Self::over(shared, shared.sharing.imported_semaphore(handle)?, kind))
    }

    fn over(shared: &Arc<DeviceState>, raw: Semaphore, kind: SyncKind) -> Self {
        let value = (kind == SyncKind::TimelineSemaphore).then_some(0);
        let point = Point { semaphore: raw.raw(), value };
        Self { raw: Some(raw), point, shared: Arc::clone(shared) }
    }

    fn at(&self, value: u64) -> Point {
        Point { value: self.point.value.map(|_| value), ..self.point }
    }
}

impl SemaphoreDriver for VulkanSemaphore {
    fn signal(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        VulkanStaging::of(staging, &self.shared)?;
        self.shared.submissions.flush(Some(self.at(value))).map(drop)
    }

    fn wait(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        VulkanStaging::of(staging, &self.shared)?;
        self.shared.submissions.wait_for(self.at(value))
    }
}

/// For a backend whose work is in the same queue.
#[cfg(feature = "compute")]
impl ComputeSemaphore for VulkanSemaphore {
    fn signal(&mut self, value: u64) -> Result<()> {
        self.shared.submissions.flush(Some(self.at(value))).map(drop)
    }

    fn wait(&mut self, value: u64) -> Result<()> {
        self.shared.submissions.wait_for(self.at(value))
    }
}

impl Drop for VulkanSemaphore {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        self.shared.submissions.forget(self.point.semaphore);
        self.shared.submissions.retire(Box::new(self.raw.take()));
    }
}
