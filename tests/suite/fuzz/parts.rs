//! Parts of surfaces, and where their bytes are.

use crate::fuzz::{Choices, hostile};
use pixelferry::driver::SurfacePart;
use pixelferry::{Extent, Region, SurfaceDesc};

/// A part of a surface, mostly one that is inside.
pub fn any_part(t: &mut Choices, desc: &SurfaceDesc) -> SurfacePart {
    match desc {
        SurfaceDesc::Image(image) if !t.one_in(20) => SurfacePart::Image(hostile::region(t, image.extent)),
        SurfaceDesc::Buffer(buffer) if !t.one_in(20) => SurfacePart::Buffer(hostile::range(t, buffer.bytes as usize)),
        SurfaceDesc::Image(_) => SurfacePart::Buffer(0..4),
        SurfaceDesc::Buffer(_) => SurfacePart::Image(hostile::region(t, Extent::new(2, 2))),
    }
}

/// A part that lies inside, in whole words of a buffer.
pub fn inner_part(t: &mut Choices, desc: &SurfaceDesc) -> SurfacePart {
    match desc {
        SurfaceDesc::Image(image) => SurfacePart::Image(hostile::inner_region(t, image.extent)),
        SurfaceDesc::Buffer(buffer) => {
            let words = hostile::inside(t, buffer.bytes as usize / 4);
            SurfacePart::Buffer(4 * words.start..4 * words.end)
        }
    }
}

/// The part, which fits, as a surface of its own.
pub fn alone(desc: &SurfaceDesc, part: &SurfacePart) -> SurfaceDesc {
    match (desc, part) {
        (SurfaceDesc::Image(image), SurfacePart::Image(Region { width, height, .. })) => {
            SurfaceDesc::image(*width, *height, image.format)
        }
        (_, SurfacePart::Buffer(range)) => SurfaceDesc::buffer(range.len() as u64),
        (_, SurfacePart::Image(region)) => SurfaceDesc::buffer(region.extent().pixels()),
    }
}

/// Copies a part's rows, tight, to where they are in a surface.
pub fn paste(part: &SurfacePart, desc: &SurfaceDesc, bytes: &[u8], whole: &mut [u8]) {
    match (part, desc) {
        (SurfacePart::Image(region), SurfaceDesc::Image(image)) => {
            let bpp = image.format.bytes_per_pixel();
            for (y, row) in bytes.chunks(region.width as usize * bpp).enumerate() {
                let at = ((region.y as usize + y) * image.extent.width as usize + region.x as usize) * bpp;
                whole[at..at + row.len()].copy_from_slice(row);
            }
        }
        (SurfacePart::Buffer(range), _) => whole[range.clone()].copy_from_slice(bytes),
        _ => {}
    }
}
