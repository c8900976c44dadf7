//! [`QueueBuffer`].

use crate::context::device_state::DeviceState;
use crate::staging::memory::{Buffer, whole_words};
use ash::vk;
use interop_core::{Error, Result, SharedHandle};
use std::sync::Arc;

/// A buffer of the display's device that kernels in its queue write, in whole words.
#[derive(Clone)]
pub(crate) struct QueueBuffer {
    #[cfg_attr(not(feature = "compute"), expect(dead_code))]
    raw: vk::Buffer,
    len: usize,
    /// Keeps the display's own buffer; an engine's buffer is kept by the engine.
    kept: Option<Arc<Buffer>>,
}

/// A [`QueueBuffer`] inside a handle.
struct LentBuffer(QueueBuffer);

impl QueueBuffer {
    pub(crate) fn of(buffer: &Arc<Buffer>) -> Self {
        Self { raw: buffer.raw(), len: buffer.len(), kept: Some(Arc::clone(buffer)) }
    }

    /// Wraps an engine's buffer; `None` where kernels cannot write it in whole words.
    pub(crate) fn of_engine(raw: vk::Buffer, len: usize, usage: vk::BufferUsageFlags) -> Option<Self> {
        let stores = usage.contains(vk::BufferUsageFlags::STORAGE_BUFFER);
        (stores && whole_words(len as u64) == len as u64).then_some(Self { raw, len, kept: None })
    }

    pub(crate) fn into_handle(self, shared: &DeviceState) -> Result<SharedHandle> {
        Ok(SharedHandle::QueueBuffer { queue: shared.queue_id(), buffer: Box::new(LentBuffer(self)) })
    }

    /// Returns the buffer of at least this many bytes behind a handle of this display's queue.
    pub(crate) fn open(handle: &SharedHandle, bytes: usize) -> Result<Self> {
        let LentBuffer(lent) = handle.in_queue("buffer")?;
        SharedHandle::check_room(lent.len as u64, bytes as u64)?;
        Ok(lent.clone())
    }

    #[cfg(feature = "compute")]
    pub(crate) fn raw(&self) -> vk::Buffer {
        self.raw
    }

    /// Returns the number of bytes, in whole words.
    #[cfg(feature = "compute")]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the display's own buffer, to be shown in place.
    pub(crate) fn lasting(self) -> Result<Arc<Buffer>> {
        self.kept.ok_or_else(|| Error::refused("the buffer belongs to an engine"))
    }
}
