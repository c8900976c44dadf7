//! Memory of another API on the device that draws, where the test machine has it.

use crate::suite::common::{is_software, supports};
use crate::suite::vulkan::ExportedMemory;
use interop_core::display::{Display, Staging, StagingKind};
use interop_core::{HandleType, MemoryShape};
use pixelferry_gl::GlDisplay;
use pixelferry_testing::{Need, need};

/// Memory of at least `bytes` bytes and the staging block over it; says why where there is none.
pub fn external(display: &GlDisplay, bytes: usize) -> Option<(ExportedMemory, Staging)> {
    let opens = display.caps().can_import(HandleType::OpaqueFd, MemoryShape::Linear);
    if !supports(display, "memory by descriptor", opens) || !is_software(display, "memory that the host writes") {
        return None;
    }
    let memory = need(Need::Lavapipe, ExportedMemory::new(bytes))?;
    let staging = display.create_staging(StagingKind::External(memory.handle()), bytes).unwrap();
    Some((memory, staging))
}
