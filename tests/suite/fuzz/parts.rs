//! Parts of surfaces, and where their bytes are.

use crate::fuzz::{Choices, hostile};
use pixelferry::driver::Part;
use pixelferry::{Extent, Region, SurfaceDesc};

/// A part of a surface, mostly one that is inside.
pub fn any_part(t: &mut Choices, desc: &SurfaceDesc) -> Part {
    match desc {
        SurfaceDesc::Image(image) if !t.one_in(20) => Part::Image(hostile::region(t, image.extent)),
        SurfaceDesc::Buffer(buffer) if !t.one_in(20) => Part::Buffer(hostile::range(t, buffer.bytes as usize)),
        SurfaceDesc::Image(_) => Part::Buffer(0..4),
        SurfaceDesc::Buffer(_) => Part::Image(hostile::region(t, Extent::new(2, 2))),
    }
}

/// A part that lies inside, in whole words of a buffer.
pub fn inner_part(t: &mut Choices, desc: &SurfaceDesc) -> Part {
    match desc {
        SurfaceDesc::Image(image) => Part::Image(hostile::inner_region(t, image.extent)),
        SurfaceDesc::Buffer(buffer) => {
            let words = hostile::inside(t, buffer.bytes as usize / 4);
            Part::Buffer(4 * words.start..4 * words.end)
        }
    }
}

/// The part, which fits, as a surface of its own.
pub fn alone(desc: &SurfaceDesc, part: &Part) -> SurfaceDesc {
    match (desc, part) {
        (SurfaceDesc::Image(image), Part::Image(Region { width, height, .. })) => {
            SurfaceDesc::image(*width, *height, image.format)
        }
        (_, Part::Buffer(range)) => SurfaceDesc::buffer(range.len() as u64),
        (_, Part::Image(region)) => SurfaceDesc::buffer(region.extent().pixels()),
    }
}

/// Copies a part's rows, tight, to where they are in a surface.
pub fn paste(part: &Part, desc: &SurfaceDesc, bytes: &[u8], whole: &mut [u8]) {
    match (part, desc) {
        (Part::Image(region), SurfaceDesc::Image(image)) => {
            let bpp = image.format.bytes_per_pixel();
            for (y, row) in bytes.chunks(region.width as usize * bpp).enumerate() {
                let at = ((region.y as usize + y) * image.extent.width as usize + region.x as usize) * bpp;
                whole[at..at + row.len()].copy_from_slice(row);
            }
        }
        (Part::Buffer(range), _) => whole[range.clone()].copy_from_slice(bytes),
        _ => {}
    }
}
