//! Helpers shared by the tests.

use pixelferry::api::gl::GlDisplay;
use pixelferry::api::opencl::{OpenClBackend, devices_sharing_gl};
use pixelferry::{ComputeBackend, Display, DisplayChoice, open_headless};
use pixelferry_tests::{Need, given, need};
use std::sync::Arc;

/// An OpenGL display, and OpenCL opened for it; `None` after having said why.
pub fn open() -> Option<(Arc<OpenClBackend>, Arc<GlDisplay>)> {
    let display = need(Need::Egl, open_headless(DisplayChoice::Gl))?;
    let display = Arc::clone(display.gl().unwrap());
    let devices = need(given(), devices_sharing_gl(display.hold_gl().unwrap().as_ref()))?;
    let device = devices.first().expect("the layer lists the extension");
    let backend = OpenClBackend::open_sharing_gl(device, display.hold_gl().unwrap()).unwrap();
    println!("RUNS ON {} and {}", backend.device(), display.device());
    Some((Arc::new(backend), display))
}
