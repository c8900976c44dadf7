//! OpenCL against threads, with each driver in a process of its own.

use pixelferry::{ComputeBackend, CpuBackend, opencl};
use pixelferry_tests::{Driver, pass_in_child};
use std::sync::Arc;

/// OpenCL's first device and threads; only in a process that sees one driver.
pub fn backends() -> Option<(Arc<dyn ComputeBackend>, Arc<dyn ComputeBackend>)> {
    match opencl::OpenClBackend::open_best() {
        Ok(opencl) => {
            println!("RAN ON {}", opencl.device());
            Some((Arc::new(opencl), Arc::new(CpuBackend::new().unwrap())))
        }
        Err(e) => {
            println!("NO DRIVER: {e}");
            None
        }
    }
}

/// Runs the ignored test `name` once for each driver.
pub fn on_every_driver(name: &str) {
    for driver in [Driver::Pocl, Driver::Rusticl] {
        pass_in_child(name, Some(driver), &[], &["RAN ON"]);
    }
}
