//! Kernels of one context, shown by another context of the same GPU in memory that its display exports.

use super::common::{Both, alone, both};
use crate::exported;
use interop_core::{ComputeBackend, Display, SurfaceDesc, SyncKind};
use pixelferry_gl::{GlDisplay, HeadlessOptions};
use pixelferry_testing::{Need, need};
use std::rc::Rc;
use std::sync::Arc;

/// A backend with a context of its own, and a display with another. `None` after saying SKIPPED.
fn pair() -> Option<(Arc<dyn ComputeBackend>, Rc<GlDisplay>)> {
    let backend = alone()?;
    let options = HeadlessOptions::default().with_same_device_as(backend.device().clone());
    let display = need(Need::Egl, GlDisplay::headless(options))?;
    exported::share(backend.as_ref(), display.as_ref()).then_some((backend, display))
}

#[test]
fn frames_cross_in_memory_that_the_display_exports() {
    let Some((backend, display)) = pair() else { return };
    let display: Rc<dyn Display> = display;
    exported::carries_frames(&backend, &display);
}

/// In a process of its own, as they are counted.
#[test]
fn descriptors_are_not_leaked() {
    let child = pixelferry_testing::Child::of("compute::shared::child_descriptors").unwrap();
    // Mesa opens a file for each shader that it keeps, on a thread of its own.
    child.env("MESA_SHADER_CACHE_DISABLE", "true").run().unwrap().passed();
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_descriptors() {
    let Some((backend, display)) = pair() else { return };
    let display: Rc<dyn Display> = display;
    exported::nothing_is_left(&backend, &display);
}

/// Objects are counted in the context of the kernels, which is another display's.
#[test]
fn no_object_is_left_in_the_context_of_the_kernels() {
    let Some(Both { backend, display: owner }) = both() else { return };
    let display =
        GlDisplay::headless(HeadlessOptions::default().with_same_device_as(backend.device().clone())).unwrap();
    if !exported::share(backend.as_ref(), display.as_ref()) {
        return;
    }
    let kinds = [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore];
    let (staging, memory) = exported::exported(display.as_ref());
    let semaphores: Vec<_> = kinds.into_iter().filter_map(|kind| display.create_semaphore(kind).ok()).collect();
    owner.make_current().unwrap();
    let before = owner.object_counts();
    for _ in 0..5 {
        let mut opened = backend.import_surface(&memory, &SurfaceDesc::buffer(64)).unwrap();
        assert_eq!(owner.object_counts().memory_objects, before.memory_objects + 1);
        opened.write(0, &[3; 64]).unwrap();
        for (_, handle) in &semaphores {
            // Kept until the signal.
            opened.release_in_queue().unwrap();
            let mut semaphore = backend.import_semaphore(handle).unwrap();
            semaphore.signal(1).unwrap();
            semaphore.wait(1).unwrap();
        }
    }
    backend.finish().unwrap();
    assert_eq!(owner.object_counts(), before);
    display.make_current().unwrap();
    drop((staging, semaphores));
}
