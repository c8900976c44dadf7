//! OpenCL against threads, with each driver in a process of its own.

use pixelferry::{ComputeBackend, CpuBackend, opencl};
use pixelferry_tests::{Need, given, need, pass_in_child};
use std::sync::Arc;

/// OpenCL's first device and threads; only in a process that sees one driver.
pub fn backends() -> Option<(Arc<dyn ComputeBackend>, Arc<dyn ComputeBackend>)> {
    let opencl = need(given(), opencl::OpenClBackend::open_best())?;
    println!("RAN ON {}", opencl.device());
    Some((Arc::new(opencl), Arc::new(CpuBackend::new().unwrap())))
}

/// Runs the ignored test `name` once for each driver.
pub fn on_every_driver(name: &str) {
    for driver in [Need::Pocl, Need::Rusticl] {
        pass_in_child(name, Some(driver), &[], &["RAN ON"]);
    }
}
