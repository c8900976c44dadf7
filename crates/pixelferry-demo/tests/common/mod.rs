//! OpenCL and wgpu against threads, with each driver in a process of its own.

use pixelferry::{BackendChoice, ComputeBackend, CpuBackend, open_backend, opencl};
use pixelferry_tests::{Need, given, need, pass_in_child};
use std::sync::Arc;

/// Set where wgpu is to be taken in place of OpenCL.
const WGPU: &str = "PIXELFERRY_TEST_WGPU";

/// OpenCL's first device, or that of wgpu, and threads; only in a process that sees one driver.
pub fn backends() -> Option<(Arc<dyn ComputeBackend>, Arc<dyn ComputeBackend>)> {
    let first: Arc<dyn ComputeBackend> = if std::env::var_os(WGPU).is_some() {
        need(Need::Lavapipe, open_backend(BackendChoice::Wgpu))?
    } else {
        Arc::new(need(given(), opencl::OpenClBackend::open_best())?)
    };
    println!("RAN ON {}", first.device());
    Some((first, Arc::new(CpuBackend::new().unwrap())))
}

/// Runs the ignored test `name` once for each driver.
pub fn on_every_driver(name: &str) {
    for driver in [Need::Pocl, Need::Rusticl] {
        pass_in_child(name, Some(driver), &[], &["RAN ON"]);
    }
    pass_in_child(name, None, &[(WGPU, "1")], &["RAN ON"]);
}
