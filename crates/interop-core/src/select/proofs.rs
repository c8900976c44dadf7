//! Proofs of this thread: a way whose pixels were compared whole, between a backend and a display that both still live, is compared
//! in a few rows when it is opened again for a surface that is no larger.

use super::attempt::Way;
use crate::compute::ComputeBackend;
use crate::describe::surface::SurfaceDesc;
use crate::display::Display;
use crate::path::{Pairing, PathId};
use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Weak as ArcWeak};

/// Most that are remembered; the oldest go first.
const MOST: usize = 64;

thread_local! {
    static PROOFS: RefCell<Vec<Proof>> = const { RefCell::new(Vec::new()) };
}

struct Proof {
    backend: ArcWeak<dyn ComputeBackend>,
    display: Weak<dyn Display>,
    way: Way,
    /// The largest surface that was compared whole.
    desc: SurfaceDesc,
}

impl Proof {
    fn is_between(&self, backend: &Arc<dyn ComputeBackend>, display: &Rc<dyn Display>) -> bool {
        // While a weak reference is left, no other object gets the address.
        std::ptr::addr_eq(self.backend.as_ptr(), Arc::as_ptr(backend))
            && std::ptr::addr_eq(self.display.as_ptr(), Rc::as_ptr(display))
    }
}

/// True where the way was proved between the two for a surface that differs in size alone and is no smaller.
pub(super) fn covers(pairing: &Pairing<'_>, way: Way) -> bool {
    is_of_the_table(pairing, way)
        && PROOFS.with_borrow(|proofs| {
            let of_both = |proof: &&Proof| proof.way == way && proof.is_between(pairing.backend, pairing.display);
            proofs.iter().filter(of_both).any(|proof| pairing.desc.is_inside(&proof.desc))
        })
}

/// Remembers that the pixels of a way were compared whole.
pub(super) fn remember(pairing: &Pairing<'_>, way: Way) {
    if !is_of_the_table(pairing, way) || covers(pairing, way) {
        return;
    }
    let (backend, display) = (Arc::downgrade(pairing.backend), Rc::downgrade(pairing.display));
    let proof = Proof { backend, display, way, desc: *pairing.desc };
    PROOFS.with_borrow_mut(|proofs| {
        proofs.retain(|proof| proof.backend.strong_count() > 0 && proof.display.strong_count() > 0);
        if proofs.len() == MOST {
            proofs.remove(0);
        }
        proofs.push(proof);
    });
}

/// Forgets what was proved between the two: something failed there since, or all is to be tried again.
pub(crate) fn distrust(backend: &Arc<dyn ComputeBackend>, display: &Rc<dyn Display>) {
    PROOFS.with_borrow_mut(|proofs| proofs.retain(|proof| !proof.is_between(backend, display)));
}

/// Paths of the program's own may be others under the same name, and an engine's objects are compared as they are.
fn is_of_the_table(pairing: &Pairing<'_>, way: Way) -> bool {
    pairing.object.is_none() && PathId::ALL.contains(&way.id)
}
