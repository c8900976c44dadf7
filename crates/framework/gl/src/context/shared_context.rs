//! A context that its display shares with other owners: it outlives the display while they hold it.

use super::native::NativeContext;
use super::own::RestingContext;
use crate::context::deferred_deletes::DeferredDeletes;
use interop_core::describe::PlainMutex;
use interop_core::{GlContext, GlName};
use std::ffi::{CStr, c_void};

/// State shared by the display and the APIs that share its context.
pub(crate) struct SharedContext {
    native: NativeContext,
    /// Objects that others created in it and dropped while it was not current.
    pub deferred_deletes: DeferredDeletes,
    /// A context created by this crate, once its display is dropped. The last owner drops it, on any thread.
    rests: PlainMutex<Option<RestingContext>>,
}

impl SharedContext {
    pub(crate) fn new(native: NativeContext) -> Self {
        Self { native, deferred_deletes: DeferredDeletes::default(), rests: PlainMutex::new(None) }
    }

    pub(crate) fn lose(&self) {
        self.deferred_deletes.close();
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.deferred_deletes.is_closed()
    }

    /// Keeps the context alive after its display is dropped.
    pub(crate) fn keep(&self, context: RestingContext) {
        *self.rests.lock() = Some(context);
    }
}

// SAFETY: a context of this crate is owned by the display, and kept here after the display is dropped; an engine has
// promised to keep its own (`GlDisplay::from_engine`). The name is the window system's, which reports the current
// context and finds the functions.
unsafe impl GlContext for SharedContext {
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
