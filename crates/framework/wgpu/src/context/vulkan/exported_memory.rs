//! Exportable memory of this device.

use super::Vulkan;
use crate::context::device_state::DeviceState;
use interop_core::{Result, SharedHandle};
use pixelferry_vulkan::sharing::Allocation;
use std::sync::Arc;

/// Memory that other APIs can open while the block is kept.
pub(crate) struct ExportedMemory(pub(super) Arc<Allocation>);

impl ExportedMemory {
    /// Returns a new handle of the memory.
    pub(crate) fn handle(&self, shared: &DeviceState) -> Result<SharedHandle> {
        let vulkan = shared.vulkan.as_ref().ok_or_else(|| shared.unsupported(Vulkan::ABSENT))?;
        Ok(SharedHandle::Memory(self.0.export(&vulkan.sharing)?))
    }
}
