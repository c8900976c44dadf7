//! A persistent buffer that others write and wgpu reads.

use crate::context::device_state::DeviceState;
use crate::draw::picture::Picture;
use interop_core::{ImageView, Result};
use std::cell::RefCell;
use std::rc::Rc;

/// Content shared by the staging block and by the surfaces that show it.
pub(crate) struct Block {
    buffer: wgpu::Buffer,
    /// The image that was shown last, with its bindings.
    shown: RefCell<Option<(ImageView, Rc<Picture>)>>,
}

impl Block {
    pub(crate) fn new(buffer: wgpu::Buffer) -> Self {
        Self { buffer, shown: RefCell::default() }
    }

    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Returns the pixels in the buffer; the view was checked to lie inside.
    pub(crate) fn picture(&self, shared: &DeviceState, view: ImageView) -> Result<Rc<Picture>> {
        let mut shown = self.shown.borrow_mut();
        if let Some((_, picture)) = shown.as_ref().filter(|(other, _)| *other == view) {
            return Ok(Rc::clone(picture));
        }
        let picture = Rc::new(Picture::memory(shared, self.buffer.clone(), view)?);
        *shown = Some((view, Rc::clone(&picture)));
        Ok(picture)
    }
}
