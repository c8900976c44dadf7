//! The type [`EsContext`].

use super::{HeadlessOptions, open_es};
use crate::api::features::Features;
use crate::api::identity::{Origin, identify};
use crate::api::raw::RawFns;
use crate::context::loader::load_es;
use crate::context::own::OwnContext;
use crate::context::{NativeContext, SharedContext};
use crate::queue::GlDevice;
use glutin::display::Display;
use glutin::prelude::GlDisplay as _;
use interop_core::describe::error::call;
use interop_core::describe::process::ForkGuard;
use interop_core::{Error, Result};
use std::sync::Arc;

/// A windowless context of OpenGL ES (3.1 or later), for a backend that computes in it. Nothing is drawn there.
///
/// It stays on its thread. The context behind [`EsContext::device`] lives for as long as that device is held.
pub struct EsContext {
    device: GlDevice,
    held: Arc<SharedContext>,
    /// `None` only during the drop.
    own: ForkGuard<Option<OwnContext>>,
}

impl std::fmt::Debug for EsContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EsContext").field("device", &self.device).finish_non_exhaustive()
    }
}

impl EsContext {
    /// Creates a context and makes it current on this thread.
    ///
    /// It uses the EGL device with the number in `options`. Without a number it uses the first device that works: that
    /// of [`HeadlessOptions::same_device_as`], then hardware, then software. Where none works, it uses EGL's default
    /// display.
    ///
    /// # Errors
    /// [`Error::Unavailable`] without EGL (also on Windows and macOS), or where nothing worked, with the reason of each
    /// attempt; [`Error::InvalidInput`] for an unknown device number; [`Error::Unsupported`] for a version limit below
    /// 3.1.
    pub fn headless(options: &HeadlessOptions) -> Result<Self> {
        call("EsContext::headless", || {
            if let Some((major, minor)) = options.version_limit.filter(|limit| *limit < (3, 1)) {
                let reason = format!("compute shaders need OpenGL ES 3.1, but the version limit is {major}.{minor}");
                return Err(Error::Unsupported { operation: "", device: "OpenGL ES".into(), reason });
            }
            open_es(options)
        })
    }

    /// Loads a context that was just made current.
    #[cfg_attr(any(windows, target_vendor = "apple"), allow(dead_code))] // only EGL makes one
    pub(super) fn of(own: OwnContext, display: &Display, origin: &Origin) -> Result<Self> {
        let mut load = |symbol: &std::ffi::CStr| display.get_proc_address(symbol);
        // SAFETY: the context was just made current, and the loader is its display's.
        let (gl, identity, native) = unsafe {
            let gl = load_es(&mut load)?;
            let raw = RawFns::load(&mut load);
            let memory_object = glow::HasContext::supported_extensions(&gl).contains("GL_EXT_memory_object");
            let features = Features { memory_object, ..Features::default() };
            let identity = identify(&gl, &raw, &features, origin);
            (gl, identity, NativeContext::current(Some(&mut load)))
        };
        let native = native.ok_or_else(|| Error::Unsupported {
            operation: "",
            device: identity.name.clone(),
            reason: "EGL does not report the current context".into(),
        })?;
        let held = Arc::new(SharedContext::new(native));
        let device = GlDevice::of_es(gl, Arc::clone(&held), identity)?;
        Ok(Self { device, held, own: ForkGuard::new(Some(own)) })
    }

    /// Returns the context, for a backend.
    pub fn device(&self) -> &GlDevice {
        &self.device
    }
}

impl Drop for EsContext {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // Deletes objects that waited for the context; if it is not current, they are deleted with the context.
        let _ = self.device.enter();
        if let Some(resting) = self.own.take().and_then(OwnContext::rest) {
            self.held.keep(resting);
        }
    }
}
