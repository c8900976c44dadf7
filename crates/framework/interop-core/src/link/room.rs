//! Decides how much larger than the surface memory is made, and which surfaces are views of it.

use crate::describe::error::{Error, Result};
use crate::describe::geometry::Extent;
use crate::describe::surface::{BufferDesc, ImageDesc, SurfaceDesc};
use crate::devices::capability::DisplayCaps;

/// A side grows to a multiple of this many pixels.
const PIXELS: u32 = 64;
/// A buffer grows to a multiple of this many bytes.
const BYTES: u64 = 4096;
/// Spare room is kept while the memory is at most this many times the required size.
const MOST_KEPT: u64 = 2;

/// Returns `desc` with the larger size of both, on each side.
///
/// # Errors
/// Where one is an image and the other a buffer.
pub(super) fn covering(desc: &SurfaceDesc, other: &SurfaceDesc) -> Result<SurfaceDesc> {
    let both = desc.covering(other);
    both.ok_or_else(|| {
        Error::invalid(
            "resize_within",
            format!("the maximum ({other}) and the surface ({desc}) must both be images or both be buffers"),
        )
    })
}

/// Returns `desc` with a quarter more on each side that is larger than in `room`, because a growing side is likely to
/// keep growing. The other side keeps the size of `room`, unless that wastes memory.
pub(super) fn grown(desc: &SurfaceDesc, room: &SurfaceDesc, caps: &DisplayCaps) -> SurfaceDesc {
    match (desc, room) {
        (SurfaceDesc::Image(desc), SurfaceDesc::Image(room)) => {
            let side = |side: u32| {
                let more = side.saturating_add(side / 4).checked_next_multiple_of(PIXELS).unwrap_or(side);
                more.min(caps.max_image_side).max(side)
            };
            let more = Extent::new(side(desc.extent.width), side(desc.extent.height));
            let kept = |side: u32, room: u32, more: u32| if side > room { more } else { room };
            let kept = Extent::new(
                kept(desc.extent.width, room.extent.width, more.width),
                kept(desc.extent.height, room.extent.height, more.height),
            );
            let extent = if kept.pixels() <= more.pixels().saturating_mul(MOST_KEPT) { kept } else { more };
            SurfaceDesc::Image(ImageDesc { extent, ..*desc })
        }
        (SurfaceDesc::Buffer(desc), _) => {
            let more = desc.bytes.saturating_add(desc.bytes / 4).checked_next_multiple_of(BYTES).unwrap_or(desc.bytes);
            let bytes = more.min(caps.max_buffer_bytes).max(desc.bytes);
            SurfaceDesc::Buffer(BufferDesc { bytes, ..*desc })
        }
        (SurfaceDesc::Image(_), SurfaceDesc::Buffer(_)) => *desc,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::format::PixelFormat;
    use crate::describe::geometry::RowOrder;

    fn image(width: u32, height: u32) -> SurfaceDesc {
        SurfaceDesc::image(width, height, PixelFormat::Rgba8)
    }

    #[test]
    fn only_a_size_that_is_no_larger_is_inside() {
        let room = image(640, 480);
        assert!(image(640, 480).is_inside(&room) && image(1, 480).is_inside(&room));
        assert!(!image(641, 1).is_inside(&room) && !image(1, 481).is_inside(&room));
        assert!(!SurfaceDesc::image(64, 64, PixelFormat::R8).is_inside(&room));
        assert!(!SurfaceDesc::buffer(16).is_inside(&room));
        assert!(SurfaceDesc::buffer(16).is_inside(&SurfaceDesc::buffer(17)));
    }

    #[test]
    fn a_side_that_grows_has_room_to_grow_on() {
        let caps = DisplayCaps::new(2000, 10_000, RowOrder::TopDown)
            .with_image_formats(PixelFormat::ALL)
            .with_max_in_place_pixels(64)
            .with_row_pitch_alignment(64);
        let grown = |desc, room| grown(&desc, &room, &caps);
        assert_eq!(grown(image(810, 600), image(800, 600)), image(1024, 600));
        assert_eq!(grown(image(810, 610), image(800, 600)), image(1024, 768));
        assert_eq!(grown(image(1900, 600), image(800, 600)), image(2000, 600), "no larger than the display's limit");
        assert_eq!(grown(image(2000, 4), image(4, 2000)), image(2000, 64), "memory for sides that never meet");
        assert_eq!(grown(SurfaceDesc::buffer(4000), SurfaceDesc::buffer(100)), SurfaceDesc::buffer(8192));
        assert_eq!(grown(SurfaceDesc::buffer(9000), SurfaceDesc::buffer(100)), SurfaceDesc::buffer(10_000));
    }
}
