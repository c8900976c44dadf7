//! Memory of another API on the device that draws, where the test machine has it.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests may

use crate::common::skip;
use crate::vulkan::Exported;
use gl_display::GlDisplay;
use interop_core::display::{Display, Staging, StagingKind};
use interop_core::{HandleType, MemoryShape, Support};

/// Memory of at least `bytes` bytes and the staging block over it; says why where there is none.
pub fn external(display: &GlDisplay, bytes: usize) -> Option<(Exported, Box<dyn Staging>)> {
    if let Support::No(reason) = display.caps().can_import(HandleType::OpaqueFd, MemoryShape::Linear) {
        skip("opengl-memory-object-fd", &reason);
        return None;
    }
    if !display.device().software {
        println!("SKIPPED: memory of a GPU is for the compute backends' tests to export");
        return None;
    }
    let memory = Exported::new(bytes).map_err(|reason| skip("vulkan", &reason)).ok()?;
    let staging = display.create_staging(StagingKind::External(memory.handle()), bytes).unwrap();
    Some((memory, staging))
}
