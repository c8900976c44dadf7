//! Options of a windowless context, the devices to choose from, and the display of a created context.

use crate::api::identity::Origin;
use crate::api::raw::RawFns;
use crate::context::context_state::{ContextState, Ownership};
use crate::context::own::OwnContext;
use crate::context::{NativeContext, load_gl};
use crate::display::contract::GlDisplay;
use glutin::display::Display;
use glutin::prelude::GlDisplay as _;
use interop_core::{DeviceIdentity, Result};
use std::sync::Arc;

/// Options of a windowless context.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct HeadlessOptions {
    /// Index into [`headless_devices`](crate::headless_devices); `None` uses the first device that works, hardware
    /// before software.
    pub device: Option<usize>,
    /// If `device` is `None`: tries the EGL device that is this one (identified by `EGL_NV_device_cuda`, PCI address
    /// and UUID) before all others, so that frames are drawn on the device that computes them.
    pub same_device_as: Option<DeviceIdentity>,
    /// The display uses no features above this OpenGL version and no extensions, as if the driver had no more: to work
    /// around driver bugs, and for tests. `None` uses everything that the driver has.
    pub version_limit: Option<(u32, u32)>,
}

impl HeadlessOptions {
    /// Sets the index into [`headless_devices`](crate::headless_devices); `None` uses the first device that works.
    #[must_use]
    pub fn with_device(self, device: impl Into<Option<usize>>) -> Self {
        Self { device: device.into(), ..self }
    }

    /// Tries this device before all others.
    #[must_use]
    pub fn with_same_device_as(self, same_device_as: impl Into<Option<DeviceIdentity>>) -> Self {
        Self { same_device_as: same_device_as.into(), ..self }
    }

    /// Limits the display to this OpenGL version without extensions; `None` uses everything that the driver has.
    #[must_use]
    pub fn with_version_limit(self, version_limit: impl Into<Option<(u32, u32)>>) -> Self {
        Self { version_limit: version_limit.into(), ..self }
    }
}

/// A device that can draw without a window.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeadlessDevice {
    /// Number for [`HeadlessOptions::device`]: the position in EGL's list.
    pub index: usize,
    /// Name as EGL reports it; often unknown until a context is created.
    pub name: Option<String>,
    /// DRM node, such as `/dev/dri/card0`.
    pub drm_node: Option<std::path::PathBuf>,
    /// CUDA's number of the device in this process (`EGL_NV_device_cuda`).
    pub cuda_ordinal: Option<u32>,
    /// True for a software renderer on the CPU.
    pub software: bool,
}

/// Constructor for systems that choose the device themselves.
#[cfg(any(windows, target_vendor = "apple"))]
impl HeadlessDevice {
    pub(super) const fn the_only() -> Self {
        Self { index: 0, name: None, drm_node: None, cuda_ordinal: None, software: false }
    }
}

#[cfg(any(windows, target_vendor = "apple"))]
impl HeadlessOptions {
    pub(super) fn check_the_only(&self, system: &str) -> Result<()> {
        match self.device {
            None | Some(0) => Ok(()),
            Some(index) => {
                let problem = format!("unknown device {index}: {system} chooses the device itself, which is number 0");
                Err(interop_core::Error::invalid("GlDisplay::headless", problem))
            }
        }
    }
}

/// Creates the display of a context that was just made current.
pub(super) fn on_context(
    own: OwnContext,
    display: &Display,
    origin: &Origin,
    options: &HeadlessOptions,
) -> Result<Arc<GlDisplay>> {
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
