//! Compute backends of this machine, and opening one.

use crate::availability::Availability;
use crate::built;
use crate::choice::{Choice, Named};
use crate::listed::{Listed, listed};
use cpu_fallback::CpuBackend;
use interop_core::{Api, ComputeBackend, DeviceIdentity, Error, KernelSource, Language, Result};
use serde::Serialize;
use std::sync::Arc;
use tracing::info;

/// The backend to open.
///
/// ```
/// use pixelferry::{Api, BackendChoice, Choice as _, open_backend};
///
/// // As a command line names it.
/// let threads = open_backend(BackendChoice::parse("cpu")?, &[])?;
/// assert_eq!(threads.device().api, Api::Cpu);
/// assert_eq!(BackendChoice::OpenCl.api(), Some(Api::OpenCl));
/// # Ok::<(), pixelferry::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BackendChoice {
    /// CUDA, else OpenCL on a GPU, else OpenCL on a CPU. Else, where every kernel is given in WGSL, OpenGL or wgpu on a
    /// GPU, that of the display before the other. Else our own threads. Else, where no closure serves threads, OpenGL or
    /// wgpu on a CPU. Without kernels never fails for want of a driver.
    #[default]
    Auto,
    /// The best CUDA device, or an error.
    Cuda,
    /// The best OpenCL device, or an error.
    OpenCl,
    /// The best device of OpenGL that has compute shaders (4.3), or an error. Beside an OpenGL display it computes in the display's
    /// context ([`crate::LinkBuilder`]).
    Gl,
    /// The best device of wgpu that has compute shaders, or an error: also where this library was built without its feature
    /// `wgpu`.
    Wgpu,
    /// Threads of this process.
    Cpu,
}

/// One API and what it offers here.
///
/// ```
/// use pixelferry::{Api, Availability, BackendStatus, open_all_backends};
///
/// let (_, found, _): (_, Vec<BackendStatus>, _) = open_all_backends();
/// for status in &found {
///     if let Availability::Unavailable { reason, hint } = &status.availability {
///         println!("{}: {reason}. {hint}", status.api);
///     }
/// }
/// assert!(found.iter().any(|status| status.api == Api::Cpu && status.devices.len() == 1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BackendStatus {
    /// The API.
    pub api: Api,
    /// Tells if it can be used, and if not, why.
    #[serde(flatten)]
    pub availability: Availability,
    /// Its devices, in the order in which they were listed.
    pub devices: Vec<DeviceIdentity>,
}

/// Differences between the APIs.
pub(crate) struct Driver {
    pub(crate) named: Named<BackendChoice>,
    pub(crate) api: Api,
    /// Languages of its kernels; its compilers may be missing, and some devices take more.
    pub(crate) takes: &'static [Language],
    /// Says whether [`BackendChoice::Auto`] may take a device, which may be a program on the CPU, for these kernels. One that it
    /// may not take is still better than none.
    pub(crate) suits_auto: fn(&DeviceIdentity, &[KernelSource]) -> bool,
    /// True where it computes in the queue of a display of its API.
    pub(crate) in_queue: bool,
    /// True where a display can draw by its kernels (the crate `compute-display`).
    pub(crate) draws: bool,
    /// Opens the best device, where there is a display the one that draws before others.
    pub(crate) best: fn(Option<&DeviceIdentity>) -> Result<Arc<dyn ComputeBackend>>,
    pub(crate) list: fn() -> Result<Vec<Listed>>,
    /// Returns the name of the finding for this reason, if the API cannot be used.
    pub(crate) missing: fn(&str) -> &'static str,
}

impl Driver {
    pub(crate) fn is_meant(&self, choice: BackendChoice) -> bool {
        choice == BackendChoice::Auto || choice == self.named.choice
    }
}

/// One row for each API, in the order of [`BackendChoice::Auto`].
pub(crate) static DRIVERS: &[Driver] = &[
    Driver {
        named: Named { built: cfg!(feature = "cuda"), ..Named::new(BackendChoice::Cuda, "cuda", &[], "CUDA") },
        api: Api::Cuda,
        takes: &[Language::CudaCpp, Language::Ptx],
        suits_auto: |_, _| true,
        in_queue: false,
        draws: true,
        best: built::cuda::best,
        list: built::cuda::list,
        missing: |reason| if reason.contains("driver offers CUDA") { "old-driver" } else { "no-cuda" },
    },
    Driver {
        named: Named { built: cfg!(feature = "opencl"), ..Named::new(BackendChoice::OpenCl, "opencl", &[], "OpenCL") },
        api: Api::OpenCl,
        takes: &[Language::OpenClC],
        suits_auto: |_, _| true,
        in_queue: false,
        draws: true,
        best: built::opencl::best,
        list: built::opencl::list,
        missing: |_| "no-opencl",
    },
    Driver {
        named: Named {
            built: cfg!(feature = "gl-compute"),
            ..Named::new(BackendChoice::Gl, "gl", &["opengl"], "OpenGL's compute shaders")
        },
        api: Api::OpenGl,
        takes: &[Language::Wgsl, Language::Glsl],
        suits_auto: is_hardware_for_wgsl,
        in_queue: true,
        draws: false,
        best: built::gl_compute::best,
        list: built::gl_compute::list,
        missing: |_| "no-opengl-compute",
    },
    Driver {
        named: Named {
            built: cfg!(feature = "wgpu"),
            ..Named::new(
                BackendChoice::Wgpu,
                "wgpu",
                &[],
                "wgpu's compute shaders, where it was built in (feature `wgpu`)",
            )
        },
        api: Api::Wgpu,
        takes: &[Language::Wgsl],
        suits_auto: is_hardware_for_wgsl,
        in_queue: true,
        draws: false,
        best: built::wgpu_compute::best,
        list: built::wgpu_compute::list,
        missing: |_| "no-wgpu-compute",
    },
    Driver {
        named: Named::new(BackendChoice::Cpu, "cpu", &["threads"], "Threads"),
        api: Api::Cpu,
        takes: &[Language::Rust],
        suits_auto: |_, _| true,
        in_queue: false,
        draws: false,
        best: |_| Ok(Arc::new(CpuBackend::new()?)),
        list: || listed(vec![Arc::new(CpuBackend::new()?)], |d| d.device().clone(), |d| Ok(Arc::clone(d) as _)),
        missing: |_| "no-compute",
    },
];

static AUTO: Named<BackendChoice> = Named::new(BackendChoice::Auto, "auto", &[], "The best there is");

impl Choice for BackendChoice {
    const KIND: &'static str = "backend";

    fn all() -> impl Iterator<Item = &'static Named<Self>> {
        std::iter::once(&AUTO).chain(DRIVERS.iter().map(|driver| &driver.named))
    }

    fn api(self) -> Option<Api> {
        DRIVERS.iter().find(|driver| driver.named.choice == self).map(|driver| driver.api)
    }
}

/// Programs that have no WGSL are not moved, and threads are quicker than shaders on a CPU.
fn is_hardware_for_wgsl(device: &DeviceIdentity, kernels: &[KernelSource]) -> bool {
    !device.software && !kernels.is_empty()
}

/// True where a display can draw by kernels of this API's devices.
pub(crate) fn draws(api: Api) -> bool {
    DRIVERS.iter().any(|driver| driver.draws && driver.api == api)
}

/// Opens the first backend that speaks a language of every one of `kernels`: a program that gives a kernel for some
/// backends only, or a machine without a compiler for one of them, goes on to the next.
///
/// # Errors
/// [`Error::Unavailable`] with the reason and what to install, where the choice leaves no other; [`Error::Unsupported`]
/// where the last backend there is speaks no language of one of the kernels.
pub fn open_backend(choice: BackendChoice, kernels: &[KernelSource]) -> Result<Arc<dyn ComputeBackend>> {
    let is_auto = choice == BackendChoice::Auto;
    let (mut passed_over, mut refusals) = (None, Vec::new());
    for driver in DRIVERS.iter().filter(|driver| driver.is_meant(choice)) {
        let reason = match (driver.best)(None) {
            Ok(backend) => match kernels.iter().find(|k| !k.suits(backend.caps())) {
                None if is_auto && !(driver.suits_auto)(backend.device(), kernels) => {
                    passed_over.get_or_insert(backend);
                    continue;
                }
                None => return Ok(backend),
                Some(kernel) => unsuited(kernel, backend.as_ref(), &refusals).of("open_backend"),
            },
            Err(e) => e,
        };
        info!(api = %driver.api, %reason, "passed over");
        refusals.push((driver, reason));
    }
    let last = refusals.pop().map(|(_, reason)| reason);
    passed_over
        .ok_or_else(|| last.unwrap_or_else(|| Error::invalid("open_backend", "there is no backend to choose from")))
}

/// The devices that there are for a choice, by name and driver, as far as they are listed without being opened.
pub(crate) fn listed_devices(choice: BackendChoice) -> Vec<String> {
    // Those that compute in a display's queue are found by opening one.
    let lists = DRIVERS.iter().filter(|driver| !driver.in_queue && driver.is_meant(choice));
    let devices = lists.flat_map(|driver| (driver.list)().unwrap_or_default());
    devices.map(|device| format!("{} {}", device.identity, device.identity.driver)).collect()
}

/// The order of [`BackendChoice::Auto`] for a display: of the APIs that compute in a display's queue, its own first.
pub(crate) fn in_order(display: Option<Api>) -> Vec<&'static Driver> {
    let mut all: Vec<_> = DRIVERS.iter().collect();
    let own = all.iter().position(|driver| driver.in_queue && Some(driver.api) == display);
    if let (Some(first), Some(own)) = (all.iter().position(|driver| driver.in_queue), own) {
        all[first..=own].rotate_right(1);
    }
    all
}

/// A device that takes none of the kernel's languages: which backends do, and why those that were tried are not there.
pub(crate) fn unsuited(kernel: &KernelSource, backend: &dyn ComputeBackend, refusals: &[(&Driver, Error)]) -> Error {
    let takers = DRIVERS.iter().filter(|driver| driver.takes.iter().any(|language| kernel.source(*language).is_some()));
    let takers = takers.map(|driver| match refusals.iter().find(|(refused, _)| refused.api == driver.api) {
        Some((_, reason)) => format!("{} ({reason})", driver.named.name),
        None => driver.named.name.to_owned(),
    });
    let takers = takers.collect::<Vec<_>>().join(", ");
    let spoken: Vec<_> = backend.caps().languages.iter().map(ToString::to_string).collect();
    Error::Unsupported {
        operation: "",
        device: backend.device().to_string(),
        reason: format!(
            "kernel '{}' is given in {}, the device takes {}; backends that take it: {}",
            kernel.name(),
            kernel.languages(),
            spoken.join(", "),
            if takers.is_empty() { "none" } else { &takers }
        ),
    }
}

/// Opens every device of every backend, with the status of each API; a device that does not open is left out with its
/// error.
pub fn open_all_backends() -> (Vec<Arc<dyn ComputeBackend>>, Vec<BackendStatus>, Vec<Error>) {
    let (mut backends, mut all, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for driver in DRIVERS {
        let (availability, listed) = match (driver.list)() {
            Ok(listed) => (Availability::Available, listed),
            Err(e) => (Availability::from(&e), Vec::new()),
        };
        for opened in listed.iter().map(|device| (device.open)()) {
            match opened {
                Ok(backend) => backends.push(backend),
                Err(e) => errors.push(e),
            }
        }
        let devices = listed.into_iter().map(|device| device.identity).collect();
        all.push(BackendStatus { api: driver.api, availability, devices });
    }
    (backends, all, errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_those_that_compute_in_queues_the_displays_own_comes_first() {
        let order = |display| in_order(display).iter().map(|driver| driver.api).collect::<Vec<_>>();
        let (cuda, opencl, cpu) = (Api::Cuda, Api::OpenCl, Api::Cpu);
        assert_eq!(order(None), [cuda, opencl, Api::OpenGl, Api::Wgpu, cpu]);
        assert_eq!(order(Some(Api::OpenGl)), order(None));
        assert_eq!(order(Some(Api::Cpu)), order(None));
        assert_eq!(order(Some(Api::Wgpu)), [cuda, opencl, Api::Wgpu, Api::OpenGl, cpu]);
    }
}
