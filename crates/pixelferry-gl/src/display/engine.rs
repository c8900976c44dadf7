//! The context of a game engine or toolkit, which goes on using it.

use crate::api::identity::Origin;
use crate::api::raw::RawFns;
use crate::context::context_state::{ContextState, Ownership};
use crate::context::{GlFunctions, Loader, NativeContext, load_gl};
use crate::display::contract::GlDisplay;
use interop_core::describe::process::enter;
use interop_core::{Error, Result};
use std::ffi::{CStr, c_void};
use std::rc::Rc;

/// Properties of the engine's context. All of it is optional.
#[derive(Default)]
#[non_exhaustive]
pub struct EngineOptions {
    /// True where the engine's context is current on the calling thread, where the engine knows it better than its window
    /// system. Called at the start of every operation, so make it cheap.
    ///
    /// By default the display asks EGL, GLX, WGL or CGL which context is current (`eglGetCurrentContext()` and its
    /// like, 0.2 us a call with libglvnd). It compares the answer with the context that was current when the display
    /// was made.
    ///
    /// Where none of them knows the context (OSMesa, or a system that hides its library), a warning says so. The
    /// display then takes the context to be current always, and never gives [`interop_core::Error::WrongContext`].
    /// Programs with two such contexts must set this function.
    pub is_current: Option<Box<dyn Fn() -> bool>>,
    /// The display uses nothing above this version (of OpenGL ES in such a context) and no extension. `None`: all that the
    /// driver has.
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
    /// Works in the context that is current on this thread, whoever made it, without a loader or a glow of the
    /// engine's. The display asks EGL, GLX, WGL and CGL which context that is, and finds its functions by them. It asks
    /// only those whose library this process has opened already.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where none of the four knows a current context: [`GlDisplay::from_loader`] takes contexts
    /// of other systems. [`Error::Unsupported`] below OpenGL 3.3 and OpenGL ES 3.0.
    ///
    /// # Safety
    /// The conditions of [`GlDisplay::from_engine`] hold.
    ///
    /// # Examples
    /// ```
    /// use pixelferry_gl::{EngineOptions, GlDisplay, HeadlessOptions};
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
        let _entered = enter("OpenGL")?;
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

    /// Works in an engine's context by the engine's own glow, held by `Rc` or by `Arc`.
    ///
    /// The display asks the context's window system (EGL, GLX, WGL or CGL) for functions that glow does not wrap. Where
    /// none knows the context, the display does without these functions. It then lacks the device's UUID, memory of
    /// compute devices, timelines, draws by a compute shader, and notice that the driver lost a mapped buffer's
    /// content. [`GlDisplay::from_loader`] has them in that case, too.
    ///
    /// # Safety
    /// The context of `gl` is current on this thread, and is used from this thread only. It stays alive until every
    /// object of this display is dropped or [`GlDisplay::context_lost`] is called. In either case, backends that were
    /// opened in it ([`interop_core::ComputeBackend::open_in`]), with all that they made, go before the context does.
    ///
    /// Where `options.is_current` is given it must answer truly. Where it is not, and no window system knows the
    /// context ([`EngineOptions::is_current`]), the context must be current at every call and drop.
    pub unsafe fn from_engine(gl: impl Into<GlFunctions>, options: EngineOptions) -> Result<Rc<Self>> {
        // SAFETY: the caller's promise.
        unsafe { wrap(gl.into(), None, None, options) }
    }

    /// Works in an engine's context, with functions found by `load` (e.g. `eglGetProcAddress`).
    ///
    /// # Errors
    /// [`interop_core::Error::Unavailable`] where no context is current, [`interop_core::Error::Unsupported`] below
    /// OpenGL 3.3 and OpenGL ES 3.0.
    ///
    /// # Safety
    /// The conditions of [`GlDisplay::from_engine`] hold. `load` returns the context's GL functions, or null for those
    /// it lacks.
    pub unsafe fn from_loader(
        mut load: impl FnMut(&CStr) -> *const c_void,
        options: EngineOptions,
    ) -> Result<Rc<Self>> {
        let _entered = enter("OpenGL")?;
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
    let _entered = enter("OpenGL")?;
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
