//! Queues, events and futures: one body of tests over every backend of this machine.

mod drops;
mod errors;
mod events;
mod futures;
mod order;
mod rig;
mod table;

use pixelferry::api::{cuda, opencl};
use pixelferry::{ComputeBackend, CpuBackend};
use pixelferry_tests::{Need, asked, given, pass_in_child};
use std::sync::Arc;

fn check(need: Need, open: rig::Open) {
    let Some(backend) = pixelferry_tests::need(need, open()) else { return };
    println!("RAN ON {}", backend.device());
    table::run(&backend, open);
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
    let backend = open_threads().unwrap();
    table::run(&backend, open_threads);
}

#[test]
#[ignore = "run by the tests below, in a process that sees one OpenCL driver"]
fn child_opencl() {
    check(given(), open_opencl);
}

fn on(driver: Need) {
    pass_in_child("async_queues::child_opencl", Some(driver), &[], &["RAN ON"]);
}

pixelferry_tests::tests! {
    on_pocl => on(Need::Pocl);
    on_rusticl => on(Need::Rusticl);
}

/// CUDA, and whatever OpenCL the machine's own environment shows: with `PIXELFERRY_GPU=1`.
#[test]
fn on_gpus() {
    if asked(Need::Nvidia) {
        check(Need::Nvidia, open_cuda);
        check(Need::Nvidia, open_opencl);
    }
}
