//! A caller's own textures and buffers: frames written into them, and their content as memory for kernels.

use crate::abi::*;
use crate::boundary::{fill, optional_structure, optional_text, structure};
use crate::call::call;
use crate::exports::results::{give, say};
use crate::exports::{shown_frame, vulkan};
use crate::failure::{Failure, Result};
use crate::frame_callback::{FrameCallback, refused_or};
use crate::handles::{Handle as _, SharedMemory, free};
use crate::link_slot::FrameWriter;
use crate::objects::{IntakeSlot, OutletSlot};
use interop_core::SurfacePart;
use pixelferry::{Display, EnginePath, Intake, Outlet, OutletFrame, Policy, Region, Surface};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// Opens the object as a surface of the display.
///
/// # Safety
/// The header's promises for `pf_object`.
unsafe fn surface(display: &Arc<dyn Display>, object: &pf_object) -> Result<Surface> {
    // SAFETY: the caller's promise.
    unsafe {
        match object.kind {
            PIXELFERRY_OBJECT_GL_TEXTURE => shown_frame::gl::texture_object(display, object),
            PIXELFERRY_OBJECT_GL_BUFFER => shown_frame::gl::buffer_object(display, object),
            PIXELFERRY_OBJECT_VULKAN_IMAGE => vulkan::engine::image_object(display, object),
            PIXELFERRY_OBJECT_VULKAN_BUFFER => vulkan::engine::buffer_object(display, object),
            kind => {
                let problem = format!("pf_object.kind is {kind}, which is not a PIXELFERRY_OBJECT_ value");
                Err(Failure::argument(problem))
            }
        }
    }
}

/// A line for each path.
fn explained(in_use: impl std::fmt::Display, rows: &[EnginePath]) -> String {
    rows.iter().fold(format!("in use: {in_use}\n"), |text, row| text + &format!("{row}\n"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_outlet_open(
    backend: *mut pf_backend,
    display: *mut pf_display,
    object: *const pf_object,
    options: *const pf_outlet_options,
    outlet: *mut *mut pf_outlet,
) -> pf_status {
    // SAFETY: the header's promise for pointers, and for the object.
    call("pf_outlet_open", || unsafe {
        give(outlet, "outlet", || {
            let (backend, display) = (pf_backend::get(backend)?, pf_display::get(display)?.display());
            let options = optional_structure(options)?;
            let options = options.outlet(optional_text(options.path, "pf_outlet_options.path")?)?;
            let surface = surface(&display, &structure(object)?)?;
            Ok(OutletSlot::new(Outlet::open_with(backend, display, surface, options)?))
        })
    })
}

/// Computes a frame of a part; `None` means the whole surface.
///
/// # Safety
/// The header's promise for `compute`.
unsafe fn frame(
    outlet: *mut pf_outlet,
    part: Option<SurfacePart>,
    (compute, user): (pf_frame_function, *mut c_void),
) -> Result<()> {
    // SAFETY: the caller's promise.
    let computing = unsafe { FrameCallback::new(compute, user) }?;
    let done = pf_outlet::get(outlet)?.with(|outlet| {
        let whole = SurfacePart::full(outlet.desc());
        let is_whole = part.as_ref().is_none_or(|part| *part == whole);
        let one_try = |frame: &mut OutletFrame<'_>| computing.one_try(FrameWriter::Outlet(frame), is_whole);
        match part {
            None => outlet.frame(one_try),
            Some(SurfacePart::Image(region)) => outlet.frame_region(region, one_try),
            Some(SurfacePart::Buffer(bytes)) => outlet.frame_bytes(bytes, one_try),
        }
    })?;
    refused_or(done, &computing.refusal())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_outlet_frame(
    outlet: *mut pf_outlet,
    compute: pf_frame_function,
    user: *mut c_void,
) -> pf_status {
    // SAFETY: the header asks for a function that may be called with `user`, and returns.
    call("pf_outlet_frame", || unsafe { frame(outlet, None, (compute, user)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_outlet_frame_region(
    outlet: *mut pf_outlet,
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    compute: pf_frame_function,
    user: *mut c_void,
) -> pf_status {
    let part = SurfacePart::Image(Region::new(x, y, width, height));
    // SAFETY: the header asks for a function that may be called with `user`, and returns.
    call("pf_outlet_frame_region", || unsafe { frame(outlet, Some(part), (compute, user)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_outlet_frame_bytes(
    outlet: *mut pf_outlet,
    offset: usize,
    bytes: usize,
    compute: pf_frame_function,
    user: *mut c_void,
) -> pf_status {
    let part = SurfacePart::Buffer(offset..offset.saturating_add(bytes));
    // SAFETY: the header asks for a function that may be called with `user`, and returns.
    call("pf_outlet_frame_bytes", || unsafe { frame(outlet, Some(part), (compute, user)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_outlet_finish(outlet: *mut pf_outlet) -> pf_status {
    call("pf_outlet_finish", || Ok(pf_outlet::get(outlet)?.with(|outlet| outlet.finish())??))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_outlet_explain(outlet: *mut pf_outlet, explanation: *mut *mut c_char) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_outlet_explain", || unsafe {
        say(explanation, "explanation", || {
            pf_outlet::get(outlet)?.with(|outlet| explained(outlet.path(), outlet.rows()))
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_outlet_free(outlet: *mut pf_outlet) -> pf_status {
    call("pf_outlet_free", || free(outlet))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_intake_open(
    backend: *mut pf_backend,
    display: *mut pf_display,
    object: *const pf_object,
    path: *const c_char,
    intake: *mut *mut pf_intake,
) -> pf_status {
    // SAFETY: the header's promise for pointers, and for the object.
    call("pf_intake_open", || unsafe {
        give(intake, "intake", || {
            let (backend, display) = (pf_backend::get(backend)?, pf_display::get(display)?.display());
            let path = optional_text(path, "path")?.map(|path| Policy::default().paths.named(path)).transpose()?;
            let surface = surface(&display, &structure(object)?)?;
            let opened = match path {
                Some(path) => Intake::open_by(backend, display, surface, path),
                None => Intake::open(backend, display, surface),
            };
            Ok(IntakeSlot::new(opened?))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_intake_take(intake: *mut pf_intake, memory: *mut *mut pf_memory) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_intake_take", || unsafe {
        give(memory, "memory", || Ok(SharedMemory::Taken(pf_intake::get(intake)?.take()?)))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_intake_surface(intake: *mut pf_intake, surface: *mut pf_surface) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_intake_surface", || unsafe { fill(surface, || Ok(pf_surface::of(pf_intake::get(intake)?.desc()))) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_intake_explain(intake: *mut pf_intake, explanation: *mut *mut c_char) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_intake_explain", || unsafe {
        say(explanation, "explanation", || {
            pf_intake::get(intake)?.with(|intake| explained(intake.path(), intake.rows()))
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_intake_free(intake: *mut pf_intake) -> pf_status {
    call("pf_intake_free", || free(intake))
}
