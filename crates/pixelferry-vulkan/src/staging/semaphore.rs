//! Semaphores for which both sides' queues wait.

use crate::context::device_state::DeviceState;
use crate::queue::submissions::Point;
use crate::sharing::Semaphore;
use crate::staging::block::VulkanStaging;
use interop_core::display::SemaphoreDriver;
use interop_core::{Result, SharedHandle, Staging, SyncKind};
use std::rc::Rc;

/// Not signalled, or with its counter at 0, at first.
pub(crate) struct VulkanSemaphore {
    /// `None` only while it is dropped.
    raw: Option<Semaphore>,
    point: Point,
    shared: Rc<DeviceState>,
}

impl VulkanSemaphore {
    /// Makes a semaphore of a kind that is listed, and a handle of it.
    pub(crate) fn new(shared: &Rc<DeviceState>, kind: SyncKind) -> Result<(Self, SharedHandle)> {
        let raw = shared.sharing.exported_semaphore(kind)?;
        let handle = raw.export(&shared.sharing)?;
        let value = (kind == SyncKind::TimelineSemaphore).then_some(0);
        let point = Point { semaphore: raw.raw(), value };
        Ok((Self { raw: Some(raw), point, shared: Rc::clone(shared) }, SharedHandle::Semaphore(handle)))
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

impl Drop for VulkanSemaphore {
    fn drop(&mut self) {
        self.shared.submissions.forget(self.point.semaphore);
        self.shared.submissions.retire(Box::new(self.raw.take()));
    }
}
