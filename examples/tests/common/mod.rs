//! OpenCL against threads, with each driver in a process of its own.

use pixelferry::{ComputeBackend, CpuBackend, opencl};
use pixelferry_tests::{Driver, in_child, need};
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
        let child = in_child(name, Some(driver), &[]).unwrap();
        let found = match child.output.lines().find(|l| l.starts_with("NO DRIVER")) {
            Some(line) => Err(line.to_owned()),
            None => Ok(()),
        };
        if need(driver, found).is_some() {
            assert!(child.success, "{}: {}", driver.name(), child.output);
            assert!(child.output.contains("RAN ON"), "nothing ran: {}", child.output);
        }
    }
}
