//! Host memory that belongs to a command until the command has completed.

use crate::ffi::track::MemoryUse;
use crate::{Element, Event, Queue};
use interop_core::Result;
use std::ffi::c_void;
use std::future::{Future, IntoFuture};
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::sync::Arc;

/// Values that a command (`clEnqueueReadBuffer`, `clEnqueueReadBufferRect`, `clEnqueueReadImage`) reads into memory of
/// its own. If this is dropped or leaked before the command has completed, the memory lives on until then, without a
/// wait.
#[must_use = "the values come from `wait` or `.await`"]
pub struct PendingRead<T: Element> {
    event: Event,
    into: ManuallyDrop<Vec<T>>,
}

impl<T: Element> PendingRead<T> {
    /// Returns the read's `cl_event`, for wait lists.
    pub fn event(&self) -> Event {
        self.event.clone()
    }

    /// Blocks until the values are available (`clWaitForEvents`).
    pub fn wait(mut self) -> Result<Vec<T>> {
        let waited = self.event.wait();
        let into = self.take();
        match waited {
            Ok(()) => Ok(into),
            Err(error) => {
                self.event.lone.keep(into);
                Err(error)
            }
        }
    }

    fn take(&mut self) -> Vec<T> {
        std::mem::take(&mut *self.into)
    }
}

impl<T: Element> Drop for PendingRead<T> {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let into = self.take();
        if into.capacity() > 0 {
            self.event.lone.keep(into);
        }
    }
}

impl<T: Element> IntoFuture for PendingRead<T> {
    type Output = Result<Vec<T>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            self.event().await?;
            self.wait()
        })
    }
}

impl Queue {
    /// Enqueues by `call` a command that reads into `into`, whose address it receives.
    pub(crate) fn reading<T: Element>(
        &self,
        operation: &'static str,
        uses: &[MemoryUse<'_>],
        wait: &[Event],
        mut into: Vec<T>,
        call: impl FnOnce(*mut c_void, *mut c_void, u32, *const *mut c_void) -> Result<*mut c_void, i32>,
    ) -> Result<PendingRead<T>> {
        let address = into.as_mut_ptr().cast();
        let event = self.enqueue_using(operation, uses, wait, |queue, n, list| call(queue, address, n, list))?;
        Ok(PendingRead { event, into: ManuallyDrop::new(into) })
    }

    /// Enqueues by `call` a command that writes from `from`, whose address it receives; `from` lives until it has
    /// completed.
    pub(crate) fn writing<T: Element>(
        &self,
        operation: &'static str,
        uses: &[MemoryUse<'_>],
        wait: &[Event],
        from: OwnedValues<T>,
        call: impl FnOnce(*mut c_void, *const c_void, u32, *const *mut c_void) -> Result<*mut c_void, i32>,
    ) -> Result<Event> {
        let address = from.as_slice().as_ptr().cast();
        let event = self.enqueue_using(operation, uses, wait, |queue, n, list| call(queue, address, n, list))?;
        event.lone.keep(from);
        Ok(event)
    }
}

/// Values that a command, such as that of `clEnqueueWriteBuffer`, owns while it reads them.
pub enum OwnedValues<T> {
    /// Handed over; freed when the command's `cl_event` is complete.
    Vec(Vec<T>),
    /// Shared with the command until its `cl_event` is complete; the values cannot be changed.
    Shared(Arc<[T]>),
}

impl<T> OwnedValues<T> {
    /// Returns the values, whose address `clEnqueueWriteBuffer` receives.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::Vec(values) => values,
            Self::Shared(values) => values,
        }
    }
}

impl<T> From<Vec<T>> for OwnedValues<T> {
    fn from(values: Vec<T>) -> Self {
        Self::Vec(values)
    }
}

impl<T> From<Arc<[T]>> for OwnedValues<T> {
    fn from(values: Arc<[T]>) -> Self {
        Self::Shared(values)
    }
}

impl<T: Clone> From<&[T]> for OwnedValues<T> {
    fn from(values: &[T]) -> Self {
        Self::Vec(values.to_vec())
    }
}
