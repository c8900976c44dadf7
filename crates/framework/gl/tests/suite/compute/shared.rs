//! Memory of other queues, where it is no path or the device lacks what shares it. Where it is one, the workspace's tests show it.

use super::common::{Both, both};
use interop_core::select::probe;
use interop_core::{Display, HandleType, MemoryShape, PathId, PathState, Policy, SurfaceDesc};
use std::sync::Arc;

#[test]
fn memory_of_another_queue_is_no_path_within_one() {
    let Some(Both { backend, display, .. }) = both() else { return };
    let opens = backend.caps().can_import(HandleType::OPAQUE, MemoryShape::Linear);
    let display: Arc<dyn Display> = display;
    let report = probe(&backend, &display, &SurfaceDesc::buffer(4096), &Policy::default()).unwrap();
    let row = report.paths.iter().find(|row| row.id == PathId::EXPORTED_IN_PLACE).unwrap();
    let PathState::NotOffered { reason } = &row.state else { panic!("{row:?}") };
    assert!(!opens.is_yes() || reason.contains("needs no handle"), "{opens:?}, {reason}");
}
