//! Frame and draw as one call: in the bound framebuffer, or in an image of the caller's.

use crate::abi::*;
use crate::boundary::{optional_out, optional_structure, structure};
use crate::call::call;
use crate::convert::showed_code;
use crate::exports::results::{give, say};
use crate::exports::shown_frame::gl;
use crate::exports::vulkan::engine;
use crate::failure::{Failure, Result};
use crate::frame_callback::{FrameCallback, refused_or};
use crate::handles::{Handle as _, free};
use crate::link_slot::FrameWriter;
use pixelferry::{Error, LinkCore, Region, ShowOutcome, WriteFrame};
use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::rc::Rc;

/// Computes a frame with the caller's function; `by` shows it. Stores how, if the caller wants to know.
///
/// # Safety
/// The header's promise for `compute`, and for pointers.
unsafe fn show(
    link: *mut pf_link,
    (compute, user): (pf_frame_function, *mut c_void),
    (showed, way): (*mut u32, *mut *mut c_char),
    by: impl FnOnce(
        &mut LinkCore,
        &mut dyn FnMut(&mut WriteFrame<'_>) -> Result<(), Error>,
    ) -> Result<Result<ShowOutcome, Error>>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        optional_out(showed, 0, "showed")?;
        optional_out(way, ptr::null_mut(), "way")?;
    }
    // SAFETY: the caller's promise.
    let computing = unsafe { FrameCallback::new(compute, user) }?;
    let mut one_try = |frame: &mut WriteFrame<'_>| computing.one_try(FrameWriter::Link(frame), true);
    let done = pf_link::get(link)?.with(|link| by(link, &mut one_try))??;
    let how = refused_or(done, &computing.refusal())?;
    // SAFETY: `out` accepted them.
    unsafe {
        if !showed.is_null() {
            showed.write(showed_code(&how));
        }
        if !way.is_null() {
            say(way, "way", || Ok(how.to_string()))?;
        }
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_show_gl(
    link: *mut pf_link,
    x: i32,
    y: i32,
    width: u32,
    height: u32,
    options: *const pf_draw_options,
    compute: pf_frame_function,
    user: *mut c_void,
    showed: *mut u32,
    way: *mut *mut c_char,
) -> pf_status {
    call("pf_link_show_gl", || {
        // SAFETY: the header's promise for pointers, and for the function.
        unsafe {
            let options = optional_structure(options)?.draw()?;
            show(link, (compute, user), (showed, way), |link, one_try| {
                gl::show(link, (x, y), (width, height), options, one_try)
            })
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_target_open(
    display: *mut pf_display,
    image: *const pf_object,
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    target: *mut *mut pf_target,
) -> pf_status {
    // SAFETY: the header's promise for pointers, and for the image.
    call("pf_target_open", || unsafe {
        give(target, "target", || {
            let (display, image) = (pf_display::get(display)?.display(), structure(image)?);
            if image.kind != PIXELFERRY_OBJECT_VULKAN_IMAGE {
                let kind = image.kind;
                return Err(Failure::argument(format!(
                    "pf_object.kind is {kind}; use PIXELFERRY_OBJECT_VULKAN_IMAGE, or for OpenGL pf_link_show_gl"
                )));
            }
            let opened = engine::target(&display, &image, Region::new(x, y, width, height))?;
            Ok(Rc::new(RefCell::new(opened)))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_show_in(
    link: *mut pf_link,
    target: *mut pf_target,
    options: *const pf_draw_options,
    compute: pf_frame_function,
    user: *mut c_void,
    showed: *mut u32,
    way: *mut *mut c_char,
) -> pf_status {
    call("pf_link_show_in", || {
        // SAFETY: the header's promise for pointers, and for the function.
        unsafe {
            let (options, target) = (optional_structure(options)?.draw()?, pf_target::get(target)?);
            show(link, (compute, user), (showed, way), |link, one_try| {
                let busy =
                    "this target is in the middle of a call; do not show in it from a function given to that call";
                let mut target = target.try_borrow_mut().map_err(|_| Failure::Busy(busy))?;
                Ok(link.show(target.as_mut(), options, one_try))
            })
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_target_free(target: *mut pf_target) -> pf_status {
    call("pf_target_free", || free(target))
}
