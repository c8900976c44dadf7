//! The context of a game engine or toolkit, which goes on using it.

use super::{GlFunctions, Loader, NativeContext, load_gl};
use crate::context_state::{ContextState, Ownership};
use crate::display::GlDisplay;
use crate::identity::Origin;
use crate::raw::RawFns;
use interop_core::{Error, Result};
use std::ffi::{CStr, c_void};
use std::rc::Rc;

/// What the engine tells of its context. All of it is optional.
#[derive(Default)]
#[non_exhaustive]
pub struct EngineOptions {
    /// Whether the engine's context is current on the calling thread, where the engine knows it better than its window
    /// system. Called at the start of every operation, so make it cheap.
    ///
    /// By default EGL, GLX, WGL or CGL is asked which context is current (`eglGetCurrentContext()` and its like, 0.2 us a
    /// call with libglvnd), and it is compared with the one that was current when the display was made. Where the context is
    /// of none of them (OSMesa, or a system that hides its library), a warning says so: the context is taken to be current
    /// always then, and [`interop_core::Error::WrongContext`] is never given. Programs with two such contexts must answer
    /// here.
    pub is_current: Option<Box<dyn Fn() -> bool>>,
    /// Uses nothing above this OpenGL version and no extension.
    pub version_limit: Option<(u32, u32)>,
}

impl EngineOptions {
    /// Sets the function by which the engine answers whether its context is current on the calling thread.
    #[must_use]
    pub fn with_is_current(self, is_current: impl Fn() -> bool + 'static) -> Self {
        Self { is_current: Some(Box::new(is_current)), ..self }
    }

    /// Uses nothing above this OpenGL version and no extension; `None`: all that the driver has.
    #[must_use]
    pub fn with_version_limit(self, version_limit: impl Into<Option<(u32, u32)>>) -> Self {
        Self { version_limit: version_limit.into(), ..self }
    }
}

impl std::fmt::Debug for EngineOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineOptions")
            .field("is_current", &self.is_current.is_some())
            .field("version_limit", &self.version_limit)
            .finish()
    }
}

impl GlDisplay {
    /// Works in the context that is current on this thread, whoever made it: no loader and no glow of the engine's is needed. EGL,
    /// GLX, WGL and CGL are asked which context that is, and find its functions; a library that this process has not opened
    /// itself is not.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where none of them knows a current context ([`GlDisplay::from_loader`] takes those that they do not
    /// know), [`Error::Unsupported`] below desktop OpenGL 3.3.
    ///
    /// # Safety
    /// The conditions of [`GlDisplay::from_engine`] hold.
    ///
    /// # Examples
    /// ```
    /// use gl_display::{EngineOptions, GlDisplay, HeadlessOptions};
    ///
    /// // Somebody's context, current on this thread.
    /// let Ok(engine) = GlDisplay::headless(HeadlessOptions::default()) else { return Ok(()) };
    /// // SAFETY: the context stays current on this thread until both displays are gone.
    /// let display = unsafe { GlDisplay::from_current(EngineOptions::default()) }?;
    /// assert_eq!(display.version(), engine.version());
    /// # drop((display, engine));
    /// # Ok::<(), interop_core::Error>(())
    /// ```
    pub unsafe fn from_current(options: EngineOptions) -> Result<Rc<Self>> {
        // SAFETY: the caller's promise; what the window system gives are the functions of its current context.
        unsafe {
            let native = NativeContext::current(None).ok_or_else(|| Error::Unavailable {
                what: "OpenGL".into(),
                reason: "EGL, GLX, WGL and CGL know no context that is current on this thread".into(),
                hint:
                    "Make the context current on this thread first. A context of another system (OSMesa) is taken by \
                       GlDisplay::from_loader."
                        .into(),
            })?;
            let mut load = |name: &CStr| native.function(name);
            let gl = load_gl(&mut load)?.into();
            let raw = RawFns::load(&mut load);
            displayed(gl, raw, Some(native), options)
        }
    }

    /// Works in an engine's context by the engine's own glow, which it may hold by `Rc` or by `Arc`.
    ///
    /// Functions that glow does not wrap are asked of the context's window system (EGL, GLX, WGL or CGL). Where none knows the
    /// context, what needs them is left out: the device's UUID, memory of compute devices, timelines, noticing that the
    /// driver lost a mapped buffer's content, and draws by a compute shader. [`GlDisplay::from_loader`] has them then, too.
    ///
    /// # Safety
    /// The context of `gl` is current on this thread, stays alive until every object of this display is dropped or
    /// [`GlDisplay::context_lost`] is called, and is used from this thread only. Backends that were opened in it
    /// ([`interop_core::ComputeBackend::open_in`]), with all that they made, go before the context does in either case. Where `options.is_current` is given it must answer truly; where it is not, and no
    /// window system knows the context (see there), the context must be current at every call and drop.
    pub unsafe fn from_engine(gl: impl Into<GlFunctions>, options: EngineOptions) -> Result<Rc<Self>> {
        // SAFETY: the caller's promise.
        unsafe { wrap(gl.into(), None, None, options) }
    }

    /// Works in an engine's context, with functions found by `load` (e.g. `eglGetProcAddress`).
    ///
    /// # Errors
    /// [`interop_core::Error::Unavailable`] where no context is current, [`interop_core::Error::Unsupported`] below
    /// desktop OpenGL 3.3.
    ///
    /// # Safety
    /// The conditions of [`GlDisplay::from_engine`] hold. `load` returns the context's GL functions, or null for those
    /// it lacks.
    pub unsafe fn from_loader(
        mut load: impl FnMut(&CStr) -> *const c_void,
        options: EngineOptions,
    ) -> Result<Rc<Self>> {
        // SAFETY: the caller's promise.
        unsafe {
            let gl = load_gl(&mut load)?.into();
            let raw = RawFns::load(&mut load);
            wrap(gl, Some(raw), Some(&mut load), options)
        }
    }
}

/// # Safety
/// The conditions of [`GlDisplay::from_engine`] hold.
unsafe fn wrap(
    gl: GlFunctions,
    raw: Option<RawFns>,
    load: Option<Loader<'_>>,
    options: EngineOptions,
) -> Result<Rc<GlDisplay>> {
    // SAFETY: the caller's promise.
    unsafe {
        let native = NativeContext::current(load);
        if native.is_none() && options.is_current.is_none() {
            tracing::warn!(
                "no window system says which OpenGL context is current, so that calls in another context are not noticed; \
                 set EngineOptions::is_current where there are several"
            );
        }
        // Its library stays open with what is held of the context.
        let found = || native.as_ref().map(|native| RawFns::load(&mut |name| native.function(name)));
        let raw = raw.or_else(found).unwrap_or_default();
        displayed(gl, raw, native, options)
    }
}

/// # Safety
/// The conditions of [`GlDisplay::from_engine`] hold.
unsafe fn displayed(
    gl: GlFunctions,
    raw: RawFns,
    native: Option<NativeContext>,
    options: EngineOptions,
) -> Result<Rc<GlDisplay>> {
    let ownership = Ownership::Engine(options.is_current);
    // SAFETY: the caller's promise.
    let shared = unsafe { ContextState::new(gl, raw, (ownership, native), &Origin::default(), options.version_limit) }?;
    Ok(GlDisplay::from_shared(shared))
}
