//! Which compute backends this machine has, and opening one.

use crate::availability::Availability;
use cpu_fallback::CpuBackend;
use interop_core::{Api, ComputeBackend, DeviceIdentity, Error, Result};
use opencl_backend::OpenClBackend;
use serde::Serialize;
use std::sync::Arc;
use tracing::info;

/// Which backend to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BackendChoice {
    /// OpenCL on a GPU, else OpenCL on a CPU, else our own threads. Never fails for want of a driver.
    #[default]
    Auto,
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
        BackendChoice::OpenCl => Arc::new(OpenClBackend::open_best()?),
        BackendChoice::Cpu => Arc::new(CpuBackend::new()?),
        BackendChoice::Auto => match OpenClBackend::open_best() {
            Ok(backend) => Arc::new(backend),
            Err(reason) => {
                info!(%reason, "no OpenCL; computing on our own threads");
                Arc::new(CpuBackend::new()?)
            }
        },
    };
    Ok(backend)
}

/// Every backend with its devices. Opens nothing on a device.
pub fn backend_status() -> Vec<BackendStatus> {
    let (availability, devices) = match opencl_backend::devices() {
        Ok(devices) => (Availability::Available, devices.iter().map(|d| d.identity().clone()).collect()),
        Err(e) => (Availability::from(&e), Vec::new()),
    };
    vec![BackendStatus { api: Api::OpenCl, availability, devices }, cpu_status()]
}

fn cpu_status() -> BackendStatus {
    match CpuBackend::new() {
        Ok(cpu) => {
            BackendStatus { api: Api::Cpu, availability: Availability::Available, devices: vec![cpu.device().clone()] }
        }
        Err(e) => BackendStatus { api: Api::Cpu, availability: Availability::from(&e), devices: Vec::new() },
    }
}

/// Opens every device of every backend; one that does not open is left out with its error.
pub fn open_all_backends() -> (Vec<Arc<dyn ComputeBackend>>, Vec<Error>) {
    let mut backends: Vec<Arc<dyn ComputeBackend>> = Vec::new();
    let mut errors = Vec::new();
    match opencl_backend::devices() {
        Ok(devices) => {
            for device in &devices {
                match OpenClBackend::open(device) {
                    Ok(backend) => backends.push(Arc::new(backend)),
                    Err(e) => errors.push(e),
                }
            }
        }
        Err(e) => errors.push(e),
    }
    match CpuBackend::new() {
        Ok(backend) => backends.push(Arc::new(backend)),
        Err(e) => errors.push(e),
    }
    (backends, errors)
}
