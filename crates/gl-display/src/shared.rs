//! The context and what is known of it, shared by the display and all that it made.

use crate::caps::caps;
use crate::context::{EngineContext, OwnContext};
use crate::features::{Features, MIN_VERSION, parse_version};
use crate::identity::{Origin, identify};
use crate::names::{Corpse, Counts, ObjectCounts};
use crate::raw::RawFns;
use interop_core::{DeviceIdentity, DisplayCaps, Error, Result};
use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::{CStr, c_void};
use std::rc::Rc;

/// Whose context it is.
pub(crate) enum Ownership {
    /// Made here: nobody else expects its state to stay, so nothing is saved.
    Own(OwnContext),
    /// An engine's: every call leaves the state as it found it.
    Engine(EngineContext),
}

/// One context. Dropped after every object made in it, since each holds an `Rc` of this.
pub(crate) struct Shared {
    pub gl: Rc<glow::Context>,
    pub raw: RawFns,
    pub features: Features,
    pub device: DeviceIdentity,
    pub caps: DisplayCaps,
    pub counts: Counts,
    has_graves: Cell<bool>,
    /// The context is gone, and its objects with it.
    lost: Cell<bool>,
    // The context goes before the graveyard: host memory in there may be freed only when GL has let go of it.
    ownership: Ownership,
    graveyard: RefCell<Vec<Corpse>>,
    /// What makes memory and semaphores for others.
    pub vulkan: OnceCell<Rc<crate::vulkan::VulkanDevice>>,
}

/// How a context's functions are found.
pub(crate) type Loader<'a> = &'a mut dyn FnMut(&CStr) -> *const c_void;

/// Loads GL, checking beforehand what glow would panic at.
///
/// # Safety
/// A context is current, and `load` returns its functions or null.
pub(crate) unsafe fn load_gl(load: Loader<'_>) -> Result<glow::Context> {
    type GetString = unsafe extern "system" fn(u32) -> *const std::ffi::c_char;
    let unavailable = |reason: String| Error::Unavailable {
        what: "OpenGL".into(),
        reason,
        hint: "Make a desktop OpenGL 3.3 (or later) context current on this thread, and update the driver.".into(),
    };
    // SAFETY: null becomes `None`; else it is glGetString by the caller's promise.
    let get_string = unsafe { std::mem::transmute::<*const c_void, Option<GetString>>(load(c"glGetString")) };
    let get_string = get_string.ok_or_else(|| unavailable("the loader knows no glGetString".into()))?;
    for name in [glow::VERSION, glow::VENDOR, glow::RENDERER] {
        // SAFETY: glGetString returns null or a string that lives as long as the context.
        let text = unsafe {
            let text = get_string(name);
            if text.is_null() {
                return Err(unavailable("glGetString returned null: no context is current on this thread".into()));
            }
            CStr::from_ptr(text)
        };
        let text = text.to_str().map_err(|_| unavailable("the driver's name is not text".into()))?;
        if name == glow::VERSION {
            check_version(parse_version(text), text)?;
        }
    }
    // SAFETY: the same promise; the version string was read and can be parsed.
    Ok(unsafe { glow::Context::from_loader_function_cstr(load) })
}

fn check_version(version: Option<(u32, u32)>, text: &str) -> Result<()> {
    if version.is_some_and(|v| v >= MIN_VERSION) {
        return Ok(());
    }
    Err(Error::Unsupported {
        operation: "GlDisplay",
        device: format!("OpenGL {text}"),
        reason: format!("desktop OpenGL {}.{} or later is needed", MIN_VERSION.0, MIN_VERSION.1),
    })
}

impl Shared {
    /// Wraps the current context.
    ///
    /// # Safety
    /// The context of `gl` is the one of `ownership` and is current; `raw` was loaded for it.
    pub(crate) unsafe fn new(
        gl: Rc<glow::Context>,
        raw: RawFns,
        ownership: Ownership,
        origin: &Origin,
        limit: Option<(u32, u32)>,
    ) -> Result<Rc<Self>> {
        use glow::HasContext as _;
        let version = gl.version();
        let pair = (!version.is_embedded).then_some((version.major, version.minor));
        check_version(pair, &format!("{}.{}", version.major, version.minor))?;
        // SAFETY: the caller's promise, and the version was checked.
        let (features, device) = unsafe {
            let features = Features::query(&gl, limit);
            let device = identify(&gl, &raw, &features, origin);
            (features, device)
        };
        let caps = caps(&features, &raw);
        let (counts, graveyard) = (Counts::default(), RefCell::default());
        let (has_graves, lost) = (Cell::new(false), Cell::new(false));
        Ok(Rc::new(Self {
            gl,
            raw,
            features,
            device,
            caps,
            counts,
            has_graves,
            lost,
            ownership,
            graveyard,
            vulkan: OnceCell::new(),
        }))
    }

    /// True where an engine's state must be left as it was.
    pub(crate) fn is_engine(&self) -> bool {
        matches!(self.ownership, Ownership::Engine(_))
    }

    /// True where GL calls reach this context. An engine that gave no way to ask is trusted.
    pub(crate) fn is_current(&self) -> bool {
        match &self.ownership {
            _ if self.lost.get() => false,
            Ownership::Own(own) => own.is_current(),
            Ownership::Engine(engine) => engine.is_current(),
        }
    }

    /// The context, where it is ours.
    pub(crate) fn own(&self) -> Option<&OwnContext> {
        match &self.ownership {
            Ownership::Own(own) => Some(own),
            Ownership::Engine(_) => None,
        }
    }

    /// The start of every call: the context must be current. Deletes what waited for it.
    pub(crate) fn enter(&self, operation: &'static str) -> Result<()> {
        if self.lost.get() {
            let hint = crate::error::hint(glow::CONTEXT_LOST);
            return Err(self.failure(operation, glow::CONTEXT_LOST.into(), "the context is gone", hint));
        }
        if !self.is_current() {
            return Err(Error::WrongContext { operation, device: self.device.name.clone() });
        }
        if self.has_graves.get() {
            self.empty_graveyard();
        }
        Ok(())
    }

    /// The context is gone: its objects need no deleting.
    pub(crate) fn lose(&self) {
        self.lost.set(true);
        self.graveyard.take().into_iter().for_each(|corpse| corpse.abandon(self));
    }

    /// Keeps a dead object until its context is current.
    pub(crate) fn bury(&self, corpse: Corpse) {
        if self.lost.get() {
            return corpse.abandon(self);
        }
        self.has_graves.set(true);
        self.graveyard.borrow_mut().push(corpse);
    }

    fn empty_graveyard(&self) {
        self.has_graves.set(false);
        // Taken out first: dropping one may bury another.
        for corpse in self.graveyard.take() {
            corpse.delete(self);
        }
    }

    pub(crate) fn object_counts(&self) -> ObjectCounts {
        self.counts.read(self.graveyard.borrow().len())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.graveyard.borrow().is_empty() {
            return;
        }
        let has_others = self.graveyard.borrow().iter().any(|c| matches!(c, Corpse::Other(_)));
        if let (false, true, Some(own)) = (self.is_current(), has_others, self.own()) {
            // GL objects go with the context, but these must meet it alive.
            if let Err(e) = own.make_current(&self.device.name) {
                tracing::warn!(error = %e, "compute-side registrations are dropped without their context");
            }
        }
        if self.is_current() {
            self.empty_graveyard();
        } else if self.is_engine() {
            // The engine's context lives on and may still read this memory; its names cannot be deleted from here.
            let dead = self.graveyard.take();
            tracing::warn!(objects = dead.len(), "GL objects outlive the display: the engine's context is not current");
            dead.into_iter().for_each(std::mem::forget);
        }
    }
}
