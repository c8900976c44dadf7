//! Xlib has one error handler for the whole process. winit sets it, and takes errors of every other X connection in the
//! process (of a toolkit, of a Python module) for its own: the next window would fail to open for a reason that has
//! nothing to do with it. So each connection's errors are kept apart here.
//!
//! A window that another program destroys is the second case. Mesa presents into it until the notice arrives, the server
//! refuses each picture, and winit takes the refusal for a failure of its next call: it panics, and all windows end.

use raw_window_handle::RawDisplayHandle;
use std::ffi::{c_int, c_uchar, c_ulong, c_void};
use std::sync::Once;
use winit::platform::x11::{XlibErrorHook, register_xlib_error_hook};

/// Address of the connection, if it is one of Xlib's.
fn connection(handle: RawDisplayHandle) -> Option<usize> {
    match handle {
        RawDisplayHandle::Xlib(handle) => handle.display.map(|display| display.as_ptr() as usize),
        _ => None,
    }
}

/// `XErrorEvent` of `Xlib.h`.
#[repr(C)]
struct ErrorEvent {
    kind: c_int,
    display: *mut c_void,
    resource: c_ulong,
    serial: c_ulong,
    error_code: c_uchar,
    request_code: c_uchar,
    minor_code: c_uchar,
}

/// `BadWindow` and `BadDrawable` of `X.h`: the server has no such window.
const WINDOW_IS_GONE: [c_uchar; 2] = [3, 9];

/// Keeps errors of other connections than winit's from winit, and those of windows that have been destroyed: winit hears
/// of these by `DestroyNotify`. winit has one connection for as long as the process lives.
pub(crate) fn keep_from_winit(winit: RawDisplayHandle) {
    static ONCE: Once = Once::new();
    let Some(winit) = connection(winit) else { return };
    ONCE.call_once(|| {
        register_xlib_error_hook(Box::new(move |display: *mut c_void, event: *mut c_void| {
            // SAFETY: winit passes on what Xlib gave its error handler, an `XErrorEvent` that lives until the hook returns.
            let code = unsafe { (*event.cast::<ErrorEvent>()).error_code };
            let foreign = display as usize != winit;
            let gone = WINDOW_IS_GONE.contains(&code);
            if foreign || gone {
                tracing::debug!(foreign, code, "an X error that is not one of the windows' loop was passed over");
            }
            foreign || gone
        }));
    });
}

/// Registers glutin's hook, once, for errors of winit's connection alone.
pub(crate) fn registrar(winit: RawDisplayHandle) -> Box<dyn Fn(XlibErrorHook)> {
    static ONCE: Once = Once::new();
    let winit = connection(winit);
    Box::new(move |hook| {
        ONCE.call_once(|| {
            register_xlib_error_hook(Box::new(move |display, event| {
                winit.is_none_or(|winit| display as usize == winit) && hook(display, event)
            }));
        });
    })
}
