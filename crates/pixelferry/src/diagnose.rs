//! Findings about the machine as a whole that a user can act on.

use crate::availability::Availability;
use crate::backend_rows;
use crate::backends::BackendStatus;
use crate::display_rows;
use crate::displays::DisplayStatus;
use interop_core::{Api, Diagnosis};
use std::path::{Path, PathBuf};

/// Folders in which libglvnd looks for the drivers of EGL.
const VENDOR_FOLDERS: [&str; 2] = ["/usr/share/glvnd/egl_vendor.d", "/etc/glvnd/egl_vendor.d"];

/// Returns what is missing here, by name.
pub(crate) fn machine(backends: &[BackendStatus], displays: &[DisplayStatus]) -> Vec<Diagnosis> {
    let mut found: Vec<_> = backends.iter().filter_map(backend).collect();
    let has_cuda = backends.iter().any(|b| b.api == Api::Cuda && !b.devices.is_empty());
    let gpu_draws = displays.iter().any(|d| d.device.as_ref().is_some_and(|d| d.api == Api::OpenGl && !d.software));
    if has_cuda && !gpu_draws && !has_vendor_file(&vendor_files()) {
        found.push(Diagnosis::new(
            "no-egl-vendor-file",
            "there is an NVIDIA GPU, but no file of EGL names its driver",
            format!(
                "Install the driver's OpenGL part (libnvidia-gl), or put 10_nvidia.json into {}, or name it in \
                 __EGL_VENDOR_LIBRARY_FILENAMES",
                VENDOR_FOLDERS[0]
            ),
        ));
    }
    found.extend(displays.iter().filter_map(|display| {
        let driver = display_rows::DRIVERS.iter().find(|driver| driver.kind == display.kind);
        let name = driver.map_or(Some("no-display"), |driver| driver.missing)?;
        missing(&display.availability, |_| name)
    }));
    found
}

/// A finding for what cannot be used, with a name by its reason.
fn missing(availability: &Availability, name: impl FnOnce(&str) -> &'static str) -> Option<Diagnosis> {
    let Availability::Unavailable { reason, hint } = availability else { return None };
    Some(Diagnosis::new(name(reason), reason.clone(), hint.clone()))
}

fn backend(status: &BackendStatus) -> Option<Diagnosis> {
    let driver = backend_rows::DRIVERS.iter().find(|driver| driver.api == status.api);
    missing(&status.availability, |reason| driver.map_or("no-compute", |driver| (driver.missing)(reason)))
}

/// The files by which EGL finds drivers, as the environment or the folders say.
fn vendor_files() -> Vec<PathBuf> {
    if let Some(names) = std::env::var_os("__EGL_VENDOR_LIBRARY_FILENAMES") {
        return std::env::split_paths(&names).collect();
    }
    let folders = match std::env::var_os("__EGL_VENDOR_LIBRARY_DIRS") {
        Some(list) => std::env::split_paths(&list).collect(),
        None => VENDOR_FOLDERS.map(PathBuf::from).to_vec(),
    };
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

fn has_vendor_file(files: &[PathBuf]) -> bool {
    let is_nvidia = |file: &Path| file.file_name().is_some_and(|name| name.to_string_lossy().contains("nvidia"));
    files.iter().any(|file| is_nvidia(file) && file.exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use interop_core::{DeviceIdentity, MemoryKind};

    fn device(api: Api, software: bool) -> DeviceIdentity {
        DeviceIdentity::new(api, "device").with_memory(MemoryKind::Discrete).with_software(software)
    }

    fn unavailable(reason: &str) -> Availability {
        Availability::Unavailable { reason: reason.into(), hint: "Do this.".into() }
    }

    #[test]
    fn what_is_missing_has_a_name() {
        let backend = |api, reason: &str| BackendStatus { api, availability: unavailable(reason), devices: Vec::new() };
        let no_gl = DisplayStatus { kind: "gl-headless", availability: unavailable("no libEGL"), device: None };
        let backends = [backend(Api::OpenCl, "no ICD"), backend(Api::Cuda, "the driver offers CUDA 11.8")];
        let names: Vec<_> = machine(&backends, &[no_gl]).iter().map(|d| (d.name, d.advice.clone())).collect();
        let advice = || "Do this.".to_owned();
        assert_eq!(names, [("no-opencl", advice()), ("old-driver", advice()), ("no-opengl", advice())]);
        assert_eq!(machine(&[backend(Api::Cuda, "no libcuda")], &[])[0].name, "no-cuda");
    }

    #[test]
    fn a_gpu_that_only_computes_lacks_its_vendor_file() {
        let cuda = BackendStatus {
            api: Api::Cuda,
            availability: Availability::Available,
            devices: vec![device(Api::Cuda, false)],
        };
        let drawn_by = |software| DisplayStatus {
            kind: "gl-headless",
            availability: Availability::Available,
            device: Some(device(Api::OpenGl, software)),
        };
        let names = |software| -> Vec<_> {
            machine(std::slice::from_ref(&cuda), &[drawn_by(software)]).iter().map(|d| d.name).collect()
        };
        assert!(names(false).is_empty());
        let expected: &[&str] = if has_vendor_file(&vendor_files()) { &[] } else { &["no-egl-vendor-file"] };
        assert_eq!(names(true), expected);
        assert!(!has_vendor_file(&["/nowhere/10_nvidia.json".into(), "/etc/passwd".into()]));
    }
}
