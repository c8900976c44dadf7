//! A context with other holders than its display: it outlives the display where somebody still shares with it.

use super::native::NativeContext;
use super::own::Resting;
use crate::context::deferred_deletes::DeferredDeletes;
use interop_core::{GlContext, GlName};
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// State shared by the display and those who share with its context.
pub(crate) struct Held {
    native: NativeContext,
    /// The display was told that the context is gone.
    lost: AtomicBool,
    /// Objects that others made in it and dropped while it was not current.
    pub deferred_deletes: DeferredDeletes,
    /// A context made by this crate, once its display is gone. The last holder drops it, on any thread.
    rests: Mutex<Option<Resting>>,
}

impl Held {
    pub(crate) fn new(native: NativeContext) -> Self {
        Self {
            native,
            lost: AtomicBool::new(false),
            deferred_deletes: DeferredDeletes::default(),
            rests: Mutex::new(None),
        }
    }

    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Release);
        self.deferred_deletes.abandon();
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// The display is gone: whoever holds this keeps the context.
    pub(crate) fn keep(&self, context: Resting) {
        *self.rests.lock().unwrap_or_else(PoisonError::into_inner) = Some(context);
    }
}

// SAFETY: a context that is ours is kept here once its display is gone, and before it is the display's; an engine has
// promised to keep its own (`GlDisplay::from_engine`). The name is the window system's, which is asked which context is
// current, and finds the functions.
unsafe impl GlContext for Held {
    fn name(&self) -> GlName {
        self.native.name()
    }

    fn is_current(&self) -> bool {
        !self.is_lost() && self.native.is_current()
    }

    fn function(&self, name: &CStr) -> *const c_void {
        self.native.function(name)
    }
}
