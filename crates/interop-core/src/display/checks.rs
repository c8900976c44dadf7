//! Checks of what callers hand to a display whose rows go in native order.

use super::part::Part;
use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::surface::SurfaceDesc;
use crate::describe::view::{BufferView, ImageView, View};
use std::fmt;
use std::ops::Range;

/// The pixels of `view` in memory of `len` bytes, rows in native order, that go to a part.
///
/// # Errors
/// [`Error::InvalidInput`] for what [`Part::check_source`] refuses, rows the other way round, and a surface of another kind.
pub fn image_source(
    desc: &SurfaceDesc,
    at: &Part,
    view: &View,
    len: usize,
    operation: &'static str,
) -> Result<(Region, ImageView)> {
    at.check_source(desc, view, len, operation)?;
    let (Part::Image(region), View::Image(view)) = (at, view) else {
        return Err(Error::invalid(operation, format!("{desc} takes no bytes; give a region and a view of pixels")));
    };
    if view.is_reversed() {
        let problem = format!("row pitch {}: rows go in the display's order", view.row_pitch);
        return Err(Error::invalid(operation, problem));
    }
    Ok((*region, *view))
}

/// The bytes of `view` in memory of `len` bytes that go to a part.
///
/// # Errors
/// [`Error::InvalidInput`] for what [`Part::check_source`] refuses, and a surface of another kind.
pub fn buffer_source(
    desc: &SurfaceDesc,
    at: &Part,
    view: &View,
    len: usize,
    operation: &'static str,
) -> Result<(Range<usize>, BufferView)> {
    at.check_source(desc, view, len, operation)?;
    let (Part::Buffer(range), View::Buffer(view)) = (at, view) else {
        return Err(Error::invalid(operation, format!("{desc} takes no pixels; give a range and a view of bytes")));
    };
    Ok((range.clone(), *view))
}

/// The region of a part of an image.
///
/// # Errors
/// [`Error::InvalidInput`] for what [`Part::check_inside`] refuses, and a range of bytes.
pub fn region(desc: &SurfaceDesc, part: &Part, operation: &'static str) -> Result<Region> {
    part.check_inside(desc, operation)?;
    match part {
        Part::Image(region) => Ok(*region),
        Part::Buffer(_) => Err(Error::invalid(operation, "a range of bytes was given for an image")),
    }
}

/// The range of a part of a buffer.
///
/// # Errors
/// [`Error::InvalidInput`] for what [`Part::check_inside`] refuses, and a region of pixels.
pub fn range(desc: &SurfaceDesc, part: &Part, operation: &'static str) -> Result<Range<u64>> {
    part.check_inside(desc, operation)?;
    match part {
        Part::Buffer(range) => Ok(range.start as u64..range.end as u64),
        Part::Image(_) => Err(Error::invalid(operation, "a region of pixels was given for a buffer")),
    }
}

/// Refuses an engine's object that was made without the usage `name`, which a copy needs; `usage` is what it was made with.
///
/// # Errors
/// [`Error::InvalidInput`] where not `has`.
pub fn made_with(has: bool, name: &str, usage: &dyn fmt::Debug, operation: &'static str) -> Result<()> {
    if has {
        return Ok(());
    }
    Err(Error::invalid(operation, format!("the engine's object was made without {name}: its usage is {usage:?}")))
}

/// What is wrong with an engine's object that can be copied neither from nor to.
pub fn no_copies([from, to]: [&str; 2], usage: &dyn fmt::Debug) -> String {
    format!("its usage is {usage:?}: add {from} for what is taken from it, {to} for what is written into it")
}
