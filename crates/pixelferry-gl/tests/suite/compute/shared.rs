//! Kernels of one context, shown by another context of the same GPU in memory that its display exports.

use super::common::{Both, alone, both};
use crate::exported;
use interop_core::select::probe;
use interop_core::{ComputeBackend, Display, HandleType, MemoryShape, PathId, PathState, Policy, SurfaceDesc};
use pixelferry_gl::{GlDisplay, HeadlessOptions};
use pixelferry_testing::{Need, need};
use std::rc::Rc;
use std::sync::Arc;

/// On a backend with a context of its own, and a display with another.
fn on_a_pair(check: fn(&Arc<dyn ComputeBackend>, &Rc<dyn Display>)) {
    let Some(backend) = alone() else { return };
    let options = HeadlessOptions::default().with_same_device_as(backend.device().clone());
    let Some(display) = need(Need::Egl, GlDisplay::headless(options)) else { return };
    if exported::share(backend.as_ref(), display.as_ref()) {
        check(&backend, &(display as Rc<dyn Display>));
    }
}

pixelferry_testing::tests! {
    frames_cross_in_memory_that_the_display_exports => on_a_pair(exported::carries_frames);
    descriptors_are_not_leaked => exported::nothing_is_left_in_a_child("compute::shared::child_descriptors");
    #[ignore = "run by the test above, in a process of its own"]
    child_descriptors => on_a_pair(exported::nothing_is_left);
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
