//! Which compute backends this machine has, and opening one.

use crate::availability::Availability;
use cpu_fallback::CpuBackend;
use cuda_backend::CudaBackend;
use interop_core::{Api, ComputeBackend, DeviceIdentity, Error, KernelSource, Result};
use opencl_backend::OpenClBackend;
use serde::Serialize;
use std::sync::Arc;
use tracing::info;

/// Which backend to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BackendChoice {
    /// CUDA, else OpenCL on a GPU, else OpenCL on a CPU, else our own threads. Never fails for want of a driver.
    #[default]
    Auto,
    /// The best CUDA device, or an error.
    Cuda,
    /// The best OpenCL device, or an error.
    OpenCl,
    /// Threads of this process.
    Cpu,
}

/// One API and what it offers here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackendStatus {
    /// The API.
    pub api: Api,
    /// Whether it can be used, and why not.
    #[serde(flatten)]
    pub availability: Availability,
    /// Its devices, in the order in which they were listed.
    pub devices: Vec<DeviceIdentity>,
}

/// Opens a backend.
///
/// # Errors
/// [`Error::Unavailable`] with the reason and what to install, where the choice leaves no other.
pub fn open_backend(choice: BackendChoice) -> Result<Arc<dyn ComputeBackend>> {
    let backend: Arc<dyn ComputeBackend> = match choice {
        BackendChoice::Cuda => Arc::new(CudaBackend::open_best()?),
        BackendChoice::OpenCl => Arc::new(OpenClBackend::open_best()?),
        BackendChoice::Cpu => Arc::new(CpuBackend::new()?),
        BackendChoice::Auto => return open_backend_for(choice, &[]),
    };
    Ok(backend)
}

/// Opens the first backend that speaks a language of every one of `kernels`: a program that gives a kernel for some
/// backends only, or a machine without a compiler for one of them, goes on to the next.
///
/// # Errors
/// As [`open_backend`]; [`Error::Unsupported`] where the last backend there is speaks none of them.
pub fn open_backend_for(choice: BackendChoice, kernels: &[KernelSource]) -> Result<Arc<dyn ComputeBackend>> {
    let choices: &[BackendChoice] = match choice {
        BackendChoice::Auto => &[BackendChoice::Cuda, BackendChoice::OpenCl, BackendChoice::Cpu],
        _ => &[choice],
    };
    let mut last = None;
    for choice in choices {
        let reason = match open_backend(*choice) {
            Ok(backend) => match kernels.iter().find(|k| !k.suits(backend.caps())) {
                None => return Ok(backend),
                Some(kernel) => Error::Unsupported {
                    operation: "open_backend_for",
                    device: backend.device().to_string(),
                    reason: format!(
                        "kernel '{}' is given in {}, the device takes {:?}",
                        kernel.name(),
                        kernel.languages(),
                        backend.caps().languages
                    ),
                },
            },
            Err(e) => e,
        };
        info!(?choice, %reason, "passed over");
        last = Some(reason);
    }
    Err(last.unwrap_or_else(|| Error::invalid("open_backend_for", "there is no backend to choose from")))
}

/// Every backend with its devices. Opens nothing on a device.
pub fn backend_status() -> Vec<BackendStatus> {
    let cuda = cuda_backend::devices().map(|all| all.iter().map(|d| d.identity().clone()).collect());
    let opencl = opencl_backend::devices().map(|all| all.iter().map(|d| d.identity().clone()).collect());
    let cpu = CpuBackend::new().map(|cpu| vec![cpu.device().clone()]);
    vec![status(Api::Cuda, cuda), status(Api::OpenCl, opencl), status(Api::Cpu, cpu)]
}

fn status(api: Api, devices: Result<Vec<DeviceIdentity>>) -> BackendStatus {
    match devices {
        Ok(devices) => BackendStatus { api, availability: Availability::Available, devices },
        Err(e) => BackendStatus { api, availability: Availability::from(&e), devices: Vec::new() },
    }
}

/// Opens every device of every backend; one that does not open is left out with its error.
pub fn open_all_backends() -> (Vec<Arc<dyn ComputeBackend>>, Vec<Error>) {
    let mut backends: Vec<Arc<dyn ComputeBackend>> = Vec::new();
    let mut errors = Vec::new();
    let mut add = |opened: Result<Arc<dyn ComputeBackend>>| match opened {
        Ok(backend) => backends.push(backend),
        Err(e) => errors.push(e),
    };
    // That an API is not there at all is told by `backend_status`.
    for device in cuda_backend::devices().unwrap_or_default() {
        add(CudaBackend::open(&device).map(|b| Arc::new(b) as Arc<dyn ComputeBackend>));
    }
    for device in opencl_backend::devices().unwrap_or_default() {
        add(OpenClBackend::open(&device).map(|b| Arc::new(b) as Arc<dyn ComputeBackend>));
    }
    add(CpuBackend::new().map(|b| Arc::new(b) as Arc<dyn ComputeBackend>));
    (backends, errors)
}
