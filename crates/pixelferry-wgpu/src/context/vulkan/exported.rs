//! Memory of ours that others open.

use super::Vulkan;
use crate::context::device_state::DeviceState;
use interop_core::{Result, SharedHandle};
use pixelferry_vulkan::sharing::Allocation;
use std::sync::Arc;

/// Memory that others can open, as long as the block is kept.
pub(crate) struct Exported(pub(super) Arc<Allocation>);

impl Exported {
    /// A new handle of the memory.
    pub(crate) fn handle(&self, shared: &DeviceState) -> Result<SharedHandle> {
        let vulkan = shared.vulkan.as_ref().ok_or_else(|| shared.unsupported(Vulkan::ABSENT))?;
        Ok(SharedHandle::Memory(self.0.export(&vulkan.sharing)?))
    }
}
