//! Every operation, type and backend against plain Rust: CPU, every OpenCL device, wgpu on Vulkan and OpenGL, OpenGL, and CUDA
//! with `PIXELFERRY_GPU=1`.
//! `PIXELFERRY_DEVICE=<part of a name>` leaves out all others.
//!
//! Drivers take long to compile kernels. So at the shortest level most tests run on one device of each language alone, and every
//! backend where functions are compared.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod elementwise;
mod histogram;
mod misuse;
mod parts;
mod queues;
mod random;
mod reduce;
mod sample;
mod scan;
mod table;
mod views;
mod wgsl;

use compute_arrays::{Arrays, Element, ElementType};
use cpu_fallback::{CpuBackend, CpuOptions};
use cuda_backend::CudaBackend;
use interop_core::{ComputeBackend, Error, Language, Result};
use opencl_backend::OpenClBackend;
use pixelferry_gl::{GlBackend, HeadlessOptions};
use pixelferry_testing::{Child, Level, Need, asked, by_level, given, has as has_a, level, need};
use pixelferry_wgpu::{WgpuBackend, WgpuOptions};
use sample::{Sample, samples};
use std::sync::Arc;

const DEVICE: &str = "PIXELFERRY_DEVICE";

type Backends = Vec<Arc<dyn ComputeBackend>>;

/// The CPU twice: with threads, and on the calling thread alone.
fn of_rust() -> Backends {
    let cpu =
        |options: CpuOptions| -> Arc<dyn ComputeBackend> { Arc::new(CpuBackend::with_options(&options).unwrap()) };
    vec![
        cpu(CpuOptions::default().with_threads(3).with_serial_items(0)),
        cpu(CpuOptions::default().with_threads(1).with_serial_items(usize::MAX)),
    ]
}

/// Every OpenCL device, and CUDA.
fn of_c() -> Backends {
    let devices = need(given(), opencl_backend::devices()).unwrap_or_default();
    let mut all: Backends = Vec::new();
    all.extend(devices.iter().map(|d| -> Arc<dyn ComputeBackend> { Arc::new(OpenClBackend::open(d).unwrap()) }));
    if asked(Need::Nvidia) {
        all.push(Arc::new(CudaBackend::open_best().expect("PIXELFERRY_GPU=1, but CUDA cannot be opened")));
    }
    all
}

/// wgpu on Vulkan.
fn of_vulkan() -> Option<Arc<dyn ComputeBackend>> {
    wgpu(wgpu::Backends::VULKAN, Need::Lavapipe, "wgpu on Vulkan")
}

fn wgpu(backends: wgpu::Backends, driver: Need, name: &str) -> Option<Arc<dyn ComputeBackend>> {
    with_compute(driver, name, WgpuBackend::open(&WgpuOptions::default().with_backends(backends)))
}

fn with_compute<B: ComputeBackend + 'static>(
    driver: Need,
    name: &str,
    opened: Result<B>,
) -> Option<Arc<dyn ComputeBackend>> {
    Some(Arc::new(match opened {
        Err(Error::Unsupported { reason, .. }) => has_a("compute shaders", name, Err(reason))?,
        other => need(driver, other)?,
    }))
}

/// wgpu on OpenGL, and OpenGL itself.
fn of_opengl() -> Backends {
    let wgpu = wgpu(wgpu::Backends::GL, Need::Egl, "wgpu on OpenGL");
    wgpu.into_iter().chain(with_compute(Need::Egl, "OpenGL", GlBackend::open(&HeadlessOptions::default()))).collect()
}

/// Those that the environment does not leave out.
fn wanted(mut all: Backends) -> Backends {
    if let Ok(wanted) = std::env::var(DEVICE) {
        all.retain(|b| b.device().to_string().contains(&wanted));
    }
    all
}

/// Every backend here.
fn backends() -> Backends {
    let all = wanted(of_rust().into_iter().chain(of_c()).chain(of_vulkan()).chain(of_opengl()).collect());
    assert!(!all.is_empty(), "{DEVICE}: no device is called so");
    all
}

fn on(backends: Backends, mut test: impl FnMut(&Arrays)) {
    for backend in backends {
        println!("device: {} ({})", backend.device(), backend.device().driver);
        test(&Arrays::new(backend).unwrap());
    }
}

fn on_every_backend(test: impl FnMut(&Arrays)) {
    on(backends(), test);
}

/// Threads, OpenCL C and WGSL; every backend from the next level on.
fn on_every_language(test: impl FnMut(&Arrays)) {
    match level() {
        Level::Short => on(wanted(of_rust().into_iter().take(1).chain(of_c()).chain(of_vulkan()).collect()), test),
        _ => on_every_backend(test),
    }
}

/// True where its kernels are in WGSL, which has numbers of 32 bits only.
fn is_of_wgsl(arrays: &Arrays) -> bool {
    arrays.backend().caps().languages.contains(&Language::Wgsl)
}

/// True where a driver compiles its kernels.
fn is_a_device(arrays: &Arrays) -> bool {
    !arrays.backend().caps().languages.contains(&Language::Rust)
}

/// False, with a word about it, where the device lacks the type.
fn has<T: Element>(arrays: &Arrays) -> bool {
    let made = arrays.empty::<T>(&[1]);
    if is_of_wgsl(arrays) && size_of::<T>() == 8 {
        // Not a driver's lack: the language has none, and the error says so.
        let error = made.unwrap_err().to_string();
        assert!(error.contains(&format!("WGSL has no {}", T::KIND)), "{error}");
        return false;
    }
    if T::KIND != ElementType::F64 {
        made.unwrap();
        return true;
    }
    let found = match made {
        Err(error @ Error::Unsupported { .. }) => Err(error),
        made => Ok(made.unwrap()),
    };
    let device = arrays.backend().device();
    has_a("double precision", format!("{device} ({})", device.driver), found).is_some()
}

/// Lengths around everything that kernels cut at.
fn lengths() -> &'static [usize] {
    let all = &[0, 1, 2, 255, 256, 257, 1023, 4096, 4097, 8321, 65_536, 66_561, 133_121, 300_007];
    &all[..by_level(13, 14, 14)]
}

/// The other OpenCL driver, which only a process that sees no other one tests.
#[test]
fn on_rusticl() {
    let child = match level() {
        Level::Short => Child::of_each(&[
            "suite::elementwise::one_kernel_with_many_arrays_numbers_and_types",
            "suite::reduce::results_stay_on_the_device_where_they_are_wanted_there",
        ]),
        // The test itself does nothing in the child.
        _ => Child::of_those(&["suite::"]),
    };
    if given() == Need::OpenCl {
        child.unwrap().env(DEVICE, "OpenCL ").passes_on(Need::Rusticl);
    }
}
