//! OpenCL, OpenGL and wgpu against threads, with each driver in a process of its own.

use pixelferry::{BackendChoice, ComputeBackend, CpuBackend, open_backend, opencl_backend};
use pixelferry_tests::{Need, given, need, pass_in_child};
use std::sync::Arc;

/// Names the API to take in place of OpenCL.
const INSTEAD: &str = "PIXELFERRY_TEST_BACKEND";

/// OpenCL's first device, or that of the API that is named, and threads; only in a process that sees one driver.
pub fn backends() -> Option<(Arc<dyn ComputeBackend>, Arc<dyn ComputeBackend>)> {
    let first: Arc<dyn ComputeBackend> = match std::env::var(INSTEAD).as_deref() {
        Ok("gl") => need(Need::Egl, open_backend(BackendChoice::Gl))?,
        Ok("wgpu") => need(Need::Lavapipe, open_backend(BackendChoice::Wgpu))?,
        _ => Arc::new(need(given(), opencl_backend::OpenClBackend::open_best())?),
    };
    println!("RAN ON {}", first.device());
    Some((first, Arc::new(CpuBackend::new().unwrap())))
}

/// Runs the ignored test `name` once for each driver.
pub fn on_every_driver(name: &str) {
    for driver in [Need::Pocl, Need::Rusticl] {
        pass_in_child(name, Some(driver), &[], &["RAN ON"]);
    }
    for api in ["gl", "wgpu"] {
        pass_in_child(name, None, &[(INSTEAD, api)], &["RAN ON"]);
    }
}
