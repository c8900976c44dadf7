//! The process that an object belongs to. A forked child has copies of its parent's objects and none of its threads.

use interop_core::{Error, Result};

/// The process that made an object. In another one the object refuses what it is asked, and only closes when it is dropped: it
/// takes no lock, waits for no thread, and writes to no memory or socket that its parent still uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HomeProcess(u32);

impl HomeProcess {
    pub(crate) fn current() -> Self {
        Self(std::process::id())
    }

    pub(crate) fn is_current(self) -> bool {
        self == Self::current()
    }

    /// # Errors
    /// [`Error::Unavailable`] in a forked child.
    pub(crate) fn check(self) -> Result<()> {
        if self.is_current() {
            return Ok(());
        }
        Err(Error::Unavailable {
            what: "a stream that was opened before this process was forked".into(),
            reason: format!("it belongs to process {}, whose threads a forked child does not have", self.0),
            hint: "Open the stream in this process, or start processes with spawn instead of fork.".into(),
        })
    }
}
