//! Staging blocks of the memory display.

use super::display_state::DisplayState;
use crate::raw::Bytes;
use interop_core::{HostBlock, Result, Staging, StagingKind};
use std::any::Any;
use std::rc::Rc;

/// Host memory that surfaces copy from or show in place.
pub(crate) struct MemoryStaging {
    display: Rc<DisplayState>,
    bytes: Bytes,
    /// False for orphaned blocks, whose users must not count on the address.
    fixed: bool,
}

impl MemoryStaging {
    pub(crate) fn new(
        display: Rc<DisplayState>,
        kind: StagingKind,
        len: usize,
        operation: &'static str,
    ) -> Result<Self> {
        let (bytes, fixed) = match kind {
            StagingKind::Orphaned => (Bytes::allocate(len)?, false),
            StagingKind::Persistent => (Bytes::allocate(len)?, true),
            StagingKind::Imported(block) => (Bytes::of_block(block, len, operation)?, true),
            other => {
                let reason = format!("it knows no staging of the kind {other:?}; use host memory");
                return Err(display.unsupported(operation, reason));
            }
        };
        Ok(Self { display, bytes, fixed })
    }

    pub(crate) fn display(&self) -> &Rc<DisplayState> {
        &self.display
    }

    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

interop_core::owned!(MemoryStaging: DisplayState, "staging block", |block| block.display());

impl Staging for MemoryStaging {
    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn host_block(&self) -> Option<HostBlock> {
        self.bytes.block().filter(|_| self.fixed).cloned()
    }

    fn wait(&mut self) -> Result<()> {
        // Reads are done when the call that asked for them returns.
        Ok(())
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        let all = 0..self.bytes.len();
        f(&mut self.bytes.write(all, "Staging::map_write", &"this staging block")?)
    }

    fn fence(&mut self) -> Result<()> {
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
