//! Separates X errors by connection. Xlib has one error handler for the whole process. winit installs it, and
//! attributes errors of every other X connection in the process (of a toolkit or a Python module) to itself: the next
//! window would fail to open for an unrelated reason.
//!
//! A window that another program destroys is the second case. Mesa presents into it until the notification arrives, the
//! server rejects each picture, and winit takes the error for a failure of its next call: it panics, and all windows
//! are closed.

use raw_window_handle::RawDisplayHandle;
use std::ffi::{c_int, c_uchar, c_ulong, c_void};
use std::sync::Once;
use winit::platform::x11::{XlibErrorHook, register_xlib_error_hook};

/// Returns the address of the connection, if it is one of Xlib's.
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

/// `BadWindow` and `BadDrawable` of `X.h`: the window no longer exists.
const WINDOW_IS_GONE: [c_uchar; 2] = [3, 9];

/// Hides errors of other connections from winit, and errors of destroyed windows, which winit learns about through
/// `DestroyNotify`. winit has one connection for as long as the process lives.
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
                tracing::debug!(foreign, code, "ignored an X error that does not belong to the window event loop");
            }
            foreign || gone
        }));
    });
}

/// Registers glutin's hook once, for errors of winit's connection only.
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
