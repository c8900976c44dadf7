//! Staging blocks of the memory display.

use super::display_state::DisplayState;
use crate::raw::Bytes;
use interop_core::display::{Reach, StagingDriver};
use interop_core::{Result, StagingKind};
use std::sync::Arc;

/// Host memory that surfaces copy from or show in place. Reads are done when the call that requested them returns.
pub(crate) struct MemoryStaging {
    display: Arc<DisplayState>,
    bytes: Bytes,
}

impl MemoryStaging {
    pub(crate) fn new(display: &Arc<DisplayState>, kind: StagingKind, len: usize) -> Result<(Self, Reach)> {
        let (bytes, is_fixed) = match kind {
            // Users of an orphaned block must not rely on its address.
            StagingKind::Orphaned => (Bytes::allocate(len)?, false),
            StagingKind::Persistent => (Bytes::allocate(len)?, true),
            StagingKind::Imported(block) => (Bytes::of_block(block, len)?, true),
            other => {
                let reason = format!("it does not support staging blocks of the kind {other:?}; use host memory");
                return Err(display.unsupported(reason));
            }
        };
        let reach = bytes.block().filter(|_| is_fixed).cloned().map_or(Reach::EachFill, Reach::Address);
        Ok((Self { display: Arc::clone(display), bytes }, reach))
    }

    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

interop_core::owned!(MemoryStaging: DisplayState, "staging block", |block| &block.display);

impl StagingDriver for MemoryStaging {
    fn fence(&mut self, _: bool) -> Result<()> {
        Ok(())
    }

    fn wait(&mut self) -> Result<()> {
        Ok(())
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        let all = 0..self.bytes.len();
        f(&mut self.bytes.write(all, &"this staging block")?)
    }
}
