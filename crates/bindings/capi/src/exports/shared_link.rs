//! Links for all threads.

use crate::abi::*;
use crate::boundary::{fill, put, structure};
use crate::call::call;
use crate::convert::format_code;
use crate::exports::caller_structs::policy;
use crate::exports::link::OutBuffer;
use crate::exports::results::{give, say};
use crate::exports::{shown_frame, vulkan};
use crate::failure::{Failure, Refusal, Result};
use crate::frame_callback::{FrameCallback, refused_or};
use crate::frame_handle::FrameHandle;
use crate::handles::{Handle as _, StartedSlot, free, remove};
use crate::link_slot::FrameWriter;
use pixelferry::{
    Error, Extent, HeadlessDisplay, LinkCore, LinkOptions, MemoryDisplay, PixelFormat, SharedLink, Surface, SurfaceDesc,
};
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

/// A caller's function that opens the display on the link's thread, with its argument.
struct DisplayOpener {
    function: unsafe extern "C" fn(*mut c_void, *mut *mut pf_display) -> i32,
    user: *mut c_void,
}

// SAFETY: the header asks for a function and a pointer that the link's thread may use.
unsafe impl Send for DisplayOpener {}

impl DisplayOpener {
    /// Opens the display with the caller's function on this thread, and takes over its handle.
    fn open(&self) -> Result<HeadlessDisplay> {
        let mut made = ptr::null_mut();
        // SAFETY: the header asks for a function that may be called with `user` on the link's thread, and returns.
        let code = unsafe { (self.function)(self.user, &raw mut made) };
        let display = pf_display::get(made);
        remove(made.addr());
        match code {
            0 => display,
            code => Err(Failure::Callback(code)),
        }
    }
}

/// Makes the description of a frame for other threads; runs on the display's thread.
fn give_out(headless: &HeadlessDisplay, surface: &Surface) -> Result<FrameHandle, Error> {
    let is_image = matches!(surface.desc(), SurfaceDesc::Image(_));
    if let Some(memory) = headless.downcast_ref::<MemoryDisplay>() {
        if !is_image {
            return Ok(FrameHandle::Nothing);
        }
        let picture = memory.pixels_rgba8(surface)?;
        return Ok(FrameHandle::Pixels(Extent::new(picture.width, picture.height), picture.data));
    }
    let display = headless.display();
    if shown_frame::gl::is_there(&display) {
        // Other contexts see this one's work only after it has finished.
        display.finish()?;
        return if is_image {
            shown_frame::gl::texture(&display, surface).map(FrameHandle::GlTexture)
        } else {
            shown_frame::gl::buffer(&display, surface).map(FrameHandle::GlBuffer)
        }
        .map_err(of_core);
    }
    if vulkan::engine::is_there(&display) {
        return vulkan::engine::frame(&display, surface).map(FrameHandle::Vulkan).map_err(of_core);
    }
    Ok(FrameHandle::Nothing)
}

/// Returns the core's error in a failure, or a new error with its message.
fn of_core(failure: Failure) -> Error {
    match failure {
        Failure::Core(error) => error,
        other => Error::invalid("exporting a frame", other.to_string()),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shared_link_open(
    backend: *mut pf_backend,
    open: pf_open_display_function,
    user: *mut c_void,
    surface: *const pf_surface,
    options: *const pf_link_options,
    link: *mut *mut pf_shared_link,
) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_shared_link_open", || unsafe {
        give(link, "link", || {
            let (backend, desc, policy) = (pf_backend::get(backend)?, structure(surface)?.desc()?, policy(options)?);
            let function = open.ok_or_else(|| Failure::argument("open is NULL"))?;
            let open = DisplayOpener { function, user };
            let refused = Refusal::default();
            let refusal = Arc::clone(&refused);
            let display = move || {
                let open = open;
                let display = open.open().map_err(|failure| match failure {
                    Failure::Core(error) => error,
                    other => {
                        let error = Error::invalid("pf_open_display_function", other.to_string());
                        *refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(other);
                        error
                    }
                })?;
                Ok((display.display(), display))
            };
            let opened = SharedLink::open_any(backend, display, desc, LinkOptions::new(policy), give_out);
            refused_or(opened, &refused).map(Arc::new)
        })
    })
}

/// Refuses a call in which a thread would wait for itself.
fn waits_for_others(checked: Result<(), Error>) -> Result<()> {
    checked.map_err(|_| {
        Failure::Busy(
            "this thread would wait for itself: it holds a pf_shared_frame, or it is the link's own; release the frame, or call from another thread",
        )
    })
}

/// Runs `f` with the link on its thread.
fn with<R: Send + 'static>(
    link: *mut pf_shared_link,
    f: impl FnOnce(&mut LinkCore) -> Result<R, Error> + Send + 'static,
) -> Result<R> {
    let link = pf_shared_link::get(link)?;
    waits_for_others(link.check_wait())?;
    Ok(link.with(f)??)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shared_link_frame(
    link: *mut pf_shared_link,
    compute: pf_frame_function,
    user: *mut c_void,
) -> pf_status {
    call("pf_shared_link_frame", || {
        // SAFETY: the header asks for a function that may be called with `user` on the link's thread, and returns.
        let computing = unsafe { FrameCallback::new(compute, user) }?;
        let refusal = computing.refusal();
        let link = pf_shared_link::get(link)?;
        waits_for_others(link.check_wait())?;
        let done = link.frame(move |frame| computing.one_try(FrameWriter::Link(frame), true));
        refused_or(done, &refusal)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shared_link_start_frame(
    link: *mut pf_shared_link,
    compute: pf_frame_function,
    user: *mut c_void,
    started: *mut *mut pf_started,
) -> pf_status {
    // SAFETY: the header's promise for pointers; it asks for a function that may be called with `user` on the link's thread,
    // and returns.
    call("pf_shared_link_start_frame", || unsafe {
        give(started, "started", || {
            let computing = FrameCallback::new(compute, user)?;
            let refusal = computing.refusal();
            let link = pf_shared_link::get(link)?;
            let frame = link.start_frame(move |frame| computing.one_try(FrameWriter::Link(frame), true))?;
            Ok(Arc::new(StartedSlot(Mutex::new(Some((frame, refusal))))))
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_started_wait(started: *mut pf_started) -> pf_status {
    call("pf_started_wait", || {
        let slot = pf_started::get(started)?;
        let (frame, refusal) = {
            let mut kept = slot.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((frame, _)) = &*kept {
                waits_for_others(frame.check_wait())?;
            }
            kept.take().ok_or_else(|| Failure::Handle("another thread already waits for this pf_started".into()))?
        };
        remove(started.addr());
        refused_or(frame.wait(), &refusal)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_started_free(started: *mut pf_started) -> pf_status {
    call("pf_started_free", || free(started))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shared_link_show(link: *mut pf_shared_link, shown: *mut *mut pf_shared_frame) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_shared_link_show", || unsafe {
        give(shown, "shown", || Ok(Arc::new(pf_shared_link::get(link)?.shown()?)))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shared_link_resize(link: *mut pf_shared_link, surface: *const pf_surface) -> pf_status {
    call("pf_shared_link_resize", || {
        // SAFETY: the header's promise for pointers.
        let desc = unsafe { structure(surface) }?.desc()?;
        with(link, move |link| link.resize(desc))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shared_link_read_back(
    link: *mut pf_shared_link,
    data: *mut c_void,
    bytes: usize,
    needed: *mut usize,
) -> pf_status {
    call("pf_shared_link_read_back", || {
        // SAFETY: the header's promise for pointers.
        let place = unsafe { OutBuffer::new(data, bytes, needed) }?;
        let len = with(link, |link| link.shown().and_then(|shown| shown.desc().byte_len()))?;
        place.fill(len, || with(link, LinkCore::read_back))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shared_link_explain(link: *mut pf_shared_link, explanation: *mut *mut c_char) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_shared_link_explain", || unsafe {
        say(explanation, "explanation", || with(link, |link| Ok(link.explain())))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_shared_link_free(link: *mut pf_shared_link) -> pf_status {
    call("pf_shared_link_free", || free(link))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shared_frame_surface(shown: *mut pf_shared_frame, surface: *mut pf_surface) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_shared_frame_surface", || unsafe {
        fill(surface, || Ok(pf_surface::of(pf_shared_frame::get(shown)?.desc())))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shared_frame_number(shown: *mut pf_shared_frame, number: *mut u64) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_shared_frame_number", || unsafe { put(number, 0, "number", || Ok(pf_shared_frame::get(shown)?.number())) })
}

/// Writes the frame's description if it is of that kind.
///
/// # Safety
/// The header's promise for pointers.
unsafe fn given<T: SizedStruct>(
    shown: *mut pf_shared_frame,
    to: *mut T,
    what: &str,
    find: impl FnOnce(&FrameHandle) -> Option<T>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        fill(to, || {
            let none =
                || Failure::argument(format!("this frame is not {what}; pf_shared_link_read_back reads any kind"));
            find(pf_shared_frame::get(shown)?.get()).ok_or_else(none)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shared_frame_gl_texture(
    shown: *mut pf_shared_frame,
    texture: *mut pf_gl_texture,
) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_shared_frame_gl_texture", || unsafe {
        given(shown, texture, "an OpenGL texture", |given| match given {
            FrameHandle::GlTexture(texture) => Some(*texture),
            _ => None,
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shared_frame_gl_buffer(
    shown: *mut pf_shared_frame,
    buffer: *mut pf_gl_buffer,
) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_shared_frame_gl_buffer", || unsafe {
        given(shown, buffer, "an OpenGL buffer", |given| match given {
            FrameHandle::GlBuffer(buffer) => Some(*buffer),
            _ => None,
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shared_frame_vulkan(shown: *mut pf_shared_frame, frame: *mut pf_vulkan_frame) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_shared_frame_vulkan", || unsafe {
        given(shown, frame, "a frame of a Vulkan display", |given| match given {
            FrameHandle::Vulkan(frame) => Some(*frame),
            _ => None,
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shared_frame_pixels(shown: *mut pf_shared_frame, pixels: *mut pf_pixels) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_shared_frame_pixels", || unsafe {
        given(shown, pixels, "an image in plain memory", |given| match given {
            FrameHandle::Pixels(extent, rgba) => Some(pf_pixels {
                data: rgba.as_ptr().cast_mut().cast(),
                row_pitch: 4 * extent.width as isize,
                row_bytes: 4 * extent.width as usize,
                rows: extent.height,
                width: extent.width,
                height: extent.height,
                format: format_code(PixelFormat::Rgba8),
                ..pf_pixels::blank()
            }),
            _ => None,
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_shared_frame_release(shown: *mut pf_shared_frame) -> pf_status {
    call("pf_shared_frame_release", || free(shown))
}
