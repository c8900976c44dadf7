//! Links.

use crate::abi::*;
use crate::boundary::{bytes_mut, optional_out, optional_structure, out, put, structure, text};
use crate::call::call;
use crate::exports::caller_structs::{builder, policy};
use crate::exports::results::{give, say, to_json};
use crate::failure::{Failure, Result};
use crate::frame_callback::{FrameCallback, refused_or};
use crate::handles::{Handle as _, free, is_parents, remove};
use crate::link_slot::{FrameWriter, LinkSlot};
use pixelferry::{Error, Link, LinkCore, LinkOptions, Region, WriteFrame, save_picture_with};
use std::ffi::{c_char, c_void};
use std::ptr;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_open_pair(
    frames: *const pf_frames,
    backend: *mut *mut pf_backend,
    display: *mut *mut pf_display,
    kernels: *mut *mut pf_kernel,
    link: *mut *mut pf_link,
    report: *mut *mut c_char,
) -> pf_status {
    call("pf_open_pair", || {
        // SAFETY: the header's promise for pointers; what is wanted is where it is not null.
        unsafe {
            out(backend, ptr::null_mut(), "backend")?;
            out(link, ptr::null_mut(), "link")?;
            let given = structure(frames)?;
            optional_out(display, ptr::null_mut(), "display")?;
            let count = if kernels.is_null() { 0 } else { given.launch_count };
            for at in 0..count {
                out(kernels.wrapping_add(at), ptr::null_mut(), "kernels")?;
            }
            optional_out(report, ptr::null_mut(), "report")?;
            let opened = builder(&given)?.open()?;
            if !report.is_null() {
                say(report, "report", || to_json(&opened.report))?;
            }
            for (at, kernel) in opened.kernels.into_iter().take(count).enumerate() {
                give(kernels.wrapping_add(at), "kernels", || Ok(kernel))?;
            }
            if !display.is_null() && given.shown_by.is_null() {
                give(display, "display", || Ok(opened.screen))?;
            }
            give(backend, "backend", || Ok(opened.backend))?;
            give(link, "link", || Ok(LinkSlot::new(opened.link)))
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_open(
    backend: *mut pf_backend,
    display: *mut pf_display,
    surface: *const pf_surface,
    options: *const pf_link_options,
    link: *mut *mut pf_link,
) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_link_open", || unsafe {
        give(link, "link", || {
            let (backend, display) = (pf_backend::get(backend)?, pf_display::get(display)?.display());
            let (desc, policy) = (structure(surface)?.desc()?, policy(options)?);
            Ok(LinkSlot::new(Link::open(backend, display, desc, LinkOptions::new(policy))?))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_frame(link: *mut pf_link, compute: pf_frame_function, user: *mut c_void) -> pf_status {
    call("pf_link_frame", || {
        // SAFETY: the header asks for a function that may be called with `user`, and returns.
        let computing = unsafe { FrameCallback::new(compute, user) }?;
        let one_try = |frame: &mut WriteFrame<'_>| computing.one_try(FrameWriter::Link(frame), true);
        let done = pf_link::get(link)?.with(|link| link.frame(one_try))?;
        refused_or(done, &computing.refusal())
    })
}

/// Begins a frame that the caller ends.
///
/// # Safety
/// The header's promise for pointers.
unsafe fn begin(
    link: *mut pf_link,
    frame: *mut *mut pf_frame,
    acquire: impl FnOnce(&'static mut LinkCore) -> Result<WriteFrame<'static>, Error>,
) -> Result<()> {
    let begin = || {
        let link = pf_link::get(link)?;
        let handle = pf_frame::insert(link.begin(acquire)?)?;
        link.set_open(handle.addr());
        Ok(handle)
    };
    // SAFETY: the caller's promise.
    unsafe { put(frame, ptr::null_mut(), "frame", begin) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_acquire(link: *mut pf_link, frame: *mut *mut pf_frame) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_link_acquire", || unsafe { begin(link, frame, LinkCore::acquire) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_acquire_region(
    link: *mut pf_link,
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    frame: *mut *mut pf_frame,
) -> pf_status {
    let region = Region::new(x, y, width, height);
    // SAFETY: the header's promise for pointers.
    call("pf_link_acquire_region", || unsafe { begin(link, frame, |link| link.acquire_region(region)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_acquire_bytes(
    link: *mut pf_link,
    offset: usize,
    bytes: usize,
    frame: *mut *mut pf_frame,
) -> pf_status {
    call("pf_link_acquire_bytes", || {
        let end = offset.checked_add(bytes);
        let end =
            end.ok_or_else(|| Failure::argument(format!("{bytes} bytes from {offset} on exceed the address space")))?;
        // SAFETY: the header's promise for pointers.
        unsafe { begin(link, frame, |link| link.acquire_bytes(offset..end)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_show(link: *mut pf_link, shown: *mut *mut pf_shown) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_link_show", || unsafe {
        put(shown, ptr::null_mut(), "shown", || {
            let link = pf_link::get(link)?;
            let handle = pf_shown::insert(link.show()?)?;
            link.set_open(handle.addr());
            Ok(handle)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_resize(link: *mut pf_link, surface: *const pf_surface) -> pf_status {
    call("pf_link_resize", || {
        // SAFETY: the header's promise for pointers.
        let desc = unsafe { structure(surface) }?.desc()?;
        Ok(pf_link::get(link)?.with(|link| link.resize(desc))??)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_link_flush(link: *mut pf_link) -> pf_status {
    call("pf_link_flush", || Ok(pf_link::get(link)?.with(LinkCore::flush)??))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_read_back(
    link: *mut pf_link,
    data: *mut c_void,
    bytes: usize,
    needed: *mut usize,
) -> pf_status {
    call("pf_link_read_back", || {
        // SAFETY: the header's promise for pointers.
        let place = unsafe { OutBuffer::new(data, bytes, needed) }?;
        let link = pf_link::get(link)?;
        // The shown frame may have another size than the next one.
        let len = link.look(|link| link.shown().and_then(|shown| shown.desc().byte_len()))??;
        place.fill(len, || Ok(link.with(LinkCore::read_back)??))
    })
}

/// Destination of the shown content and of its length.
pub struct OutBuffer<'a> {
    data: &'a mut [u8],
    /// Null, or accepted by `boundary::out`.
    needed: *mut usize,
}

impl OutBuffer<'_> {
    /// Checks the caller's arguments.
    ///
    /// # Safety
    /// The header's promise for pointers.
    pub unsafe fn new(data: *mut c_void, bytes: usize, needed: *mut usize) -> Result<Self> {
        // SAFETY: the caller's promise.
        unsafe {
            optional_out(needed, 0, "needed")?;
            Ok(Self { data: bytes_mut(data.cast::<u8>(), bytes, "data")?, needed })
        }
    }

    /// Stores the length, and copies the result of `read` unless only the length was requested.
    pub fn fill(self, len: usize, read: impl FnOnce() -> Result<Vec<u8>>) -> Result<()> {
        if !self.needed.is_null() {
            // SAFETY: `out` accepted it.
            unsafe { self.needed.write(len) };
        }
        let bytes = self.data.len();
        if bytes == 0 && !self.needed.is_null() {
            return Ok(());
        }
        if bytes != len {
            return Err(Failure::argument(format!(
                "data has {bytes} bytes, but the shown frame has {len} (tight rows)"
            )));
        }
        let read = read()?;
        if read.len() != len {
            return Err(Failure::argument(format!("the shown frame has {} bytes now; ask again", read.len())));
        }
        self.data.copy_from_slice(&read);
        Ok(())
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_save(
    link: *mut pf_link,
    file: *const c_char,
    options: *const pf_draw_options,
) -> pf_status {
    call("pf_link_save", || {
        // SAFETY: the header's promise for texts and pointers.
        let (file, options) = unsafe { (text(file, "file")?, optional_structure(options)?.draw()?) };
        Ok(pf_link::get(link)?.with(|link| save_picture_with(link, file, &options))??)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_path(link: *mut pf_link, path: *mut *mut c_char) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_link_path", || unsafe {
        say(path, "path", || pf_link::get(link)?.look(|link| link.path().name().to_owned()))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_explain(link: *mut pf_link, explanation: *mut *mut c_char) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_link_explain", || unsafe {
        say(explanation, "explanation", || pf_link::get(link)?.look(LinkCore::explain))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_link_report_json(link: *mut pf_link, json: *mut *mut c_char) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_link_report_json", || unsafe {
        say(json, "json", || pf_link::get(link)?.look(|link| to_json(link.report()))?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_link_free(link: *mut pf_link) -> pf_status {
    call("pf_link_free", || {
        if !link.is_null() && !is_parents(link.addr()) {
            remove(pf_link::get(link)?.take_open());
        }
        free(link)
    })
}
