//! Checks of what callers hand in, with arithmetic that cannot overflow: views are plain data that anybody can fill.

use interop_core::{BufferView, Error, ImageView, Part, PixelFormat, Region, Result, SurfaceDesc, View};
use std::ops::Range;

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
    let invalid = |problem: String| Err(Error::invalid(operation, problem));
    if view.extent.width == 0 || view.extent.height == 0 {
        return invalid(format!("the view's size {} has a zero side; give at least 1x1", view.extent));
    }
    if view.is_reversed() {
        return invalid("the view's rows are reversed; a display takes rows in its native order".into());
    }
    let rows_before_last = view.extent.height as usize - 1;
    let Some(row) = (view.extent.width as usize).checked_mul(view.format.bytes_per_pixel()) else {
        return invalid(format!("a row of {} {} pixels cannot be addressed", view.extent.width, view.format));
    };
    if rows_before_last > 0 && view.pitch() < row {
        return invalid(format!("row pitch {} is smaller than a row of {row} bytes", view.pitch()));
    }
    let end = view
        .pitch()
        .checked_mul(rows_before_last)
        .and_then(|n| n.checked_add(row))
        .and_then(|n| n.checked_add(view.offset));
    match end {
        Some(end) if end <= memory => Ok(()),
        _ => invalid(format!(
            "{} pixels of {} from byte {} with row pitch {} reach outside the memory of {memory} bytes",
            view.extent, view.format, view.offset, view.row_pitch
        )),
    }
}

/// Checks a byte range against the memory that holds it.
pub(crate) fn buffer_view(view: &BufferView, memory: usize, operation: &'static str) -> Result<()> {
    match view.offset.checked_add(view.len) {
        Some(end) if end <= memory => Ok(()),
        _ => Err(Error::invalid(
            operation,
            format!("{} bytes from byte {} reach outside the memory of {memory} bytes", view.len, view.offset),
        )),
    }
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
    buffer_view(view, memory, operation)?;
    Ok((range, *view))
}

#[cfg(test)]
mod tests {
    use super::*;
    use interop_core::Extent;
    use proptest::prelude::*;

    fn any_view() -> impl Strategy<Value = ImageView> {
        let format = prop_oneof![Just(PixelFormat::R8), Just(PixelFormat::Rgba8), Just(PixelFormat::Rgba32F)];
        let wild = prop_oneof![0usize..64, any::<usize>()];
        let pitch = prop_oneof![-64isize..64, any::<isize>()];
        let side = prop_oneof![0u32..9, any::<u32>()];
        (wild, pitch, side.clone(), side, format).prop_map(|(offset, row_pitch, w, h, format)| ImageView {
            offset,
            row_pitch,
            extent: Extent::new(w, h),
            format,
        })
    }

    proptest! {
        /// Whatever is accepted lies inside, by arithmetic in 128 bits.
        #[test]
        fn accepted_views_lie_inside(view in any_view(), memory in 0usize..4096) {
            if image_view(&view, memory, "test").is_ok() {
                let row = u128::from(view.extent.width) * view.format.bytes_per_pixel() as u128;
                let end = view.offset as u128
                    + u128::from(view.extent.height - 1) * view.row_pitch as u128
                    + row;
                prop_assert!(view.row_pitch >= 0 && row > 0 && end <= memory as u128);
            }
        }

        #[test]
        fn accepted_ranges_lie_inside(offset in any::<usize>(), len in any::<usize>(), memory in any::<usize>()) {
            let ok = buffer_view(&BufferView { offset, len }, memory, "test").is_ok();
            prop_assert_eq!(ok, offset as u128 + len as u128 <= memory as u128);
        }
    }
}
