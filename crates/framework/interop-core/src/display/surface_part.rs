//! Parts of surfaces.

use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::surface::SurfaceDesc;
use crate::describe::view::View;
use std::fmt;
use std::ops::Range;

/// A part of a surface. On the display's side, rows count in the display's native order.
///
/// ```
/// use interop_core::{PixelFormat, Region, SurfaceDesc, SurfacePart};
///
/// let image = SurfaceDesc::image(64, 48, PixelFormat::R8);
/// assert_eq!(SurfacePart::full(&image), SurfacePart::Image(Region::new(0, 0, 64, 48)));
/// assert!(SurfacePart::Image(Region::new(60, 40, 4, 8)).check_inside(&image).is_ok());
/// assert!(SurfacePart::Buffer(0..16).check_inside(&image).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SurfacePart {
    /// A rectangle of an image's pixels.
    Image(Region),
    /// A range of a buffer's bytes.
    Buffer(Range<usize>),
}

impl SurfacePart {
    /// Returns the part that covers all of a surface.
    pub fn full(desc: &SurfaceDesc) -> Self {
        match desc {
            SurfaceDesc::Image(i) => Self::Image(i.extent.full()),
            // A surface's size was checked against the address space when it was made.
            SurfaceDesc::Buffer(b) => Self::Buffer(0..usize::try_from(b.bytes).unwrap_or(usize::MAX)),
        }
    }

    /// Checks that the part is not empty, has the surface's kind and lies inside the surface.
    pub fn check_inside(&self, desc: &SurfaceDesc) -> Result<()> {
        match (self, desc) {
            (Self::Image(region), SurfaceDesc::Image(i)) => region.check_inside(i.extent),
            (Self::Buffer(range), SurfaceDesc::Buffer(b)) => {
                if range.start >= range.end || range.end as u64 > b.bytes {
                    return Err(Error::refused(format!(
                        "bytes {}..{} are empty or reach outside the {desc}",
                        range.start, range.end
                    )));
                }
                Ok(())
            }
            (Self::Image(_), _) => Err(Error::refused(format!("a region of pixels was given for a {desc}"))),
            (Self::Buffer(_), _) => Err(Error::refused(format!("a range of bytes was given for an {desc}"))),
        }
    }

    /// Checks that a view lies inside `len` bytes of memory and has the shape of this part of the surface that `desc`
    /// describes.
    pub fn check_source(&self, desc: &SurfaceDesc, view: &View, len: usize) -> Result<()> {
        self.check_inside(desc)?;
        view.check_inside(len)?;
        let problem = match (self, view, desc) {
            (Self::Image(region), View::Image(image), SurfaceDesc::Image(of)) => {
                if image.format != of.format {
                    Some(format!("pixels of {} were given for an {desc}", image.format))
                } else if image.extent != region.extent() {
                    Some(format!("{} pixels were given for the region {region}", image.extent))
                } else {
                    None
                }
            }
            (Self::Buffer(range), View::Buffer(buffer), _) => (buffer.len != range.len())
                .then(|| format!("{} bytes were given for the range {}..{}", buffer.len, range.start, range.end)),
            _ => Some(format!("{view:?} does not match the {desc}")),
        };
        problem.map_or(Ok(()), |problem| Err(Error::refused(problem)))
    }
}

impl fmt::Display for SurfacePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(region) => region.fmt(f),
            Self::Buffer(range) => write!(f, "bytes {}..{}", range.start, range.end),
        }
    }
}
