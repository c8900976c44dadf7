//! Runs on every OpenCL device that the machine has and, with `PIXELFERRY_GPU=1`, on CUDA; [`drivers`] runs it again under
//! other drivers.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod apart;
mod draws;
mod drivers;
mod kernels;
mod links;
#[path = "../../../interop-core/tests/displays/paths.rs"]
mod paths;
mod surfaces;

use compute_display::ComputeDisplay;
use cuda_backend::CudaBackend;
use interop_core::conformance::stored;
use interop_core::{ComputeBackend, ImageDesc, Surface, SurfaceDesc};
use opencl_backend::{OpenClBackend, devices};
use pixelferry_testing::{Need, given, need};
use std::sync::Arc;

/// Every backend that can draw. CUDA where it is asked for, and not once more in a process for one OpenCL driver.
fn backends() -> Vec<Arc<dyn ComputeBackend>> {
    let mut all: Vec<Arc<dyn ComputeBackend>> = Vec::new();
    for device in need(given(), devices()).unwrap_or_default() {
        all.push(Arc::new(OpenClBackend::open(&device).unwrap()));
    }
    if given() == Need::OpenCl && Need::Nvidia.is_required() {
        all.push(Arc::new(CudaBackend::open_best().unwrap()));
    }
    all
}

/// Runs `test` on a display of each.
fn on_every_display(test: impl Fn(&Arc<ComputeDisplay>)) {
    for backend in backends() {
        println!("device: {}", backend.device());
        test(&ComputeDisplay::on(backend).unwrap());
    }
}

/// And on a display of each that reads none of the host's memory.
fn on_every_display_and_apart(test: impl Fn(&Arc<ComputeDisplay>)) {
    on_every_display(&test);
    on_every_display_apart(test);
}

/// On those alone that read none of the host's memory.
fn on_every_display_apart(test: impl Fn(&Arc<ComputeDisplay>)) {
    for backend in backends() {
        test(&ComputeDisplay::on(apart::Apart::over(backend)).unwrap());
    }
}

/// Bytes that differ from their neighbours.
fn noise(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i as u32 + 1).wrapping_mul(0x9E37_79B1).to_be_bytes()[0]).collect()
}

/// A surface that holds these tight rows.
fn surface(display: &ComputeDisplay, image: &ImageDesc, pixels: &[u8]) -> Surface {
    stored(display, &SurfaceDesc::Image(*image), pixels).unwrap()
}
