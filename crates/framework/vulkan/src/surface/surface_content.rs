//! The image or buffer that a surface shows.

use crate::context::device_state::DeviceState;
use crate::queue::commands::CopyImage;
use crate::surface::in_place::{self, InPlaceBuffer, InPlaceImage};
use crate::surface::stored_surface::{StoredBuffer, StoredImage};
use ash::vk;
use interop_core::devices::maker_object::{find, foreign};
use interop_core::{BufferView, ImageDesc, ImageView, Result, Surface};

pub(crate) enum SurfaceContent {
    Image(CopyImage, ImageDesc),
    Rows(vk::Buffer, ImageView),
    Bytes(vk::Buffer, BufferView),
}

/// Returns an error for an engine's image that shaders cannot sample.
pub(crate) fn check_sampled(shared: &DeviceState, surface: &Surface) -> Result<()> {
    find::<StoredImage>(surface.driver(), shared).map_or(Ok(()), StoredImage::check_sampled)
}

/// Returns the content of any surface of this display.
pub(crate) fn shown(shared: &DeviceState, surface: &Surface) -> Result<SurfaceContent> {
    let any = surface.driver();
    if let Some(s) = find::<StoredImage>(any, shared) {
        return Ok(SurfaceContent::Image(s.place(), *s.image()));
    }
    if let Some(s) = find::<StoredBuffer>(any, shared) {
        return Ok(SurfaceContent::Bytes(s.raw(), BufferView { offset: 0, len: s.len() }));
    }
    if let Some(s) = find::<InPlaceImage>(any, shared) {
        return Ok(match s.place()? {
            in_place::PixelSource::Image(image) => SurfaceContent::Image(image.place(), *image.desc()),
            in_place::PixelSource::Rows(buffer, view) => SurfaceContent::Rows(buffer.raw(), *view),
        });
    }
    if let Some(s) = find::<InPlaceBuffer>(any, shared) {
        let (buffer, view) = s.bytes()?;
        return Ok(SurfaceContent::Bytes(buffer.raw(), view));
    }
    Err(foreign::<StoredImage>(shared))
}
