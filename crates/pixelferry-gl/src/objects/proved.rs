//! Calls made for every frame.

use crate::context::context_state::ContextState;
use interop_core::Result;
use std::cell::Cell;

/// One kind of call: GL is asked for errors until it has gone well once (in debug builds always), since asking makes
/// a threaded driver wait.
#[derive(Default)]
pub(crate) struct Proved(Cell<bool>);

impl Proved {
    /// Runs `f`, between a drain and a check where errors are asked for.
    pub(crate) fn run(&self, shared: &ContextState, operation: &'static str, f: impl FnOnce()) -> Result<()> {
        let verify = cfg!(debug_assertions) || !self.0.get();
        shared.checked_if(verify, operation, f)?;
        self.0.set(true);
        Ok(())
    }
}
