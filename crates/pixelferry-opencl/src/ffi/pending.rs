//! Host memory that belongs to a command until the command is done.

use super::track::Use;
use super::{Event, Failure, Queue};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// A read into host memory of its own. Dropped, or leaked, before the command is done, the memory lives on.
pub struct Reading<T: Send + Sync + 'static> {
    event: Event,
    into: ManuallyDrop<Vec<T>>,
}

impl<T: Send + Sync + 'static> Reading<T> {
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Waits, and gives what was read.
    pub fn wait(mut self) -> Result<Vec<T>, Failure> {
        let waited = self.event.wait();
        let into = self.take();
        match waited {
            Ok(()) => Ok(into),
            Err(failure) => {
                self.event.keep(into);
                Err(failure)
            }
        }
    }

    fn take(&mut self) -> Vec<T> {
        std::mem::take(&mut *self.into)
    }
}

impl<T: Send + Sync + 'static> Drop for Reading<T> {
    fn drop(&mut self) {
        let into = self.take();
        if into.capacity() > 0 {
            self.event.keep(into);
        }
    }
}

impl Queue {
    /// Enqueues by `call` a command that reads into `into`, whose address it gets.
    pub(super) fn reading<T: Send + Sync + 'static>(
        &self,
        operation: &'static str,
        uses: &[Use<'_>],
        wait: &[Event],
        mut into: Vec<T>,
        call: impl FnOnce(*mut c_void, *mut c_void, u32, *const *mut c_void) -> Result<*mut c_void, i32>,
    ) -> Result<Reading<T>, Failure> {
        let address = into.as_mut_ptr().cast();
        let event = self.enqueue_using(operation, uses, wait, |queue, n, list| call(queue, address, n, list))?;
        Ok(Reading { event, into: ManuallyDrop::new(into) })
    }

    /// Enqueues by `call` a command that writes from `from`, whose address it gets; `from` lives until it is done.
    pub(super) fn writing<T: Send + Sync + 'static>(
        &self,
        operation: &'static str,
        uses: &[Use<'_>],
        wait: &[Event],
        from: Owned<T>,
        call: impl FnOnce(*mut c_void, *const c_void, u32, *const *mut c_void) -> Result<*mut c_void, i32>,
    ) -> Result<Event, Failure> {
        let address = from.as_slice().as_ptr().cast();
        let event = self.enqueue_using(operation, uses, wait, |queue, n, list| call(queue, address, n, list))?;
        event.keep(from);
        Ok(event)
    }
}

/// Values that a command, such as that of `clEnqueueWriteBuffer`, owns while it reads them.
pub enum Owned<T> {
    /// Handed over; freed when the command's `cl_event` is complete.
    Vec(Vec<T>),
    /// Shared with the command until its `cl_event` is complete; nobody can change them.
    Shared(Arc<[T]>),
}

impl<T> Owned<T> {
    /// The values, which `clEnqueueWriteBuffer` gets the address of.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::Vec(values) => values,
            Self::Shared(values) => values,
        }
    }
}

impl<T> From<Vec<T>> for Owned<T> {
    fn from(values: Vec<T>) -> Self {
        Self::Vec(values)
    }
}

impl<T> From<Arc<[T]>> for Owned<T> {
    fn from(values: Arc<[T]>) -> Self {
        Self::Shared(values)
    }
}

impl<T: Clone> From<&[T]> for Owned<T> {
    fn from(values: &[T]) -> Self {
        Self::Vec(values.to_vec())
    }
}
