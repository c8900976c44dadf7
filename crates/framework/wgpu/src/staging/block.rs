//! A persistent buffer that others write and wgpu reads.

use crate::context::device_state::DeviceState;
use crate::draw::picture::Picture;
use interop_core::describe::PlainMutex;
use interop_core::{ImageView, Result};
use std::sync::Arc;

/// Content shared by the staging block and by the surfaces that show it.
pub(crate) struct Block {
    buffer: wgpu::Buffer,
    /// The image that was shown last, with its bindings.
    shown: PlainMutex<Option<(ImageView, Arc<Picture>)>>,
}

impl Block {
    pub(crate) fn new(buffer: wgpu::Buffer) -> Self {
        Self { buffer, shown: PlainMutex::default() }
    }

    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Returns the pixels in the buffer; the view was checked to lie inside.
    pub(crate) fn picture(&self, shared: &DeviceState, view: ImageView) -> Result<Arc<Picture>> {
        let mut shown = self.shown.lock();
        if let Some((_, picture)) = shown.as_ref().filter(|(other, _)| *other == view) {
            return Ok(Arc::clone(picture));
        }
        let picture = Arc::new(Picture::memory(shared, self.buffer.clone(), view)?);
        *shown = Some((view, Arc::clone(&picture)));
        Ok(picture)
    }
}
