//! CUDA beside wgpu on one NVIDIA GPU, with no window: `PIXELFERRY_GPU=1`.

use crate::suite::{common, opengl};
use interop_core::{ComputeBackend, Display};
use pixelferry_testing::Need;
use pixelferry_wgpu::{WgpuDisplay, WgpuOptions};
use std::sync::Arc;

#[test]
fn the_conformance_suite() {
    let Some(backend) = common::gpu() else { return };
    let options = WgpuOptions::default().with_same_device_as(backend.device().clone());
    let Some(display) = opengl::by_a_gpu(WgpuDisplay::headless(options), Need::NvidiaVulkan) else { return };
    let backend: Arc<dyn ComputeBackend> = Arc::new(backend);
    common::conformance(&backend, &(display as Arc<dyn Display>));
}
