//! [`PendingRead`]: values on their way from the device.

use super::{Context, Event};
use crate::ffi::{self, Element};
use interop_core::Result;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

pub use crate::ffi::Owned;

/// Values that a command (`clEnqueueReadBuffer`, `clEnqueueReadBufferRect`, `clEnqueueReadImage`) reads into memory of
/// its own. Dropped or leaked before the command is done, the memory lives on until it is, and nothing waits.
#[must_use = "the values come from `wait` or `.await`"]
pub struct PendingRead<T: Element> {
    raw: ffi::Reading<T>,
    context: Context,
}

impl<T: Element> PendingRead<T> {
    pub(super) fn of(raw: ffi::Reading<T>, context: &Context) -> Self {
        Self { raw, context: context.clone() }
    }

    /// The read's event, for wait lists: its `cl_event`.
    pub fn event(&self) -> Event {
        Event::of(self.raw.event().clone(), &self.context)
    }

    /// Blocks until the values are there (`clWaitForEvents`).
    pub fn wait(self) -> Result<Vec<T>> {
        let Self { raw, context } = self;
        raw.wait().map_err(|f| context.error(f))
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
