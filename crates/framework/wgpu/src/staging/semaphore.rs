//! Exportable semaphores.

use crate::context::device_state::DeviceState;
use crate::context::vulkan::{QueueSemaphore, Vulkan};
use crate::staging::WgpuStaging;
use interop_core::display::SemaphoreDriver;
use interop_core::{Result, SharedHandle, Staging, SyncKind};
use std::sync::Arc;

/// A semaphore, initially unsignalled or with its counter at 0.
struct WgpuSemaphore {
    shared: Arc<DeviceState>,
    inner: QueueSemaphore,
}

/// Creates a semaphore of a kind in [`Vulkan::sharing`](Vulkan), and a handle of it.
pub(crate) fn create(
    shared: &Arc<DeviceState>,
    vulkan: &Vulkan,
    kind: SyncKind,
) -> Result<(Box<dyn SemaphoreDriver>, SharedHandle)> {
    let raw = vulkan.sharing.exported_semaphore(kind)?;
    let handle = SharedHandle::Semaphore(raw.export(&vulkan.sharing)?);
    let inner = QueueSemaphore::new(&shared.base, raw, kind);
    Ok((Box::new(WgpuSemaphore { shared: Arc::clone(shared), inner }), handle))
}

impl SemaphoreDriver for WgpuSemaphore {
    fn signal(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        WgpuStaging::of(staging, &self.shared)?;
        self.inner.signals(value)
    }

    fn wait(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        WgpuStaging::of(staging, &self.shared)?;
        self.inner.waits(value)
    }
}
