//! Every operation, type and backend against plain Rust: CPU, every OpenCL device, wgpu on Vulkan and OpenGL, OpenGL, and CUDA
//! with `PIXELFERRY_GPU=1`.
//! `PIXELFERRY_DEVICE=<part of a name>` leaves out all others.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod elementwise;
mod misuse;
mod parts;
mod queues;
mod random;
mod reduce;
mod scan;
mod table;
mod views;
mod wgsl;

use compute_arrays::{Arrays, Element, ElementType, philox4x32};
use cpu_fallback::{CpuBackend, CpuOptions};
use cuda_backend::CudaBackend;
use gl_backend::{GlBackend, HeadlessOptions};
use interop_core::{ComputeBackend, Error, Language, Result};
use opencl_backend::OpenClBackend;
use pixelferry_testing::{Need, asked, has as has_a, need};
use std::sync::Arc;
use wgpu_backend::{WgpuBackend, WgpuOptions};

/// Every backend here. The CPU twice: with threads, and on the calling thread alone.
fn backends() -> Vec<Arc<dyn ComputeBackend>> {
    let cpu = |options: CpuOptions| Arc::new(CpuBackend::with_options(&options).unwrap());
    let mut all: Vec<Arc<dyn ComputeBackend>> = vec![
        cpu(CpuOptions::default().with_threads(3).with_serial_items(0)),
        cpu(CpuOptions::default().with_threads(1).with_serial_items(usize::MAX)),
    ];
    let devices = need(Need::OpenCl, opencl_backend::devices()).unwrap_or_default();
    all.extend(devices.iter().map(|d| -> Arc<dyn ComputeBackend> { Arc::new(OpenClBackend::open(d).unwrap()) }));
    all.extend(of_wgsl());
    if asked(Need::Nvidia) {
        all.push(Arc::new(CudaBackend::open_best().expect("PIXELFERRY_GPU=1, but CUDA cannot be opened")));
    }
    if let Ok(wanted) = std::env::var("PIXELFERRY_DEVICE") {
        all.retain(|b| b.device().to_string().contains(&wanted));
        assert!(!all.is_empty(), "no device is called {wanted}");
    }
    all
}

fn on_every_backend(mut test: impl FnMut(&Arrays)) {
    for backend in backends() {
        println!("device: {} ({})", backend.device(), backend.device().driver);
        test(&Arrays::new(backend).unwrap());
    }
}

/// wgpu on Vulkan and on OpenGL, and OpenGL itself.
fn of_wgsl() -> Vec<Arc<dyn ComputeBackend>> {
    fn one<B: ComputeBackend + 'static>(
        driver: Need,
        name: &str,
        opened: Result<B>,
    ) -> Option<Arc<dyn ComputeBackend>> {
        let backend = match opened {
            Err(Error::Unsupported { reason, .. }) => has_a("compute shaders", name, Err(reason))?,
            other => need(driver, other)?,
        };
        Some(Arc::new(backend))
    }
    let wgpu = |backends| WgpuBackend::open(&WgpuOptions::default().with_backends(backends));
    let all = [
        one(Need::Lavapipe, "wgpu on Vulkan", wgpu(wgpu::Backends::VULKAN)),
        one(Need::Egl, "wgpu on OpenGL", wgpu(wgpu::Backends::GL)),
        one(Need::Egl, "OpenGL", GlBackend::open(&HeadlessOptions::default())),
    ];
    all.into_iter().flatten().collect()
}

/// Whether its kernels are in WGSL, which has numbers of 32 bits only.
fn is_of_wgsl(arrays: &Arrays) -> bool {
    arrays.backend().caps().languages.contains(&Language::Wgsl)
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
    let found = match made {
        Err(error @ Error::Unsupported { .. }) if T::KIND == ElementType::F64 => Err(error),
        made => Ok(made.unwrap()),
    };
    let device = arrays.backend().device();
    has_a("double precision", format!("{device} ({})", device.driver), found).is_some()
}

/// Random bits, the same in every run.
fn words(seed: u32) -> impl FnMut() -> u32 {
    let mut at = 0;
    move || {
        at += 1;
        philox4x32([at, 0, 0, 0], [seed, 7])[0]
    }
}

/// What the tests need of a type.
trait Sample: Element + std::fmt::Display {
    /// A value of moderate size from random bits.
    fn sample(bits: u32) -> Self;
    /// Values at the edges of the type.
    fn edges() -> Vec<Self>;
    /// Units in the last place between two values; 0 for two NaN.
    fn distance(self, other: Self) -> u64;
    /// This is a subnormal number, and `found` is zero.
    fn is_flushed_to(self, found: Self) -> bool;
}

macro_rules! sample_int {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            fn sample(bits: u32) -> Self { (bits as i32 >> 12) as $t }
            fn edges() -> Vec<Self> { vec![0, 1, 2, $t::MAX, $t::MAX - 1, $t::MIN, $t::MIN + 1, $t::MAX / 2] }
            fn distance(self, other: Self) -> u64 { self.abs_diff(other).into() }
            fn is_flushed_to(self, _: Self) -> bool { false }
        }
    )*};
}
sample_int!(i32 u32 i64 u64);

macro_rules! sample_float {
    ($($t:ident $i:ident)*) => {$(
        impl Sample for $t {
            fn sample(bits: u32) -> Self { (f64::from(bits as i32) / f64::from(1 << 24)) as $t }
            fn edges() -> Vec<Self> {
                vec![0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 1e10, -1e10, $t::MAX, $t::MIN, $t::INFINITY,
                     $t::NEG_INFINITY, $t::NAN, 3e9, -3e9, 1e19, 2e19]
            }
            fn distance(self, other: Self) -> u64 {
                if self == other || (self.is_nan() && other.is_nan()) { return 0; }
                if self.is_nan() || other.is_nan() { return u64::MAX; }
                // Ordered as integers are, with both zeros at one place.
                let key = |v: $t| { let b = v.to_bits() as $i; i128::from(if b < 0 { $i::MIN - b } else { b }) };
                u64::try_from((key(self) - key(other)).abs()).unwrap_or(u64::MAX)
            }
            fn is_flushed_to(self, found: Self) -> bool { self.is_subnormal() && found == 0.0 }
        }
    )*};
}
sample_float!(f32 i32 f64 i64);

fn samples<T: Sample>(count: usize, seed: u32) -> Vec<T> {
    let mut next = words(seed);
    (0..count).map(|_| T::sample(next())).collect()
}

/// Lengths around everything that kernels cut at.
const LENGTHS: [usize; 14] = [0, 1, 2, 255, 256, 257, 1023, 4096, 4097, 8321, 65_536, 66_561, 133_121, 300_007];
