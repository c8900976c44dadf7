//! GL objects that are deleted only in their own context.
//!
//! A name means something else in another context. An object dropped while its context is not current therefore goes to
//! a list. The next call in that context deletes the listed objects; otherwise they are deleted with the context
//! itself.

use crate::context::context_state::ContextState;
use crate::context::names::{DeferredDelete, GlName};
use interop_core::HostBlock;
use std::sync::Arc;

/// Owner of one GL object. If it is dropped while its context is not current, the object is deleted later.
pub struct OwnedObject<T: GlName> {
    shared: Arc<ContextState>,
    name: T,
    /// Host memory that the object reads in place; freed after the object.
    memory: Option<HostBlock>,
}

const _: () = {
    const fn crosses_threads<T: Send + Sync>() {}
    crosses_threads::<ContextState>();
};

// SAFETY: the context is `Send` and `Sync`, and it alone follows the pointer behind a fence's name, on the thread on which it
// is current.
unsafe impl<T: GlName> Send for OwnedObject<T> {}
// SAFETY: as above.
unsafe impl<T: GlName> Sync for OwnedObject<T> {}

impl<T: GlName> OwnedObject<T> {
    /// Takes ownership of a name that was just created in `shared`'s context.
    pub(crate) fn new(shared: &Arc<ContextState>, name: T) -> Self {
        shared.counts.change(name.name(), 1);
        Self { shared: Arc::clone(shared), name, memory: None }
    }

    /// Makes the object keep `memory` alive until GL has deleted it.
    pub(crate) fn keep(&mut self, memory: HostBlock) {
        self.memory = Some(memory);
    }

    /// Returns the name.
    pub fn get(&self) -> T {
        self.name
    }
}

impl<T: GlName> Drop for OwnedObject<T> {
    fn drop(&mut self) {
        let object = DeferredDelete::Gl { name: self.name.name(), memory: self.memory.take() };
        if self.shared.is_current() {
            self.shared.delete(object);
        } else {
            self.shared.defer_delete(object);
        }
    }
}

/// An owned GL object, or an engine's object that is only named.
pub(crate) enum ObjectRef<T: GlName> {
    Ours(OwnedObject<T>),
    /// The engine keeps it for as long as this value.
    Engines(T),
}

impl<T: GlName + Copy> ObjectRef<T> {
    /// Returns the name.
    pub(crate) fn get(&self) -> T {
        match self {
            Self::Ours(owned) => owned.get(),
            Self::Engines(name) => *name,
        }
    }
}
