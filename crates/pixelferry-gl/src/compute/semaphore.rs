//! Semaphores of a display in another queue.

use crate::compute::session::Session;
use crate::queue::semaphore::QueueSemaphore;
use interop_core::{ComputeSemaphore, Result, SemaphoreHandle};
use std::sync::Arc;

/// The backend's end of a semaphore.
pub struct GlSemaphore {
    inner: Arc<QueueSemaphore>,
    session: Arc<Session>,
}

impl GlSemaphore {
    pub fn open(session: &Arc<Session>, handle: SemaphoreHandle) -> Result<Self> {
        let device = session.device.clone();
        let inner = session.place.run(move || QueueSemaphore::open(&device, handle))?;
        Ok(Self { inner: Arc::new(inner), session: Arc::clone(session) })
    }
}

impl ComputeSemaphore for GlSemaphore {
    fn signal(&mut self, value: u64) -> Result<()> {
        let (inner, session) = (Arc::clone(&self.inner), Arc::clone(&self.session));
        // Taken where OpenGL is called: one signal has all that was written before it, whichever thread asks first.
        self.session.place.run(move || {
            let written = std::mem::take(&mut *session.written());
            inner.signal(value, &written)
        })
    }

    fn wait(&mut self, value: u64) -> Result<()> {
        let inner = Arc::clone(&self.inner);
        self.session.place.run(move || inner.wait(value))
    }
}
