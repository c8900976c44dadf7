//! Kernels in a queue of wgpu, Vulkan or OpenGL, shown by a display with another queue of the same GPU, of each of these APIs.

use crate::exported::{carries_frames, nothing_is_left, nothing_is_left_in_a_child, share};
use pixelferry::{BackendChoice, ComputeBackend, Display, DisplayChoice, open_backend};
use pixelferry_tests::{Need, displays, has, need};
use std::sync::Arc;

type Check = fn(&Arc<dyn ComputeBackend>, &Arc<dyn Display>);

/// The backend with each display with which it shares memory, one after the other.
fn pairs(backend: BackendChoice, needed: Need, check: Check) {
    let opened = match open_backend(backend, &[]) {
        Err(pixelferry::Error::Unsupported { reason, .. }) => {
            has("compute shaders", format!("{backend:?}"), Err(reason))
        }
        other => need(needed, other),
    };
    let Some(backend) = opened else { return };
    let shows = [DisplayChoice::Gl, DisplayChoice::Vulkan, DisplayChoice::Wgpu];
    for (_, display) in displays().filter(|(choice, _)| shows.contains(choice)) {
        let display = display.display();
        if share(backend.as_ref(), display.as_ref()) {
            check(&backend, &display);
        }
    }
}

fn on_wgpu(check: Check) {
    pairs(BackendChoice::Wgpu, Need::Lavapipe, check);
}

fn on_vulkan(check: Check) {
    pairs(BackendChoice::Vulkan, Need::Lavapipe, check);
}

fn on_opengl(check: Check) {
    pairs(BackendChoice::Gl, Need::Egl, check);
}

pixelferry_tests::tests! {
    kernels_of_wgpu_write_what_others_show => on_wgpu(carries_frames);
    kernels_of_vulkan_write_what_others_show => on_vulkan(carries_frames);
    kernels_of_opengl_write_what_others_show => on_opengl(carries_frames);
    nothing_is_left_of_a_pair => nothing_is_left_in_a_child("two_queues::child_nothing_is_left");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_nothing_is_left() {
    for on in [on_wgpu, on_vulkan, on_opengl] {
        on(nothing_is_left);
    }
}
