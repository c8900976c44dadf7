//! Contexts without a window.

#[cfg(target_vendor = "apple")]
mod cgl;
#[cfg(all(unix, not(target_vendor = "apple")))]
mod egl;
#[cfg(all(unix, not(target_vendor = "apple")))]
mod egl_cuda;
mod es;
mod headless_options;
#[cfg(windows)]
mod hidden_window;
#[cfg(windows)]
mod wgl;

use crate::display::contract::GlDisplay;
#[cfg(target_vendor = "apple")]
use cgl as system;
#[cfg(all(unix, not(target_vendor = "apple")))]
use egl as system;
use interop_core::Result;
use interop_core::describe::error::call;
use interop_core::describe::process::enter;
use std::sync::Arc;
#[cfg(windows)]
use wgl as system;

pub use es::EsContext;
pub use headless_options::{HeadlessDevice, HeadlessOptions};

/// Lists the EGL devices of this machine, in EGL's order; on Windows and macOS, which have no EGL, the device that WGL
/// or CGL chooses.
///
/// # Errors
/// [`interop_core::Error::Unavailable`] where there is no libEGL, or it cannot list devices.
pub fn headless_devices() -> Result<Vec<HeadlessDevice>> {
    let _entered = enter("OpenGL")?;
    system::devices()
}

impl GlDisplay {
    /// Creates a windowless context and makes it current on this thread.
    ///
    /// It tries, in order: EGL devices (that of [`HeadlessOptions::same_device_as`], then hardware), then EGL's default
    /// display, which needs no device at all with Mesa and `EGL_PLATFORM=surfaceless`. On Windows it uses WGL, with a
    /// window that is never shown; on macOS it uses CGL.
    ///
    /// # Errors
    /// [`interop_core::Error::Unavailable`] where nothing worked, with the reason of each attempt;
    /// [`interop_core::Error::InvalidInput`] for an unknown device number.
    pub fn headless(options: HeadlessOptions) -> Result<Arc<Self>> {
        call("GlDisplay::headless", || {
            let _entered = enter("OpenGL")?;
            system::open(&options)
        })
    }
}

fn open_es(options: &HeadlessOptions) -> Result<EsContext> {
    let _entered = enter("OpenGL")?;
    #[cfg(all(unix, not(target_vendor = "apple")))]
    return egl::open_es(options);
    #[cfg(not(all(unix, not(target_vendor = "apple"))))]
    {
        let _ = options;
        Err(interop_core::Error::Unavailable {
            what: "OpenGL ES without a window".into(),
            reason: "it requires EGL, which this system lacks".into(),
            hint: "Compute with OpenGL or wgpu.".into(),
        })
    }
}
