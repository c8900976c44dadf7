//! A caller's own textures and buffers: outlets, intakes, and what intakes took.
//!
//! In Rust what an intake took borrows it. C has no borrows, so here the intake has a fixed address, what it took holds
//! a reference count of it, and a flag prevents any other access in the meantime.

use crate::failure::{Failure, Result};
use interop_core::{ComputeMemory, Intake, IntakeGuard, Outlet, SurfaceDesc};
use std::cell::{Cell, Ref, RefCell};
use std::ptr::NonNull;
use std::rc::Rc;

/// An outlet; a running call excludes others.
pub struct OutletSlot(RefCell<Outlet>);

impl OutletSlot {
    /// Takes ownership of an outlet.
    pub fn new(outlet: Outlet) -> Rc<Self> {
        Rc::new(Self(RefCell::new(outlet)))
    }

    /// Runs `f` with the outlet, if no other call on it is running.
    pub fn with<R>(&self, f: impl FnOnce(&mut Outlet) -> R) -> Result<R> {
        let mut outlet = self.0.try_borrow_mut().map_err(|_| {
            Failure::Busy("this outlet is in the middle of a call; do not call it from a function given to it")
        })?;
        Ok(f(&mut outlet))
    }
}

/// An intake at a fixed address.
pub struct IntakeSlot {
    /// From `Box::leak`; freed when this is dropped.
    intake: NonNull<Intake>,
    /// True while a call is running, or while what was taken is held.
    in_use: Cell<bool>,
    desc: SurfaceDesc,
}

/// The use of an intake, until this is dropped.
struct Use<'a>(&'a Cell<bool>);

impl Drop for Use<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl IntakeSlot {
    /// Takes ownership of an intake.
    pub fn new(intake: Intake) -> Rc<Self> {
        let desc = *intake.desc();
        let intake = NonNull::from(Box::leak(Box::new(intake)));
        Rc::new(Self { intake, in_use: Cell::new(false), desc })
    }

    /// Returns the description of what is taken.
    pub fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn begin(&self) -> Result<Use<'_>> {
        if self.in_use.replace(true) {
            return Err(Failure::Busy("this intake is in use; free the memory that it took first"));
        }
        Ok(Use(&self.in_use))
    }

    /// Runs `f` with the intake, if nothing that it took is held.
    pub fn with<R>(&self, f: impl FnOnce(&Intake) -> R) -> Result<R> {
        let _use = self.begin()?;
        // SAFETY: the intake lives as long as this, and `in_use` prevents any other reference to it.
        Ok(f(unsafe { self.intake.as_ref() }))
    }

    /// Takes what the display rendered, which holds the intake until it is freed.
    pub fn take(self: &Rc<Self>) -> Result<Rc<TakenSlot>> {
        let in_use = self.begin()?;
        // SAFETY: what borrows it lies in a `TakenSlot`, which drops it before its count of this; until then `in_use`
        // prevents any other reference.
        let intake: &'static mut Intake = unsafe { &mut *self.intake.as_ptr() };
        let taken = intake.take()?;
        std::mem::forget(in_use);
        Ok(Rc::new(TakenSlot { taken: RefCell::new(Some(taken)), intake: Rc::clone(self) }))
    }
}

impl Drop for IntakeSlot {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and everything that borrowed it held a count of this.
        drop(unsafe { Box::from_raw(self.intake.as_ptr()) });
    }
}

/// Memory that an intake took.
pub struct TakenSlot {
    /// `Some` until this is dropped; dropped before the intake.
    taken: RefCell<Option<IntakeGuard<'static>>>,
    intake: Rc<IntakeSlot>,
}

impl TakenSlot {
    /// Returns the memory for kernels, or `None` while a call copies it.
    pub fn memory(&self) -> Option<Ref<'_, dyn ComputeMemory>> {
        Ref::filter_map(self.taken.try_borrow().ok()?, |taken| taken.as_ref().map(IntakeGuard::memory)).ok()
    }

    /// Copies the memory to the host.
    pub fn read(&self) -> Result<Vec<u8>> {
        let mut taken = self.taken.try_borrow_mut().map_err(|_| Failure::Busy("a call with this memory is running"))?;
        let taken = taken.as_mut().ok_or_else(|| Failure::Handle("this pf_memory was freed before".into()))?;
        Ok(taken.read()?)
    }
}

impl Drop for TakenSlot {
    fn drop(&mut self) {
        drop(self.taken.take());
        self.intake.in_use.set(false);
    }
}
