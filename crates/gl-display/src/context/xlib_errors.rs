//! Xlib has one error handler for the whole process. winit sets it, and takes errors of every other X connection in the
//! process (of a toolkit, of a Python module) for its own: the next window would fail to open for a reason that has
//! nothing to do with it. So each connection's errors are kept apart here.

use raw_window_handle::RawDisplayHandle;
use std::ffi::c_void;
use std::sync::Once;
use winit::platform::x11::{XlibErrorHook, register_xlib_error_hook};

/// Address of the connection, if it is one of Xlib's.
fn connection(handle: RawDisplayHandle) -> Option<usize> {
    match handle {
        RawDisplayHandle::Xlib(handle) => handle.display.map(|display| display.as_ptr() as usize),
        _ => None,
    }
}

/// Keeps errors of other connections than winit's from winit. winit has one connection for as long as the process lives.
pub(super) fn ignore_foreign(winit: RawDisplayHandle) {
    static ONCE: Once = Once::new();
    let Some(winit) = connection(winit) else { return };
    ONCE.call_once(|| {
        register_xlib_error_hook(Box::new(move |display: *mut c_void, _| {
            let foreign = display as usize != winit;
            if foreign {
                tracing::debug!("an X error of a connection that is not the windows' was passed over");
            }
            foreign
        }));
    });
}

/// Registers glutin's hook, once, for errors of winit's connection alone.
pub(super) fn registrar(winit: RawDisplayHandle) -> Box<dyn Fn(XlibErrorHook)> {
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
