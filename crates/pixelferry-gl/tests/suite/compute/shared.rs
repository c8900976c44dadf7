//! Kernels of one context, shown by another context of the same GPU in memory that its display exports.

use super::common::{Both, alone, both};
use crate::exported;
use interop_core::select::probe;
use interop_core::{ComputeBackend, Display, HandleType, MemoryShape, PathId, PathState, Policy, SurfaceDesc};
use pixelferry_gl::{GlDisplay, HeadlessOptions};
use pixelferry_testing::{Need, need};
use std::rc::Rc;
use std::sync::Arc;

/// A backend with a context of its own, and a display with another. `None` after saying SKIPPED.
fn pair() -> Option<(Arc<dyn ComputeBackend>, Rc<dyn Display>)> {
    let backend = alone()?;
    let options = HeadlessOptions::default().with_same_device_as(backend.device().clone());
    let display: Rc<dyn Display> = need(Need::Egl, GlDisplay::headless(options))?;
    exported::share(backend.as_ref(), display.as_ref()).then_some((backend, display))
}

#[test]
fn frames_cross_in_memory_that_the_display_exports() {
    let Some((backend, display)) = pair() else { return };
    exported::carries_frames(&backend, &display);
}

#[test]
fn descriptors_are_not_leaked() {
    exported::nothing_is_left_in_a_child("compute::shared::child_descriptors");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_descriptors() {
    let Some((backend, display)) = pair() else { return };
    exported::nothing_is_left(&backend, &display);
}

#[test]
fn memory_of_another_queue_is_no_path_within_one() {
    let Some(Both { backend, display, .. }) = both() else { return };
    let opens = backend.caps().can_import(HandleType::OPAQUE, MemoryShape::Linear);
    let display: Rc<dyn Display> = display;
    let report = probe(&backend, &display, &SurfaceDesc::buffer(4096), &Policy::default()).unwrap();
    let row = report.paths.iter().find(|row| row.id == PathId::EXPORTED_IN_PLACE).unwrap();
    let PathState::NotOffered { reason } = &row.state else { panic!("{row:?}") };
    assert!(!opens.is_yes() || reason.contains("needs no handle"), "{opens:?}, {reason}");
}
