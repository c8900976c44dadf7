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
    first_that_suits(choice, kernels, open_backend)
}

/// The same by any way of opening one that was chosen; `open` is never given [`BackendChoice::Auto`].
pub(crate) fn first_that_suits(
    choice: BackendChoice,
    kernels: &[KernelSource],
    open: impl Fn(BackendChoice) -> Result<Arc<dyn ComputeBackend>>,
) -> Result<Arc<dyn ComputeBackend>> {
    let choices: &[BackendChoice] = match choice {
        BackendChoice::Auto => &[BackendChoice::Cuda, BackendChoice::OpenCl, BackendChoice::Cpu],
        _ => &[choice],
    };
    let mut last = None;
    for choice in choices {
        let reason = match open(*choice) {
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

/// Opens every device of every backend, with the status of each API; a device that does not open is left out with its
/// error.
pub fn open_all_backends() -> (Vec<Arc<dyn ComputeBackend>>, Vec<BackendStatus>, Vec<Error>) {
    let mut all = All::default();
    all.add(Api::Cuda, cuda_backend::devices(), |d| d.identity().clone(), |d| Ok(Arc::new(CudaBackend::open(d)?)));
    all.add(
        Api::OpenCl,
        opencl_backend::devices(),
        |d| d.identity().clone(),
        |d| Ok(Arc::new(OpenClBackend::open(d)?)),
    );
    let cpu = CpuBackend::new().map(|cpu| vec![Arc::new(cpu)]);
    all.add(Api::Cpu, cpu, |cpu| cpu.device().clone(), |cpu| Ok(Arc::clone(cpu) as Arc<dyn ComputeBackend>));
    (all.backends, all.status, all.errors)
}

#[derive(Default)]
struct All {
    backends: Vec<Arc<dyn ComputeBackend>>,
    status: Vec<BackendStatus>,
    errors: Vec<Error>,
}

impl All {
    fn add<D>(
        &mut self,
        api: Api,
        listed: Result<Vec<D>>,
        identity: impl Fn(&D) -> DeviceIdentity,
        open: impl Fn(&D) -> Result<Arc<dyn ComputeBackend>>,
    ) {
        let (availability, listed) = match listed {
            Ok(listed) => (Availability::Available, listed),
            Err(e) => (Availability::from(&e), Vec::new()),
        };
        for opened in listed.iter().map(open) {
            match opened {
                Ok(backend) => self.backends.push(backend),
                Err(e) => self.errors.push(e),
            }
        }
        self.status.push(BackendStatus { api, availability, devices: listed.iter().map(identity).collect() });
    }
}
