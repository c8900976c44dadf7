//! Content types of surfaces: the pixels of an image, or the bytes of a buffer.

use super::surface_part::SurfacePart;
use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::surface::SurfaceDesc;
use crate::describe::view::{BufferView, ImageView, View};
use std::fmt::Debug;
use std::ops::Range;

/// Pixels of an image.
#[derive(Debug, Clone, Copy)]
pub struct Pixels;

/// Bytes of a buffer.
#[derive(Debug, Clone, Copy)]
pub struct Bytes;

/// [`Pixels`] or [`Bytes`]: the type parameter that determines how a driver's calls name a part of a surface and a view
/// of memory.
pub trait Content: private::Sealed + Sized + 'static {
    /// A part of a surface: a [`Region`] or a range of bytes. It is not empty and lies inside the surface.
    type At: Clone + Debug;
    /// A view that lies inside its memory: rows in the display's native order, which do not overlap, or bytes.
    type View: Copy + Debug;

    /// Converts to the part of either content.
    fn part(at: &Self::At) -> SurfacePart;

    /// Converts to the view of either content.
    fn view(view: &Self::View) -> View;

    /// Returns the part in this content's type.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a part that [`SurfacePart::check_inside`] rejects.
    fn at(part: &SurfacePart, desc: &SurfaceDesc) -> Result<Self::At>;

    /// Returns the part in this content's type, and the view of the same size in `len` bytes of memory.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a view that [`SurfacePart::check_source`] rejects, and for rows in the opposite order.
    fn transfer(desc: &SurfaceDesc, part: &SurfacePart, view: &View, len: usize) -> Result<(Self::At, Self::View)>;
}

impl Content for Pixels {
    type At = Region;
    type View = ImageView;

    fn part(at: &Region) -> SurfacePart {
        SurfacePart::Image(*at)
    }

    fn view(view: &ImageView) -> View {
        View::Image(*view)
    }

    fn at(part: &SurfacePart, desc: &SurfaceDesc) -> Result<Region> {
        part.check_inside(desc)?;
        match part {
            SurfacePart::Image(region) => Ok(*region),
            SurfacePart::Buffer(_) => Err(Error::refused(format!("a range of bytes was given for an {desc}"))),
        }
    }

    fn transfer(desc: &SurfaceDesc, part: &SurfacePart, view: &View, len: usize) -> Result<(Region, ImageView)> {
        part.check_source(desc, view, len)?;
        match view {
            View::Image(view) if view.is_reversed() => {
                let problem = format!("negative row pitch {}; give rows in the display's native order", view.row_pitch);
                Err(Error::refused(problem))
            }
            View::Image(view) => Ok((Self::at(part, desc)?, *view)),
            View::Buffer(_) => Err(Error::refused(format!("a view of plain bytes was given for an {desc}"))),
        }
    }
}

impl Content for Bytes {
    type At = Range<usize>;
    type View = BufferView;

    fn part(at: &Range<usize>) -> SurfacePart {
        SurfacePart::Buffer(at.clone())
    }

    fn view(view: &BufferView) -> View {
        View::Buffer(*view)
    }

    fn at(part: &SurfacePart, desc: &SurfaceDesc) -> Result<Range<usize>> {
        part.check_inside(desc)?;
        match part {
            SurfacePart::Buffer(range) => Ok(range.clone()),
            SurfacePart::Image(_) => Err(Error::refused(format!("a region of pixels was given for a {desc}"))),
        }
    }

    fn transfer(desc: &SurfaceDesc, part: &SurfacePart, view: &View, len: usize) -> Result<(Range<usize>, BufferView)> {
        part.check_source(desc, view, len)?;
        match view {
            View::Buffer(view) => Ok((Self::at(part, desc)?, *view)),
            View::Image(_) => Err(Error::refused(format!("a view of pixels was given for a {desc}"))),
        }
    }
}

mod private {
    pub trait Sealed {}
    impl Sealed for super::Pixels {}
    impl Sealed for super::Bytes {}
}
