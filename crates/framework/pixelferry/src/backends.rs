//! Compute backends of this machine, and functions that open them.

use crate::availability::Availability;
use crate::backend_rows::{BACKENDS, BackendChoice, BackendRow};
use interop_core::describe::process;
use interop_core::{Api, ComputeBackend, DeviceIdentity, Error, KernelSource, Language, Result};
use serde::Serialize;
use std::sync::Arc;
use tracing::info;

/// One compute API, and what it offers on this machine.
///
/// ```
/// use pixelferry::{Api, open_all_backends, report::{Availability, BackendStatus}};
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
    /// The compute API.
    pub api: Api,
    /// Whether it can be used, and if not, why.
    #[serde(flatten)]
    pub availability: Availability,
    /// Its devices, in the order in which they were listed.
    pub devices: Vec<DeviceIdentity>,
    /// Languages of kernels that its devices accept; without devices, the backend's usual languages.
    pub languages: Vec<Language>,
}

/// Opens the first backend that supports a language of each of `kernels`. If the program gives a kernel for some
/// backends only, or a compiler is missing on this machine, the next backend is tried.
///
/// # Errors
/// [`Error::Unavailable`] with the reason and a hint what to install, where the choice leaves no other backend;
/// [`Error::Unsupported`] where no backend supports a language of one of the kernels.
pub fn open_backend(choice: BackendChoice, kernels: &[KernelSource]) -> Result<Arc<dyn ComputeBackend>> {
    process::check("open_backend")?;
    let is_auto = choice == BackendChoice::Auto;
    let (mut passed_over, mut refusals) = (None, Vec::new());
    for row in BACKENDS.iter().filter(|row| row.is_meant(choice)) {
        let reason = match (row.best)(None) {
            Ok(backend) => match kernels.iter().find(|k| !k.suits(backend.caps())) {
                None if is_auto && !(row.suits_auto)(backend.device(), kernels) => {
                    passed_over.get_or_insert(backend);
                    continue;
                }
                None => return Ok(backend),
                Some(kernel) => unsuited(kernel, backend.as_ref(), &refusals).of("open_backend"),
            },
            Err(e) => e,
        };
        info!(api = %row.api, %reason, "backend skipped");
        refusals.push((row, reason));
    }
    let last = refusals.pop().map(|(_, reason)| reason);
    passed_over.ok_or_else(|| last.unwrap_or_else(|| Error::invalid("open_backend", "no backend is available")))
}

/// Returns the devices for a choice, by name and driver, as far as they can be listed without being opened.
pub(crate) fn listed_devices(choice: BackendChoice) -> Vec<String> {
    // Backends in a display's queue find their devices only when they are opened.
    let lists = BACKENDS.iter().filter(|row| !row.in_queue && row.is_meant(choice));
    let devices = lists.flat_map(|row| (row.list)().unwrap_or_default());
    devices.map(|device| format!("{} {}", device.identity, device.identity.driver)).collect()
}

/// Returns the order of [`BackendChoice::Auto`] for a display: of the APIs that compute in a display's queue, its own
/// comes first.
pub(crate) fn in_order(display: Option<Api>) -> Vec<&'static BackendRow> {
    let mut all: Vec<_> = BACKENDS.iter().collect();
    let own = all.iter().position(|row| row.in_queue && Some(row.api) == display);
    if let (Some(first), Some(own)) = (all.iter().position(|row| row.in_queue), own) {
        all[first..=own].rotate_right(1);
    }
    all
}

/// Returns the error for a device that supports none of the kernel's languages, with the backends that do and the
/// reasons why those that were tried are unavailable.
pub(crate) fn unsuited(
    kernel: &KernelSource,
    backend: &dyn ComputeBackend,
    refusals: &[(&BackendRow, Error)],
) -> Error {
    let takers = BACKENDS.iter().filter(|row| row.takes.iter().any(|language| kernel.source(*language).is_some()));
    let takers = takers.map(|row| match refusals.iter().find(|(refused, _)| refused.api == row.api) {
        Some((_, reason)) => format!("{} ({reason})", row.named.name),
        None => row.named.name.to_owned(),
    });
    let takers = takers.collect::<Vec<_>>().join(", ");
    let spoken: Vec<_> = backend.caps().languages.iter().map(ToString::to_string).collect();
    Error::Unsupported {
        operation: "",
        device: backend.device().to_string(),
        reason: format!(
            "kernel '{}' is written in {}, but the device runs {}; backends that can run this kernel: {}",
            kernel.name(),
            kernel.languages(),
            spoken.join(", "),
            if takers.is_empty() { "none" } else { &takers }
        ),
    }
}

/// Opens every device of every backend, and returns the status of each API. A device that fails to open is skipped,
/// with its error in the last list.
pub fn open_all_backends() -> (Vec<Arc<dyn ComputeBackend>>, Vec<BackendStatus>, Vec<Error>) {
    let (mut backends, mut all, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for row in BACKENDS {
        let (availability, listed) = match (row.list)() {
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
        let languages = languages(row, &backends);
        all.push(BackendStatus { api: row.api, availability, devices, languages });
    }
    (backends, all, errors)
}

fn languages(row: &BackendRow, opened: &[Arc<dyn ComputeBackend>]) -> Vec<Language> {
    let mut all: Vec<Language> = Vec::new();
    for backend in opened.iter().filter(|backend| backend.device().api == row.api) {
        all.extend(backend.caps().languages.iter().filter(|language| !all.contains(language)).collect::<Vec<_>>());
    }
    if all.is_empty() { row.takes.to_vec() } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_those_that_compute_in_queues_the_displays_own_comes_first() {
        let order = |display| in_order(display).iter().map(|row| row.api).collect::<Vec<_>>();
        let (cuda, opencl, cpu) = (Api::Cuda, Api::OpenCl, Api::Cpu);
        assert_eq!(order(None), [cuda, opencl, Api::OpenGl, Api::Wgpu, Api::Vulkan, cpu]);
        assert_eq!(order(Some(Api::OpenGl)), order(None));
        assert_eq!(order(Some(Api::Cpu)), order(None));
        assert_eq!(order(Some(Api::Wgpu)), [cuda, opencl, Api::Wgpu, Api::OpenGl, Api::Vulkan, cpu]);
    }
}
