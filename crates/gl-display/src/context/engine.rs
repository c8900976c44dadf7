//! The context of a game engine or toolkit, which goes on using it.

use crate::display::GlDisplay;
use crate::identity::Origin;
use crate::raw::RawFns;
use crate::shared::{Ownership, Shared, load_gl};
use interop_core::Result;
use std::ffi::{CStr, c_void};
use std::rc::Rc;

/// What the engine tells of its context. All of it is optional.
#[derive(Default)]
pub struct EngineOptions {
    /// Whether the engine's context is current on the calling thread, e.g. a comparison with
    /// `eglGetCurrentContext()`. Called at the start of every operation, so make it cheap. Without it the context is
    /// taken to be current always, and [`interop_core::Error::WrongContext`] is never given.
    pub is_current: Option<Box<dyn Fn() -> bool>>,
    /// Uses nothing above this OpenGL version and no extension.
    pub version_limit: Option<(u32, u32)>,
}

impl std::fmt::Debug for EngineOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineOptions")
            .field("is_current", &self.is_current.is_some())
            .field("version_limit", &self.version_limit)
            .finish()
    }
}

/// An engine's context.
pub(crate) struct EngineContext {
    is_current: Option<Box<dyn Fn() -> bool>>,
}

impl EngineContext {
    pub(crate) fn is_current(&self) -> bool {
        self.is_current.as_ref().is_none_or(|f| f())
    }
}

impl GlDisplay {
    /// Works in an engine's context by the engine's own glow.
    ///
    /// Three things need functions that glow does not wrap and are left out here: the device's UUID, opening memory of
    /// a compute device, and noticing that the driver lost a mapped buffer's content. Prefer [`GlDisplay::from_loader`] where the engine has a
    /// loader.
    ///
    /// # Safety
    /// The context of `gl` is current on this thread, stays alive until every object of this display is dropped, and
    /// is used from this thread only. Where `options.is_current` is given it must answer truly; where not, the
    /// context must be current at every call and drop.
    pub unsafe fn from_engine(gl: Rc<glow::Context>, options: EngineOptions) -> Result<Rc<Self>> {
        // SAFETY: the caller's promise.
        unsafe { wrap(gl, RawFns::default(), options) }
    }

    /// Works in an engine's context, with functions found by `load` (e.g. `eglGetProcAddress`).
    ///
    /// # Errors
    /// [`interop_core::Error::Unavailable`] where no context is current, [`interop_core::Error::Unsupported`] below
    /// desktop OpenGL 3.3.
    ///
    /// # Safety
    /// As of [`GlDisplay::from_engine`], and `load` returns the context's GL functions, or null for those it lacks.
    pub unsafe fn from_loader(
        mut load: impl FnMut(&CStr) -> *const c_void,
        options: EngineOptions,
    ) -> Result<Rc<Self>> {
        // SAFETY: the caller's promise.
        unsafe {
            let gl = Rc::new(load_gl(&mut load)?);
            wrap(gl, RawFns::load(&mut load), options)
        }
    }
}

/// # Safety
/// As of [`GlDisplay::from_engine`].
unsafe fn wrap(gl: Rc<glow::Context>, raw: RawFns, options: EngineOptions) -> Result<Rc<GlDisplay>> {
    let ownership = Ownership::Engine(EngineContext { is_current: options.is_current });
    // SAFETY: the caller's promise.
    let shared = unsafe { Shared::new(gl, raw, ownership, &Origin::default(), options.version_limit)? };
    Ok(GlDisplay::from_shared(shared))
}
