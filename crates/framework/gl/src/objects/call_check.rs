//! Error checks for calls in every frame.

use crate::context::context_state::ContextState;
use interop_core::Result;
use interop_core::describe::PlainMutex;

/// One kind of call: GL is asked for errors until the call has succeeded once (in debug builds always), because asking
/// makes a threaded driver wait.
#[derive(Default)]
pub(crate) struct CallCheck(PlainMutex<bool>);

impl CallCheck {
    /// Runs `f`, with a drain before and a check after it while errors are checked.
    pub(crate) fn run(&self, shared: &ContextState, operation: &'static str, f: impl FnOnce()) -> Result<()> {
        let verify = cfg!(debug_assertions) || !self.0.get();
        shared.checked_if(verify, operation, f)?;
        self.0.set(true);
        Ok(())
    }
}
