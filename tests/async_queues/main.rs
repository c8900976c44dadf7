//! Queues, events and futures: one body of tests over every backend of this machine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod drops;
mod errors;
mod events;
mod futures;
mod order;
mod rig;
mod table;

use pixelferry::{ComputeBackend, CpuBackend, Error, cuda, opencl};
use pixelferry_tests::{Driver, pass_in_child};
use std::sync::Arc;

fn check(open: rig::Open) -> Result<(), Error> {
    let backend = open()?;
    println!("RAN ON {}", backend.device());
    table::run(&backend, open);
    Ok(())
}

fn open_threads() -> pixelferry::Result<Arc<dyn ComputeBackend>> {
    Ok(Arc::new(CpuBackend::new()?))
}

fn open_opencl() -> pixelferry::Result<Arc<dyn ComputeBackend>> {
    Ok(Arc::new(opencl::OpenClBackend::open_best()?))
}

fn open_cuda() -> pixelferry::Result<Arc<dyn ComputeBackend>> {
    Ok(Arc::new(cuda::CudaBackend::open_best()?))
}

#[test]
fn on_threads() {
    check(open_threads).unwrap();
}

#[test]
#[ignore = "run by the tests below, in a process that sees one OpenCL driver"]
fn child_opencl() {
    if let Err(e) = check(open_opencl) {
        println!("NO DRIVER: {e}");
    }
}

fn on(driver: Driver) {
    pass_in_child("child_opencl", Some(driver), &[], &["RAN ON"]);
}

#[test]
fn on_pocl() {
    on(Driver::Pocl);
}

#[test]
fn on_rusticl() {
    on(Driver::Rusticl);
}

/// CUDA, and whatever OpenCL the machine's own environment shows: with `PIXELFERRY_GPU=1`.
#[test]
fn on_gpus() {
    if std::env::var("PIXELFERRY_GPU").is_err() {
        println!("SKIPPED: PIXELFERRY_GPU is not set");
        return;
    }
    check(open_cuda).expect("PIXELFERRY_GPU promises CUDA");
    check(open_opencl).expect("PIXELFERRY_GPU promises OpenCL");
}
