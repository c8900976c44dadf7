//! Contexts without a window.

#[cfg(target_vendor = "apple")]
mod cgl;
#[cfg(all(unix, not(target_vendor = "apple")))]
mod egl;
#[cfg(all(unix, not(target_vendor = "apple")))]
mod egl_cuda;
mod es;
#[cfg(windows)]
mod hidden_window;
#[cfg(windows)]
mod wgl;

use super::own::OwnContext;
use super::{NativeContext, load_gl};
use crate::context_state::{ContextState, Ownership};
use crate::display::GlDisplay;
use crate::identity::Origin;
use crate::raw::RawFns;
#[cfg(target_vendor = "apple")]
use cgl as system;
#[cfg(all(unix, not(target_vendor = "apple")))]
use egl as system;
use glutin::display::Display;
use glutin::prelude::GlDisplay as _;
use interop_core::{DeviceIdentity, Result};
use std::rc::Rc;
#[cfg(windows)]
use wgl as system;

pub use es::EsContext;

/// How a context without a window is made.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct HeadlessOptions {
    /// Which of [`headless_devices`]; `None` takes the first that works, hardware before software.
    pub device: Option<usize>,
    /// Where `device` is `None`: tries the EGL device that is this one (by `EGL_NV_device_cuda`, PCI address and UUID)
    /// before all others. What is computed on a device is then drawn on it.
    pub same_device_as: Option<DeviceIdentity>,
    /// The display uses nothing above this OpenGL version and no extension, as if the driver had no more: for working
    /// around driver bugs, and for tests. `None`: all that the driver has.
    pub version_limit: Option<(u32, u32)>,
}

impl HeadlessOptions {
    /// Takes this one of [`headless_devices`]; `None`: the first that works.
    #[must_use]
    pub fn with_device(self, device: impl Into<Option<usize>>) -> Self {
        Self { device: device.into(), ..self }
    }

    /// Tries this device before all others.
    #[must_use]
    pub fn with_same_device_as(self, same_device_as: impl Into<Option<DeviceIdentity>>) -> Self {
        Self { same_device_as: same_device_as.into(), ..self }
    }

    /// Uses nothing above this OpenGL version and no extension; `None`: all that the driver has.
    #[must_use]
    pub fn with_version_limit(self, version_limit: impl Into<Option<(u32, u32)>>) -> Self {
        Self { version_limit: version_limit.into(), ..self }
    }
}

/// A device that draws without a window.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeadlessDevice {
    /// Number for [`HeadlessOptions::device`]: the place in EGL's list.
    pub index: usize,
    /// Name as EGL gives it; often unknown until a context is made.
    pub name: Option<String>,
    /// DRM node.
    pub drm_node: Option<std::path::PathBuf>,
    /// CUDA's number of the device in this process (`EGL_NV_device_cuda`).
    pub cuda_ordinal: Option<u32>,
    /// True for a renderer on the CPU.
    pub software: bool,
}

/// Where the system chooses the device.
#[cfg(any(windows, target_vendor = "apple"))]
impl HeadlessDevice {
    const fn the_only() -> Self {
        Self { index: 0, name: None, drm_node: None, cuda_ordinal: None, software: false }
    }
}

#[cfg(any(windows, target_vendor = "apple"))]
impl HeadlessOptions {
    fn check_the_only(&self, system: &str) -> Result<()> {
        match self.device {
            None | Some(0) => Ok(()),
            Some(index) => {
                let problem = format!("there is no device {index}: {system} chooses one itself, which is 0");
                Err(interop_core::Error::invalid("GlDisplay::headless", problem))
            }
        }
    }
}

/// The EGL devices of this machine, in EGL's order; on Windows and macOS, where there is no EGL, the one that WGL or CGL
/// chooses.
///
/// # Errors
/// [`interop_core::Error::Unavailable`] where there is no libEGL, or it cannot list devices.
pub fn headless_devices() -> Result<Vec<HeadlessDevice>> {
    system::devices()
}

impl GlDisplay {
    /// Makes a context without a window and makes it current on this thread.
    ///
    /// It tries, in order: EGL devices (that of [`HeadlessOptions::same_device_as`], then hardware), then EGL's default
    /// display, which with Mesa and `EGL_PLATFORM=surfaceless` needs no device at all. On Windows it takes WGL, with a
    /// window that is never shown. On macOS it takes CGL.
    ///
    /// # Errors
    /// [`interop_core::Error::Unavailable`] where nothing worked, with each attempt's reason;
    /// [`interop_core::Error::InvalidInput`] for a device number that does not exist.
    pub fn headless(options: HeadlessOptions) -> Result<Rc<Self>> {
        system::open(&options)
    }
}

fn open_es(options: &HeadlessOptions) -> Result<EsContext> {
    #[cfg(all(unix, not(target_vendor = "apple")))]
    return egl::open_es(options);
    #[cfg(not(all(unix, not(target_vendor = "apple"))))]
    {
        let _ = options;
        Err(interop_core::Error::Unavailable {
            what: "OpenGL ES without a window".into(),
            reason: "it is opened by EGL, which this system lacks".into(),
            hint: "Compute in OpenGL or by wgpu.".into(),
        })
    }
}

/// The display of a context that was just made current.
fn on_context(own: OwnContext, display: &Display, origin: &Origin, options: &HeadlessOptions) -> Result<Rc<GlDisplay>> {
    let mut load = |symbol: &std::ffi::CStr| display.get_proc_address(symbol);
    // SAFETY: the context was just made current, and the loader is its display's.
    unsafe {
        let gl = load_gl(&mut load)?.into();
        let raw = RawFns::load(&mut load);
        let native = NativeContext::current(Some(&mut load));
        let shared = ContextState::new(gl, raw, (Ownership::Own(own), native), origin, options.version_limit)?;
        Ok(GlDisplay::from_shared(shared))
    }
}
