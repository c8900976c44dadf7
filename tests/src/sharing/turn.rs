//! Turns at a block that both sides address.

use crate::faults::Faults;
use interop_core::describe::PlainMutex;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// Turn at one block. What is out of turn goes to the list of violations.
#[derive(Debug, Default)]
pub struct Turn {
    /// A surface shows the block in place.
    shown: PlainMutex<bool>,
    /// The display was told to read and may not be done.
    reading: PlainMutex<bool>,
    /// A fence stands after the reads.
    fenced: PlainMutex<bool>,
    /// Kernels were queued and may not be done.
    writing: PlainMutex<bool>,
    /// Both sides are one queue: only what is shown is nobody's to write.
    one_queue: PlainMutex<bool>,
}

thread_local! {
    static BLOCKS: RefCell<HashMap<usize, Weak<Turn>>> = RefCell::default();
}

impl Turn {
    /// The one of the block at this address.
    pub fn at(address: usize) -> Arc<Self> {
        BLOCKS.with_borrow_mut(|blocks| {
            let known = blocks.get(&address).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let turn = Arc::default();
                blocks.insert(address, Arc::downgrade(&turn));
                turn
            })
        })
    }

    /// Both sides use it in one queue.
    pub fn in_one_queue(&self) {
        self.one_queue.set(true);
    }

    /// Kernels or the host write.
    pub fn write(&self, faults: &Faults, queued: bool) {
        if self.shown.get() || (self.reading.get() && !self.one_queue.get()) {
            faults.violation("a block was written that the display shows or may still read");
        }
        self.writing.set(queued && !self.one_queue.get());
    }

    /// The compute side's turn ended.
    pub fn written(&self) {
        self.writing.set(false);
    }

    /// The display reads once.
    pub fn read(&self, faults: &Faults) {
        if self.writing.get() {
            faults.violation("the display read a block that kernels may still write");
        }
        self.reading.set(true);
        self.fenced.set(false);
    }

    /// The display reads until [`Turn::hide`].
    pub fn show(&self, faults: &Faults) {
        self.read(faults);
        self.shown.set(true);
    }

    pub fn hide(&self) {
        self.shown.set(false);
        self.reading.set(true);
        self.fenced.set(false);
    }

    /// The surface that showed it is gone. Its reads are over where a fence said so before.
    pub fn gone(&self) {
        self.shown.set(false);
    }

    pub fn fence(&self) {
        self.fenced.set(true);
    }

    /// The host waited for the fence.
    pub fn wait(&self) {
        if self.fenced.replace(false) {
            self.reading.set(false);
        }
    }

    /// The other queue waits for the reads.
    pub fn done_reading(&self) {
        self.reading.set(false);
    }
}
