//! Checks of what callers hand in, with arithmetic that cannot overflow: views are plain data that anybody can fill.

use crate::context_state::ContextState;
use interop_core::{BufferView, Error, ImageView, Part, PixelFormat, Region, Result, SurfaceDesc, View};
use std::ops::Range;

impl ContextState {
    /// Refuses what the context cannot show. Bytes of one frame.
    pub(crate) fn check_desc(&self, desc: &SurfaceDesc, operation: &'static str) -> Result<usize> {
        desc.check(&self.device.name, &self.caps, operation)
    }
}

/// Where and how a checked image transfer goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageTransfer {
    pub at: Region,
    pub view: ImageView,
    /// Row pitch in pixels, where GL can express it.
    pub row_length: Option<i32>,
}

/// Where the rows of an image start in linear memory, counted in its pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texels {
    /// Pixel (0, 0).
    pub base: i32,
    /// From row to row.
    pub pitch: i32,
    /// Past the last pixel.
    pub end: u64,
}

impl ImageTransfer {
    /// `None` where the rows do not start at whole pixels.
    pub(crate) fn texels(&self) -> Option<Texels> {
        let bpp = self.view.format.bytes_per_pixel();
        let tight = i32::try_from(self.view.extent.width).ok()?;
        let pitch = self.row_length.map(|n| if n == 0 { tight } else { n })?;
        let base = i32::try_from(self.view.offset / bpp).ok()?;
        let end = (self.view.span().end / bpp) as u64;
        self.view.offset.is_multiple_of(bpp).then_some(Texels { base, pitch, end })
    }
}

/// Checks an image view against the memory that holds it: rows in native order, not overlapping, inside.
pub(crate) fn image_view(view: &ImageView, memory: usize, operation: &'static str) -> Result<()> {
    if view.is_reversed() {
        return Err(Error::invalid(
            operation,
            "the view's rows are reversed; a display takes rows in its native order",
        ));
    }
    View::Image(*view).check_inside(memory, operation)
}

/// The image and format of a description, or the error that it is a buffer.
pub(crate) fn image_of(desc: &SurfaceDesc, operation: &'static str) -> Result<(Region, PixelFormat)> {
    match desc {
        SurfaceDesc::Image(i) => Ok((i.extent.full(), i.format)),
        SurfaceDesc::Buffer(_) => Err(Error::invalid(operation, format!("{desc} is not an image"))),
    }
}

/// The region of a part, inside the image that `desc` describes.
pub(crate) fn image_part(desc: &SurfaceDesc, part: &Part, operation: &'static str) -> Result<(Region, PixelFormat)> {
    let (full, format) = image_of(desc, operation)?;
    let Part::Image(region) = part else {
        return Err(Error::invalid(operation, format!("a byte range was given for {desc}; give a region")));
    };
    region.check_inside(full.extent(), operation)?;
    Ok((*region, format))
}

/// The range of a part, inside the buffer that `desc` describes.
pub(crate) fn buffer_part(desc: &SurfaceDesc, part: &Part, operation: &'static str) -> Result<Range<usize>> {
    let (SurfaceDesc::Buffer(buffer), Part::Buffer(range)) = (desc, part) else {
        return Err(Error::invalid(operation, format!("the part given does not fit {desc}")));
    };
    if range.start >= range.end || range.end as u64 > buffer.bytes {
        return Err(Error::invalid(
            operation,
            format!("bytes {}..{} are empty or reach outside the {desc}", range.start, range.end),
        ));
    }
    Ok(range.clone())
}

/// A transfer of pixels from `memory` bytes into the image that `desc` describes.
pub(crate) fn image_transfer(
    desc: &SurfaceDesc,
    at: &Part,
    view: &View,
    memory: usize,
    operation: &'static str,
) -> Result<ImageTransfer> {
    let (at, format) = image_part(desc, at, operation)?;
    let View::Image(view) = view else {
        return Err(Error::invalid(operation, format!("a view of plain bytes was given for {desc}")));
    };
    if view.format != format {
        return Err(Error::invalid(operation, format!("pixels are {} and the surface is {format}", view.format)));
    }
    if view.extent != at.extent() {
        return Err(Error::invalid(operation, format!("{} pixels were given for the region {at}", view.extent)));
    }
    image_view(view, memory, operation)?;
    let bpp = format.bytes_per_pixel();
    let expressible = view.pitch().is_multiple_of(bpp);
    let row_length = if view.extent.height == 1 || view.is_contiguous() {
        Some(0)
    } else {
        i32::try_from(view.pitch() / bpp).ok().filter(|_| expressible)
    };
    Ok(ImageTransfer { at, view: *view, row_length })
}

/// A transfer of bytes from `memory` bytes into the buffer that `desc` describes.
pub(crate) fn buffer_transfer(
    desc: &SurfaceDesc,
    at: &Part,
    view: &View,
    memory: usize,
    operation: &'static str,
) -> Result<(Range<usize>, BufferView)> {
    let range = buffer_part(desc, at, operation)?;
    let View::Buffer(view) = view else {
        return Err(Error::invalid(operation, format!("a view of pixels was given for {desc}")));
    };
    if view.len != range.len() {
        return Err(Error::invalid(
            operation,
            format!("{} bytes were given for the range of {} bytes", view.len, range.len()),
        ));
    }
    View::Buffer(*view).check_inside(memory, operation)?;
    Ok((range, *view))
}
