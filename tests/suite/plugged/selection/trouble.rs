//! A path that misbehaves when it is told to.

use interop_core::path::{Cost, HostRoundTrip, Medium, Pairing, PathSpec};
use interop_core::{Error, Result, SharingPath, Support, Surface, SurfacePart, SyncKind, Target};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Trouble that it makes, for all paths opened of one row.
#[derive(Clone, Default)]
pub struct Trouble(Arc<AtomicU8>);

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Does {
    Well,
    /// Says that it handed frames over, and does not.
    Lies,
    Fails,
    PanicsInOffer,
    PanicsInOpen,
    PanicsInBegin,
    PanicsInTarget,
    PanicsInFinish,
    PanicsInSurface,
    PanicsWhereItCannotFail,
    PanicsInDrop,
}

impl Trouble {
    pub fn set(&self, does: Does) {
        self.0.store(does as u8, Ordering::Relaxed);
    }

    fn is(&self, does: Does) -> bool {
        self.0.load(Ordering::Relaxed) == does as u8
    }

    fn panic_if(&self, does: Does) {
        assert!(!self.is(does), "on purpose");
    }

    /// Ranks before all others.
    pub fn path(&self, name: &'static str) -> PathSpec {
        let (offering, opening) = (self.clone(), self.clone());
        let check_support = move |_: &Pairing<'_>| {
            offering.panic_if(Does::PanicsInOffer);
            Support::Yes
        };
        let open = move |pairing: &Pairing<'_>| {
            opening.panic_if(Does::PanicsInOpen);
            let troubled = TroubledPath { inner: HostRoundTrip::open(pairing)?, trouble: opening.clone() };
            Ok(Box::new(troubled) as Box<dyn SharingPath>)
        };
        let mut spec = PathSpec::new(name, check_support, open);
        spec.mechanism = "by way of trouble";
        spec.cost = Cost::in_place(Medium::Object);
        spec
    }
}

struct TroubledPath {
    inner: HostRoundTrip,
    trouble: Trouble,
}

impl SharingPath for TroubledPath {
    fn begin(&mut self, part: &SurfacePart) -> Result<()> {
        self.trouble.panic_if(Does::PanicsInBegin);
        self.inner.begin(part)
    }

    fn target(&mut self) -> Result<Target<'_>> {
        self.trouble.panic_if(Does::PanicsInTarget);
        self.inner.target()
    }

    fn finish(&mut self) -> Result<()> {
        self.trouble.panic_if(Does::PanicsInFinish);
        if self.trouble.is(Does::Lies) {
            self.inner.cancel();
            return Ok(());
        }
        if self.trouble.is(Does::Fails) {
            let (device, reason) = ("the path".into(), "on purpose".into());
            return Err(Error::Unsupported { operation: "finish", device, reason });
        }
        self.inner.finish()
    }

    fn cancel(&mut self) {
        self.trouble.panic_if(Does::PanicsWhereItCannotFail);
        self.inner.cancel();
    }

    fn slots(&self) -> usize {
        self.trouble.panic_if(Does::PanicsWhereItCannotFail);
        self.inner.slots()
    }

    fn frames_behind(&self) -> usize {
        self.trouble.panic_if(Does::PanicsWhereItCannotFail);
        self.inner.frames_behind()
    }

    fn surface(&self) -> &Surface {
        self.trouble.panic_if(Does::PanicsInSurface);
        self.inner.surface()
    }

    fn surface_mut(&mut self) -> &mut Surface {
        self.trouble.panic_if(Does::PanicsInSurface);
        self.inner.surface_mut()
    }

    fn sync(&self) -> SyncKind {
        self.trouble.panic_if(Does::PanicsWhereItCannotFail);
        self.inner.sync()
    }
}

impl Drop for TroubledPath {
    fn drop(&mut self) {
        self.trouble.panic_if(Does::PanicsInDrop);
    }
}
