//! GL objects that are deleted in the right context only.
//!
//! A name means something else in another context. So an object dropped while its context is not current goes to a
//! list. The next call in the right context deletes what is in the list; else it goes with the context itself.

use crate::context::context_state::ContextState;
use crate::context::names::{DeferredDelete, GlName};
use interop_core::HostBlock;
use std::rc::Rc;

/// Owns one GL object.
pub(crate) struct Owned<T: GlName> {
    shared: Rc<ContextState>,
    name: T,
    /// Host memory that the object reads in place; freed after the object.
    memory: Option<HostBlock>,
}

impl<T: GlName> Owned<T> {
    /// Takes ownership of a name just made in `shared`'s context.
    pub(crate) fn new(shared: &Rc<ContextState>, name: T) -> Self {
        shared.counts.change(name.name(), 1);
        Self { shared: Rc::clone(shared), name, memory: None }
    }

    /// Lets the object keep `memory` until GL has deleted it.
    pub(crate) fn keep(&mut self, memory: HostBlock) {
        self.memory = Some(memory);
    }

    /// The name.
    pub(crate) fn get(&self) -> T {
        self.name
    }
}

impl<T: GlName> Drop for Owned<T> {
    fn drop(&mut self) {
        let object = DeferredDelete::Gl { name: self.name.name(), memory: self.memory.take() };
        if self.shared.is_current() {
            self.shared.delete(object);
        } else {
            self.shared.defer_delete(object);
        }
    }
}

/// A GL object of ours, or one of the engine's that is only named.
pub(crate) enum Named<T: GlName> {
    Ours(Owned<T>),
    /// The engine keeps it for as long as this.
    Engines(T),
}

impl<T: GlName + Copy> Named<T> {
    /// The name.
    pub(crate) fn get(&self) -> T {
        match self {
            Self::Ours(owned) => owned.get(),
            Self::Engines(name) => *name,
        }
    }
}
