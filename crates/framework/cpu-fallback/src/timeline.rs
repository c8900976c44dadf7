//! Timeline of the threads' work.

use interop_core::devices::timeline::{Backlog, Work};
use interop_core::{DeviceSpan, Result};
use std::sync::Arc;
use std::time::Instant;

/// Recorder of the threads' work; off until it is switched on. The device's clock is the host's, so times are exact.
pub(crate) struct Timeline {
    pub backlog: Backlog<DeviceSpan>,
    track: Arc<str>,
}

impl Timeline {
    pub(crate) fn new(threads: &str) -> Self {
        Self { backlog: Backlog::default(), track: format!("CPU: {threads}").into() }
    }

    /// Runs `f`, a piece of work with this name.
    pub(crate) fn timed<R>(&self, name: &str, f: impl FnOnce() -> R) -> R {
        if !self.backlog.is_on() {
            return f();
        }
        let work = Work::new(name.to_owned());
        let start = Instant::now();
        let result = f();
        let (track, end) = (Arc::clone(&self.track), Instant::now());
        self.backlog.push(DeviceSpan::new(track, work, start, end));
        result
    }

    pub(crate) fn drain(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        while let Some(span) = self.backlog.pop_done(|_| Ok(true))? {
            into(span);
        }
        Ok(())
    }
}
