//! The process that an object belongs to. A forked child has copies of its parent's objects and none of its threads.

use interop_core::{Error, Result};

/// The process that made an object. In another one the object refuses what it is asked, and only closes when it is dropped: it
/// takes no lock, waits for no thread, and writes to no memory or socket that its parent still uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HomeProcess(u32);

impl HomeProcess {
    pub(crate) fn here() -> Self {
        Self(std::process::id())
    }

    pub(crate) fn is_here(self) -> bool {
        self == Self::here()
    }

    /// # Errors
    /// [`Error::Unavailable`] in a forked child.
    pub(crate) fn check(self, what: &str) -> Result<()> {
        if self.is_here() {
            return Ok(());
        }
        Err(Error::Unavailable {
            what: what.into(),
            reason: format!("it belongs to process {}, from which this one was forked", self.0),
            hint: "Open the stream in this process, or start processes with spawn instead of fork.".into(),
        })
    }
}
