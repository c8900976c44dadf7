//! Staging blocks of the display's double.

use crate::faults::Faults;
use interop_core::{HandleType, HostBlock, Result, SharedHandle, Staging};
use std::any::Any;

/// The display's block, wrapped.
pub(crate) struct StagingDouble {
    pub inner: Box<dyn Staging>,
    pub faults: Faults,
}

impl Staging for StagingDouble {
    crate::forward! {
        & len() -> usize;
        & host_block() -> Option<HostBlock>;
        Wait after &mut wait() -> Result<()>;
        MapStaging after &mut map_write(f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>;
        Fence after &mut fence() -> Result<()>;
        Export before & export(handle: HandleType) -> Result<SharedHandle>;
        & as_any() -> &dyn Any;
        &mut as_any_mut() -> &mut dyn Any;
    }
}
