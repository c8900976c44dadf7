//! The contexts of this crate without the feature `headless`: none can be created.

use interop_core::Result;

pub(crate) enum OwnContext {}

pub(crate) enum RestingContext {}

impl OwnContext {
    pub(crate) const fn is_current(&self) -> bool {
        match *self {}
    }

    pub(crate) const fn has_window(&self) -> bool {
        match *self {}
    }

    pub(crate) const fn rest(self) -> Option<RestingContext> {
        match self {}
    }

    pub(crate) const fn make_current(&self, _device: &str) -> Result<()> {
        match *self {}
    }
}
