//! Frames being written.

use crate::abi::*;
use crate::boundary::{array, fill};
use crate::call::call;
use crate::convert::{check_pitch, format_code, shape};
use crate::failure::{Failure, Result};
use crate::handles::{Handle as _, free, is_parents};
use crate::link_slot::{FrameSlot, FrameWriter};
use crate::sources::{LaunchSources, arguments};
use interop_core::View;
use pixelferry::{Error, ImageView};
use std::ffi::c_void;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_frame_launch(
    frame: *mut pf_frame,
    kernel: *mut pf_kernel,
    args: *const pf_arg,
    arg_count: usize,
) -> pf_status {
    call("pf_frame_launch", || {
        let (frame, kernel) = (pf_frame::get(frame)?, pf_kernel::get(kernel)?);
        // SAFETY: the header's promise for pointers.
        let looked = LaunchSources::up(unsafe { array(args, arg_count, "args") }?)?;
        let borrowed = looked.borrow()?;
        let arguments = arguments(&borrowed)?;
        frame.with(|frame| Ok(frame.launch(kernel.as_ref(), &arguments)?))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_frame_write(
    frame: *mut pf_frame,
    data: *const c_void,
    bytes: usize,
    row_pitch: usize,
) -> pf_status {
    call("pf_frame_write", || {
        let frame = pf_frame::get(frame)?;
        // SAFETY: the header's promise for pointers.
        let data = unsafe { array(data.cast::<u8>(), bytes, "data") }?;
        frame.with(|frame| write(frame, data, row_pitch))
    })
}

fn write(frame: &mut FrameWriter<'_, '_>, data: &[u8], row_pitch: usize) -> Result<()> {
    let (row, rows) = shape(&frame.target()?.view());
    if row_pitch == 0 || (row_pitch == row && data.len() == row * rows) {
        return Ok(frame.write(data)?);
    }
    check_pitch(data.len(), row_pitch, (row, rows))?;
    let tight: Vec<u8> = data.chunks(row_pitch).take(rows).flat_map(|chunk| &chunk[..row]).copied().collect();
    Ok(frame.write(&tight)?)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_frame_map(frame: *mut pf_frame, write: pf_map_function, user: *mut c_void) -> pf_status {
    call("pf_frame_map", || {
        let write = write.ok_or_else(|| Failure::argument("write is NULL"))?;
        let slot = pf_frame::get(frame)?;
        // SAFETY: the header asks for a function that may be called with `user`, writes only the pixels and returns.
        map(&slot, |pixels| unsafe { write(user, &raw const *pixels) })
    })
}

/// Lets the caller's function write the pixels in place; if a frame's rows are interleaved with other pixels, it writes
/// a copy.
fn map(slot: &FrameSlot, write: impl Fn(&pf_pixels) -> i32) -> Result<()> {
    slot.with(|frame| {
        let mut code = 0;
        match map_frame(frame, slot.is_whole, |pixels| {
            code = write(pixels);
            code
        }) {
            Err(_) if code != 0 => Err(Failure::Callback(code)),
            done => Ok(done?),
        }
    })
}

fn map_frame(
    frame: &mut FrameWriter<'_, '_>,
    is_whole: bool,
    mut write: impl FnMut(&pf_pixels) -> i32,
) -> Result<(), Error> {
    let mut run = |bytes: &mut [u8], view: &View| match write(&pixels(bytes, view)) {
        0 => Ok(()),
        _ => Err(Error::invalid("pf_frame_map", "the function returned an error")),
    };
    let (memory, view) = frame.target()?.into_parts();
    let span = view.span();
    let local = view.from_its_start();
    match view {
        View::Image(image) if !is_whole && span.len() != view.payload_len() => {
            let packed = ImageView::packed(image.extent, image.format, 1, 0, false)?;
            let mut copy = vec![0; view.payload_len()];
            run(&mut copy, &View::Image(packed))?;
            frame.write(&copy)
        }
        _ => memory.map_write(span, &mut |bytes| run(bytes, &local)),
    }
}

/// Describes the bytes of a view, which begins with the first of `bytes`.
fn pixels(bytes: &mut [u8], view: &View) -> pf_pixels {
    let (row_bytes, _) = shape(view);
    let none = pf_pixels { data: bytes.as_mut_ptr().cast(), row_bytes, rows: 1, ..pf_pixels::blank() };
    match view {
        View::Buffer(_) => none,
        View::Image(image) => pf_pixels {
            data: bytes.as_mut_ptr().wrapping_add(image.offset).cast(),
            row_pitch: image.row_pitch,
            rows: image.extent.height,
            width: image.extent.width,
            height: image.extent.height,
            format: format_code(image.format),
            ..none
        },
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_frame_device_memory(frame: *mut pf_frame, memory: *mut pf_device_memory) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_frame_device_memory", || unsafe { fill(memory, || pf_frame::get(frame)?.with(device::memory)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_frame_finish(frame: *mut pf_frame) -> pf_status {
    call("pf_frame_finish", || end(frame, true))
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_frame_cancel(frame: *mut pf_frame) -> pf_status {
    call("pf_frame_cancel", || if frame.is_null() || is_parents(frame.addr()) { Ok(()) } else { end(frame, false) })
}

/// Ends a frame and frees the handle, unless the frame cannot end now.
fn end(frame: *mut pf_frame, finish: bool) -> Result<()> {
    let done = pf_frame::get(frame)?.end(finish);
    if !matches!(done, Err(Failure::Busy(_))) {
        free(frame)?;
    }
    done
}

/// The frame's memory as the compute API's own object.
mod device {
    use super::*;
    use pixelferry::RawMemory;

    pub fn memory(frame: &mut FrameWriter<'_, '_>) -> Result<pf_device_memory> {
        let device = frame.backend().device().to_string();
        // SAFETY: the header asks of callers what this asks.
        let raw = unsafe { frame.raw() }?;
        let found = match raw.memory() {
            RawMemory::Cuda { address, stream, .. } => {
                pf_device_memory { api: PIXELFERRY_API_CUDA, address, queue: stream, ..pf_device_memory::blank() }
            }
            RawMemory::OpenCl { buffer, queue, context, .. } => pf_device_memory {
                api: PIXELFERRY_API_OPENCL,
                object: buffer,
                queue,
                context,
                ..pf_device_memory::blank()
            },
            _ => Err(Error::Unsupported {
                operation: "pf_frame_device_memory",
                device,
                reason: "its memory cannot be named here; write with pf_frame_map, pf_frame_write or a kernel".into(),
            })?,
        };
        Ok(match raw.view() {
            View::Buffer(buffer) => pf_device_memory { offset: buffer.offset as u64, row_bytes: buffer.len, ..found },
            View::Image(image) => pf_device_memory {
                offset: image.offset as u64,
                row_pitch: image.row_pitch,
                row_bytes: image.row_len(),
                width: image.extent.width,
                height: image.extent.height,
                format: format_code(image.format),
                ..found
            },
        })
    }
}
