//! Names of objects that a backend made in the context of a display. Those dropped while the context is not current are
//! deleted later.

use glow::HasContext as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A name of either kind.
#[derive(Clone, Copy)]
pub(crate) enum ObjectName {
    Buffer(glow::Buffer),
    #[cfg_attr(not(feature = "compute"), allow(dead_code, reason = "the backend alone makes some"))]
    Program(glow::Program),
}

/// Counts of the objects, and the dead ones among them that wait to be deleted.
#[derive(Default)]
pub(crate) struct DeferredDeletes {
    dead: Mutex<Vec<ObjectName>>,
    has_dead: AtomicBool,
    buffers: AtomicUsize,
    programs: AtomicUsize,
}

impl DeferredDeletes {
    fn count(&self, name: ObjectName) -> &AtomicUsize {
        match name {
            ObjectName::Buffer(_) => &self.buffers,
            ObjectName::Program(_) => &self.programs,
        }
    }

    pub(crate) fn made(&self, name: ObjectName) {
        self.count(name).fetch_add(1, Ordering::Relaxed);
    }

    /// Keeps a dead one until its context is current.
    pub(crate) fn defer_delete(&self, name: ObjectName) {
        self.dead.lock().unwrap_or_else(PoisonError::into_inner).push(name);
        self.has_dead.store(true, Ordering::Release);
    }

    fn take(&self) -> Vec<ObjectName> {
        if !self.has_dead.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        std::mem::take(&mut *self.dead.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Deletes a name.
    ///
    /// # Safety
    /// Its context is current, `gl` is of it, and nobody uses the name afterwards.
    pub(crate) unsafe fn delete(&self, gl: &glow::Context, name: ObjectName) {
        self.count(name).fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe {
            match name {
                ObjectName::Buffer(name) => gl.delete_buffer(name),
                ObjectName::Program(name) => gl.delete_program(name),
            }
        }
    }

    /// Deletes the dead ones.
    ///
    /// # Safety
    /// Their context is current, and `gl` is of it.
    pub(crate) unsafe fn empty(&self, gl: &glow::Context) {
        for name in self.take() {
            // SAFETY: the caller's promise; who dropped it has gone.
            unsafe { self.delete(gl, name) }
        }
    }

    /// The context is gone, and they with it.
    pub(crate) fn abandon(&self) {
        for name in self.take() {
            self.count(name).fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Buffers, programs, and how many of both are dead.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        let dead = self.dead.lock().unwrap_or_else(PoisonError::into_inner).len();
        (self.buffers.load(Ordering::Relaxed), self.programs.load(Ordering::Relaxed), dead)
    }
}
