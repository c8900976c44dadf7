//! Runs on every OpenCL device that the machine has; [`loading`] runs it again under other drivers.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod build;
mod launch;
mod loading;
mod memory;
mod mixed;
mod pattern;
mod threads;
mod timeline;

use interop_core::{ComputeBackend, ComputeMemory, KernelSource};
use opencl_backend::{OpenClBackend, OpenClDevice, devices};
use pixelferry_testing::{given, need};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Runs `test` on each device, by a backend that all tests of this process share: each kernel that is its own is compiled once.
fn on_every_device(test: impl Fn(&OpenClBackend)) {
    static ALL: LazyLock<Vec<OpenClBackend>> =
        LazyLock::new(|| every_device().iter().map(|device| OpenClBackend::open(device).unwrap()).collect());
    for backend in &*ALL {
        println!("device: {}", backend.device());
        test(backend);
    }
    if ALL.is_empty() {
        // So the skipped test says why.
        every_device();
    }
}

fn every_device() -> Vec<OpenClDevice> {
    need(given(), devices()).unwrap_or_default()
}

/// The device with its driver and version.
fn described(backend: &OpenClBackend) -> String {
    format!("{} ({})", backend.device(), backend.device().driver)
}

/// A kernel of the suite's own.
fn vouched(name: &'static str, text: impl Into<Cow<'static, str>>) -> KernelSource {
    // SAFETY: the suite's kernels write below their target's bounds, and the tests give them memory of the lengths that
    // they read; those that do not hold this are never launched.
    unsafe { KernelSource::new(name).opencl_c(text) }
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
