//! What a surface shows, and where.

use crate::device_state::DeviceState;
use crate::in_place::{InPlaceBuffer, InPlaceImage, Pixels};
use crate::memory::{Buffer, Image};
use crate::stored::{StoredBuffer, StoredImage};
use interop_core::devices::owned::{find, foreign};
use interop_core::{BufferView, ImageView, Result, Surface};

pub(crate) enum Shown<'s> {
    Image(&'s Image),
    Rows(&'s Buffer, ImageView),
    Bytes(&'s Buffer, BufferView),
}

/// Of any surface of this display's.
pub(crate) fn shown<'s>(shared: &DeviceState, surface: &'s dyn Surface, operation: &'static str) -> Result<Shown<'s>> {
    let any = surface.as_any();
    if let Some(s) = find::<StoredImage>(any, shared) {
        return Ok(Shown::Image(&s.image));
    }
    if let Some(s) = find::<StoredBuffer>(any, shared) {
        let len = s.buffer.len();
        return Ok(Shown::Bytes(&s.buffer, BufferView { offset: 0, len }));
    }
    if let Some(s) = find::<InPlaceImage>(any, shared) {
        return Ok(match s.pixels()? {
            Pixels::Image(image) => Shown::Image(image),
            Pixels::Rows(buffer, view) => Shown::Rows(buffer, *view),
        });
    }
    if let Some(s) = find::<InPlaceBuffer>(any, shared) {
        let (buffer, view) = s.bytes()?;
        return Ok(Shown::Bytes(buffer, view));
    }
    Err(foreign::<StoredImage>(shared, operation))
}
