//! Parts of surfaces.

use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::surface::SurfaceDesc;
use crate::describe::view::View;
use std::fmt;
use std::ops::Range;

/// A part of a surface. Here, on the display's side, rows count in the display's native order.
///
/// ```
/// use interop_core::{Part, PixelFormat, Region, SurfaceDesc};
///
/// let image = SurfaceDesc::image(64, 48, PixelFormat::R8);
/// assert_eq!(Part::full(&image), Part::Image(Region::new(0, 0, 64, 48)));
/// assert!(Part::Image(Region::new(60, 40, 4, 8)).check_inside(&image).is_ok());
/// assert!(Part::Buffer(0..16).check_inside(&image).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Pixels.
    Image(Region),
    /// Bytes.
    Buffer(Range<usize>),
}

impl Part {
    /// All of a surface.
    pub fn full(desc: &SurfaceDesc) -> Self {
        match desc {
            SurfaceDesc::Image(i) => Self::Image(i.extent.full()),
            // A surface's size was checked against the address space when it was made.
            SurfaceDesc::Buffer(b) => Self::Buffer(0..usize::try_from(b.bytes).unwrap_or(usize::MAX)),
        }
    }

    /// Refuses an empty part, one of the wrong kind, and one that reaches outside the surface.
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

    /// Refuses a view that reaches outside `len` bytes of memory, or is no picture of this part: its pixels or bytes are
    /// to go there in the surface that `desc` describes.
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
            _ => Some(format!("{view:?} is no part of the {desc}")),
        };
        problem.map_or(Ok(()), |problem| Err(Error::refused(problem)))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(region) => region.fmt(f),
            Self::Buffer(range) => write!(f, "bytes {}..{}", range.start, range.end),
        }
    }
}
