//! Names of objects that a backend created in the context of a display. Those dropped while the context is not current
//! are deleted later.

use crate::api::memory_object::{MemoryObject, MemoryObjectFns};
use crate::api::semaphore_object::{SemaphoreFns, SemaphoreObject};
use crate::context::deletion_list::DeletionList;
use crate::context::names::{ObjectCounts, delete_memory};
use glow::HasContext as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A name of any kind.
#[derive(Clone, Copy)]
pub(crate) enum ObjectName {
    Buffer(glow::Buffer),
    #[cfg_attr(not(feature = "compute"), allow(dead_code, reason = "the backend alone makes some"))]
    Program(glow::Program),
    /// Imported memory. `software` says that a CPU draws there.
    #[cfg_attr(not(feature = "compute"), allow(dead_code, reason = "the backend alone opens some"))]
    Memory {
        name: MemoryObject,
        functions: MemoryObjectFns,
        software: bool,
    },
    /// An imported semaphore.
    #[cfg_attr(not(feature = "compute"), allow(dead_code, reason = "the backend alone opens some"))]
    Semaphore(SemaphoreObject, SemaphoreFns),
}

/// Counts of the objects, and the dropped objects that wait to be deleted.
#[derive(Default)]
pub(crate) struct DeferredDeletes {
    dead: DeletionList<ObjectName>,
    buffers: AtomicUsize,
    programs: AtomicUsize,
    memory_objects: AtomicUsize,
    semaphores: AtomicUsize,
}

impl DeferredDeletes {
    fn count(&self, name: ObjectName) -> &AtomicUsize {
        match name {
            ObjectName::Buffer(_) => &self.buffers,
            ObjectName::Program(_) => &self.programs,
            ObjectName::Memory { .. } => &self.memory_objects,
            ObjectName::Semaphore(..) => &self.semaphores,
        }
    }

    pub(crate) fn made(&self, name: ObjectName) {
        self.count(name).fetch_add(1, Ordering::Relaxed);
    }

    /// Keeps a dropped object until its context is current.
    pub(crate) fn defer_delete(&self, name: ObjectName) {
        if let Some(name) = self.dead.push(name) {
            self.count(name).fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Deletes a name.
    ///
    /// # Safety
    /// Its context is current, `gl` is of it, and the name is not used afterwards.
    pub(crate) unsafe fn delete(&self, gl: &glow::Context, name: ObjectName) {
        self.count(name).fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe {
            match name {
                ObjectName::Buffer(name) => gl.delete_buffer(name),
                ObjectName::Program(name) => gl.delete_program(name),
                ObjectName::Memory { name, functions, software } => delete_memory(gl, &functions, name, software),
                ObjectName::Semaphore(name, functions) => functions.delete(name),
            }
        }
    }

    /// Deletes the waiting objects.
    ///
    /// # Safety
    /// Their context is current, and `gl` is of it.
    pub(crate) unsafe fn empty(&self, gl: &glow::Context) {
        for name in self.dead.take() {
            // SAFETY: the caller's promise; who dropped it has gone.
            unsafe { self.delete(gl, name) }
        }
    }

    /// Forgets the objects, and those that are dropped later, because the context is gone.
    pub(crate) fn close(&self) {
        for name in self.dead.close() {
            self.count(name).fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// True where the context is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.dead.is_closed()
    }

    /// Adds the counts of the objects.
    pub(crate) fn add_to(&self, counts: &mut ObjectCounts) {
        let dead = self.dead.lock().len();
        counts.buffers += self.buffers.load(Ordering::Relaxed);
        counts.programs += self.programs.load(Ordering::Relaxed);
        counts.memory_objects += self.memory_objects.load(Ordering::Relaxed);
        counts.semaphores += self.semaphores.load(Ordering::Relaxed);
        counts.awaiting_context += dead;
    }
}
