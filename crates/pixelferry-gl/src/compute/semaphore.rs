//! Semaphores of a display in another queue.

use crate::compute::device::GlShaders;
use crate::queue::semaphore::QueueSemaphore;
use interop_core::{ComputeSemaphore, Result, SemaphoreHandle};
use std::sync::Arc;

/// The backend's end of a semaphore.
pub struct GlSemaphore {
    inner: Arc<QueueSemaphore>,
    shaders: Arc<GlShaders>,
}

impl GlSemaphore {
    pub fn open(shaders: &Arc<GlShaders>, handle: SemaphoreHandle) -> Result<Self> {
        let device = shaders.device.clone();
        let inner = shaders.place.run(move || QueueSemaphore::open(&device, handle))?;
        Ok(Self { inner: Arc::new(inner), shaders: Arc::clone(shaders) })
    }
}

impl ComputeSemaphore for GlSemaphore {
    fn signal(&mut self, value: u64) -> Result<()> {
        let (inner, shaders) = (Arc::clone(&self.inner), Arc::clone(&self.shaders));
        // Taken where OpenGL is called: one signal has all that was written before it, whichever thread asks first.
        self.shaders.place.run(move || {
            let written = std::mem::take(&mut *shaders.written());
            inner.signal(value, &written)
        })
    }

    fn wait(&mut self, value: u64) -> Result<()> {
        let inner = Arc::clone(&self.inner);
        self.shaders.place.run(move || inner.wait(value))
    }
}
