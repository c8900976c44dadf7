//! Displays in the context of a game engine or toolkit, which continues to use it.

use crate::api::identity::Origin;
use crate::api::raw::RawFns;
use crate::context::context_state::{ContextState, Ownership};
use crate::context::current_check::CurrentCheck;
use crate::context::{GlFunctions, Loader, NativeContext, load_gl};
use crate::display::contract::GlDisplay;
use interop_core::describe::process::enter;
use interop_core::{Error, Result};
use std::ffi::{CStr, c_void};
use std::sync::Arc;

/// Properties of the engine's context. All of them are optional.
#[derive(Default)]
#[non_exhaustive]
pub struct EngineOptions {
    /// Returns true where the engine's context is current on the calling thread, for engines that know it better than
    /// their window system. It is called at the start of every operation, so it must be fast.
    ///
    /// By default the display asks EGL, GLX, WGL or CGL for the current context (`eglGetCurrentContext()` or similar,
    /// 0.2 us a call with libglvnd), and compares it with the context that was current when the display was created.
    ///
    /// Where none of them knows the context (OSMesa, or a system that hides its library), a warning is logged. The
    /// display then assumes that the context is always current, and never returns
    /// [`interop_core::Error::WrongContext`]. Programs with two such contexts must set this function.
    pub is_current: Option<CurrentCheck>,
    /// The display uses no features above this version (of OpenGL ES in an ES context) and no extensions. `None` uses
    /// everything that the driver has.
    pub version_limit: Option<(u32, u32)>,
}

interop_core::setters!(EngineOptions {
    /// Sets the function that tells whether the engine's context is current on the calling thread.
    with_is_current(is_current: impl Fn() -> bool + 'static => Some(CurrentCheck::OneThread(Box::new(is_current))));
    /// Limits the display to this OpenGL version without extensions; `None` uses everything that the driver has.
    with_version_limit(version_limit: impl Into<Option<(u32, u32)>>);
});

impl std::fmt::Debug for EngineOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineOptions")
            .field("is_current", &self.is_current.is_some())
            .field("version_limit", &self.version_limit)
            .finish()
    }
}

impl GlDisplay {
    /// Creates a display in the context that is current on this thread, whoever created it, without the engine's loader
    /// or glow. EGL, GLX, WGL and CGL are asked for the current context and its functions, but only those whose library
    /// this process has already loaded.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where none of the four knows a current context; [`GlDisplay::from_loader`] supports
    /// contexts of other systems. [`Error::Unsupported`] below OpenGL 3.3 and OpenGL ES 3.0.
    ///
    /// # Safety
    /// The conditions of [`GlDisplay::from_engine`] hold.
    ///
    /// # Examples
    /// ```
    /// use pixelferry_gl::{EngineOptions, GlDisplay, HeadlessOptions};
    ///
    /// // An existing context that is current on this thread.
    /// let Ok(engine) = GlDisplay::headless(HeadlessOptions::default()) else { return Ok(()) };
    /// // SAFETY: the context stays current on this thread until both displays are gone.
    /// let display = unsafe { GlDisplay::from_current(EngineOptions::default()) }?;
    /// assert_eq!(display.version(), engine.version());
    /// # drop((display, engine));
    /// # Ok::<(), interop_core::Error>(())
    /// ```
    pub unsafe fn from_current(options: EngineOptions) -> Result<Arc<Self>> {
        let _entered = enter("OpenGL")?;
        // SAFETY: the caller's promise; what the window system gives are the functions of its current context.
        unsafe {
            let native = NativeContext::current(None).ok_or_else(|| Error::Unavailable {
                what: "OpenGL".into(),
                reason: "EGL, GLX, WGL and CGL know no context that is current on this thread".into(),
                hint: "Make the context current on this thread first. For a context of another system (OSMesa), use \
                       GlDisplay::from_loader."
                    .into(),
            })?;
            let mut load = |name: &CStr| native.function(name);
            let gl = load_gl(&mut load)?.into();
            let raw = RawFns::load(&mut load);
            displayed(gl, raw, Some(native), options)
        }
    }

    /// Creates a display in an engine's context with the engine's own glow, held by `Arc` or by `Arc`.
    ///
    /// The display asks the context's window system (EGL, GLX, WGL or CGL) for functions that glow does not wrap. Where
    /// none knows the context, the display works without these functions. It then lacks the device's UUID, memory of
    /// compute devices, timelines, draws with a compute shader, and the detection of a mapped buffer whose content the
    /// driver lost. [`GlDisplay::from_loader`] has them in that case, too.
    ///
    /// # Safety
    /// The context of `gl` is current on this thread, and is used from this thread only. It stays alive until every
    /// object of this display is dropped or [`GlDisplay::context_lost`] is called. In either case, backends that were
    /// opened in it ([`interop_core::ComputeBackend::open_in`]) are dropped before the context, together with all their
    /// objects.
    ///
    /// `options.is_current` must answer correctly if it is set. If it is not set, and no window system knows the
    /// context ([`EngineOptions::is_current`]), the context must be current at every call and drop.
    pub unsafe fn from_engine(gl: impl Into<GlFunctions>, options: EngineOptions) -> Result<Arc<Self>> {
        // SAFETY: the caller's promise.
        unsafe { wrap(gl.into(), None, None, options) }
    }

    /// Creates a display in an engine's context, with functions from `load` (e.g. `eglGetProcAddress`).
    ///
    /// # Errors
    /// [`interop_core::Error::Unavailable`] where no context is current; [`interop_core::Error::Unsupported`] below
    /// OpenGL 3.3 and OpenGL ES 3.0.
    ///
    /// # Safety
    /// The conditions of [`GlDisplay::from_engine`] hold. `load` returns the context's GL functions, or null for those
    /// that it lacks.
    pub unsafe fn from_loader(
        mut load: impl FnMut(&CStr) -> *const c_void,
        options: EngineOptions,
    ) -> Result<Arc<Self>> {
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
) -> Result<Arc<GlDisplay>> {
    let _entered = enter("OpenGL")?;
    // SAFETY: the caller's promise.
    unsafe {
        let native = NativeContext::current(load);
        if native.is_none() && options.is_current.is_none() {
            tracing::warn!(
                "no window system reports the current OpenGL context, so calls in another context are not detected; \
                 set EngineOptions::is_current where there are several"
            );
        }
        // Its library stays loaded with the held context.
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
) -> Result<Arc<GlDisplay>> {
    let ownership = Ownership::Engine(options.is_current);
    // SAFETY: the caller's promise.
    let shared = unsafe { ContextState::new(gl, raw, (ownership, native), &Origin::default(), options.version_limit) }?;
    Ok(GlDisplay::from_shared(shared))
}
