//! Copies between the host, buffers and images.

use crate::context::device_state::DeviceState;
use crate::queue::commands::{self, COPIED, CopyImage, Rows, WRITTEN};
use crate::sharing::vk_format;
use crate::staging::memory::Image;
use crate::staging::scratch::Scratch;
use ash::vk;
use interop_core::compute::host_bytes;
use interop_core::{Error, Filter, ImageDesc, ImageView, PixelFormat, Region, Result};
use std::ops::Range;
use std::sync::Arc;

/// Returns the pixels of `view` in a buffer, as an operand of a copy.
pub(crate) fn rows(buffer: vk::Buffer, view: &ImageView) -> Result<Rows> {
    let pixel = view.format.bytes_per_pixel();
    let whole = view.offset.is_multiple_of(pixel) && (view.extent.height == 1 || view.pitch().is_multiple_of(pixel));
    let length = if view.extent.height == 1 { Some(0) } else { u32::try_from(view.pitch() / pixel).ok() };
    match length.filter(|_| whole) {
        Some(row_length) => Ok(Rows { buffer, offset: view.offset as u64, row_length }),
        None => {
            let problem = format!(
                "offset {} and row pitch {} must be multiples of the pixel, {pixel} bytes",
                view.offset,
                view.pitch()
            );
            Err(Error::refused(problem))
        }
    }
}

/// Copies pixels from the host.
pub(crate) fn upload_pixels(
    shared: &DeviceState,
    to: CopyImage,
    region: Region,
    bytes: &[u8],
    view: &ImageView,
) -> Result<()> {
    let row = view.row_len();
    let len = row * region.height as usize;
    let scratch = Scratch::take(shared, len)?;
    scratch.fill(len, |to| {
        for (y, to) in (0..).zip(to.chunks_exact_mut(row)) {
            to.copy_from_slice(&bytes[view.row(y)]);
        }
        Ok(())
    })?;
    let from = Rows { buffer: scratch.raw(), offset: 0, row_length: 0 };
    let number = copy_to_image(shared, to, from, region)?;
    scratch.give_back(shared, number);
    Ok(())
}

/// Copies pixels from a buffer; the rows must lie inside it.
pub(crate) fn copy_to_image(shared: &DeviceState, to: CopyImage, from: Rows, region: Region) -> Result<u64> {
    // SAFETY: the region was checked to lie in the image and the rows in the buffer. Both are retired when they are
    // dropped, or belong to an engine, which keeps them.
    unsafe {
        shared.submissions.record(|device, commands| {
            commands::with_layout(device, commands, to, WRITTEN, || {
                device.cmd_copy_buffer_to_image(commands, from.buffer, to.image, WRITTEN, &[from.copy(region)]);
            });
        })
    }
}

/// Copies pixels to a buffer; the rows must lie inside it.
pub(crate) fn copy_to_rows(shared: &DeviceState, from: CopyImage, region: Region, to: Rows) -> Result<u64> {
    // SAFETY: as in `copy_to_image`.
    unsafe {
        shared.submissions.record(|device, commands| {
            commands::with_layout(device, commands, from, COPIED, || {
                device.cmd_copy_image_to_buffer(commands, from.image, COPIED, to.buffer, &[to.copy(region)]);
            });
        })
    }
}

/// Copies bytes from the host.
pub(crate) fn upload_bytes(shared: &DeviceState, to: (vk::Buffer, u64), bytes: &[u8]) -> Result<()> {
    let scratch = Scratch::take(shared, bytes.len())?;
    scratch.fill(bytes.len(), |to| {
        to.copy_from_slice(bytes);
        Ok(())
    })?;
    let number = copy_bytes(shared, (scratch.raw(), 0), to, bytes.len() as u64)?;
    scratch.give_back(shared, number);
    Ok(())
}

/// Copies bytes from one buffer to another; they must lie inside both.
pub(crate) fn copy_bytes(
    shared: &DeviceState,
    (from, src_offset): (vk::Buffer, u64),
    (to, dst_offset): (vk::Buffer, u64),
    size: u64,
) -> Result<u64> {
    let copy = vk::BufferCopy { src_offset, dst_offset, size };
    // SAFETY: the callers checked the ranges. Both buffers are retired when they are dropped, or belong to an engine,
    // which keeps them.
    unsafe { shared.submissions.record(|device, commands| device.cmd_copy_buffer(commands, from, to, &[copy])) }
}

/// Reads the pixels of a region, each of `pixel` bytes, into tight rows.
pub(crate) fn read_image(shared: &DeviceState, from: CopyImage, pixel: usize, region: Region) -> Result<Vec<u8>> {
    let len = region.width as usize * region.height as usize * pixel;
    read(shared, len, |scratch| {
        copy_to_rows(shared, from, region, Rows { buffer: scratch.raw(), offset: 0, row_length: 0 })
    })
}

/// Checks that the device can blit these formats; its queue is checked elsewhere.
pub(crate) fn check_blit(shared: &DeviceState, from: vk::Format, to: vk::Format, filter: Filter) -> Result<()> {
    use vk::FormatFeatureFlags as Features;
    let linear = match filter {
        Filter::Linear => Features::SAMPLED_IMAGE_FILTER_LINEAR,
        _ => Features::empty(),
    };
    for (format, needed) in [(from, Features::BLIT_SRC | linear), (to, Features::BLIT_DST)] {
        let lacks = needed & !shared.sharing.format_features(format);
        if !lacks.is_empty() {
            let reason = format!("its images of {format:?} lack {lacks:?}, which a blit from {from:?} to {to:?} needs");
            return Err(shared.unsupported(reason));
        }
    }
    Ok(())
}

/// Reads a region of an image, converted to RGBA8 by the driver's blit, into tight rows; `None` where the device cannot
/// blit these formats.
pub(crate) fn blit_back(shared: &Arc<DeviceState>, from: CopyImage, region: Region) -> Result<Option<Vec<u8>>> {
    let to = ImageDesc::new(region.width, region.height, PixelFormat::Rgba8);
    if !shared.handles.draws() || check_blit(shared, from.format, vk_format(to.format), Filter::Nearest).is_err() {
        return Ok(None);
    }
    let (image, all) = (Image::zeroed(shared, &to)?, to.extent.full());
    let drawn = image.place();
    // SAFETY: the region was checked to lie in the image; the other image was created for it, and is retired when it is
    // dropped.
    unsafe {
        shared.submissions.record(|device, commands| {
            commands::with_layout(device, commands, drawn, WRITTEN, || {
                commands::blit(device, commands, (from, region), (drawn.image, all), vk::Filter::NEAREST);
            });
        })?
    };
    read_image(shared, drawn, to.format.bytes_per_pixel(), all).map(Some)
}

/// Reads a range of bytes.
pub(crate) fn read_buffer(shared: &DeviceState, from: vk::Buffer, range: &Range<u64>) -> Result<Vec<u8>> {
    let bytes = range.end - range.start;
    read(shared, bytes as usize, |scratch| copy_bytes(shared, (from, range.start), (scratch.raw(), 0), bytes))
}

/// Returns a region of an image that lies in a buffer.
pub(crate) fn part_of(view: &ImageView, region: Region) -> ImageView {
    let at = view.row_start(region.y) + region.x as usize * view.format.bytes_per_pixel();
    ImageView { extent: region.extent(), ..view.moved_to(at) }
}

/// Reads the pixels of a region of an image that lies in a buffer, into tight rows.
pub(crate) fn read_rows(shared: &DeviceState, from: vk::Buffer, view: &ImageView, region: Region) -> Result<Vec<u8>> {
    let part = part_of(view, region);
    let span = part.span();
    let all = read_buffer(shared, from, &(span.start as u64..span.end as u64))?;
    let part = part.moved_to(0);
    let mut pixels = host_bytes(part.row_len() * region.height as usize)?;
    (0..region.height).for_each(|y| pixels.extend_from_slice(&all[part.row(y)]));
    Ok(pixels)
}

fn read(shared: &DeviceState, len: usize, copy: impl FnOnce(&Scratch) -> Result<u64>) -> Result<Vec<u8>> {
    let mut bytes = host_bytes(len)?;
    let scratch = Scratch::take(shared, len)?;
    let number = copy(&scratch)?;
    let waited = shared.submissions.wait(number);
    if waited.is_ok() {
        scratch.read(len, |from| bytes.extend_from_slice(from))?;
    }
    scratch.give_back(shared, number);
    waited.map(|()| bytes)
}
