//! Runs on every OpenCL device that the machine has; [`loading`] runs it again under other drivers.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod build;
mod launch;
mod loading;
mod memory;
mod pattern;
mod threads;
mod timeline;

use interop_core::{ComputeBackend, ComputeMemory};
use opencl_backend::{OpenClBackend, OpenClDevice, devices};

/// True where a skipped test is a failure.
fn required(thing: &str) -> bool {
    std::env::var("CI").is_ok_and(|v| v == "true")
        || std::env::var("PIXELFERRY_REQUIRE").is_ok_and(|v| v.split(',').any(|t| t.trim() == thing))
}

fn skip(thing: &str, why: impl std::fmt::Display) {
    assert!(!required(thing), "{thing} is required here, but: {why}");
    println!("SKIPPED: {why}");
}

/// Runs `test` on each device.
fn on_every_device(test: impl Fn(&OpenClBackend)) {
    for device in every_device() {
        println!("device: {}", device.identity());
        test(&OpenClBackend::open(&device).unwrap());
    }
}

fn every_device() -> Vec<OpenClDevice> {
    devices().unwrap_or_else(|error| {
        skip("opencl", error);
        Vec::new()
    })
}

/// Memory with known content.
fn memory_with(backend: &dyn ComputeBackend, bytes: &[u8]) -> Box<dyn ComputeMemory> {
    let mut memory = backend.allocate(bytes.len()).unwrap();
    memory.write(0, bytes).unwrap();
    memory
}

fn content(memory: &mut dyn ComputeMemory) -> Vec<u8> {
    let mut bytes = vec![0; memory.len()];
    memory.read(0, &mut bytes).unwrap();
    bytes
}
