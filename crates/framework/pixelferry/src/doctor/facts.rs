//! Facts about a machine, gathered in one place, from which causes are derived.

use crate::availability::Availability;
use crate::backends::BackendStatus;
use crate::displays::DisplayStatus;
use interop_core::{Api, DeviceIdentity};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Folders in which libglvnd looks for EGL drivers.
pub(super) const VENDOR_FOLDERS: [&str; 2] = ["/usr/share/glvnd/egl_vendor.d", "/etc/glvnd/egl_vendor.d"];
/// Variables that replace these folders; the first one has precedence.
pub(super) const VENDOR_VARIABLES: [&str; 2] = ["__EGL_VENDOR_LIBRARY_FILENAMES", "__EGL_VENDOR_LIBRARY_DIRS"];

/// Environment variables that change the behaviour of drivers. None of them identifies a person or a machine.
pub(super) const VARIABLES: [&str; 20] = [
    VENDOR_VARIABLES[0],
    VENDOR_VARIABLES[1],
    "__GLX_VENDOR_LIBRARY_NAME",
    "__NV_PRIME_RENDER_OFFLOAD",
    "CUDA_VISIBLE_DEVICES",
    "DRI_PRIME",
    "GALLIUM_DRIVER",
    "LD_LIBRARY_PATH",
    "LIBGL_ALWAYS_SOFTWARE",
    "MESA_LOADER_DRIVER_OVERRIDE",
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_VISIBLE_DEVICES",
    "OCL_ICD_FILENAMES",
    "OCL_ICD_VENDORS",
    "OPENCL_LAYERS",
    "POCL_DEVICES",
    "RUSTICL_ENABLE",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "XDG_SESSION_TYPE",
];

/// Driver libraries to look for.
const LIBRARIES: [&str; 3] = ["libEGL.so.1", "libEGL_nvidia.so.0", "libcuda.so.1"];
/// Library folders, searched after those of the loader's variable.
const LIBRARY_FOLDERS: [&str; 7] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/lib/wsl/lib",
    "/usr/local/nvidia/lib64",
    "/usr/local/cuda/compat",
];

/// The screen on which windows would open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Screen {
    /// There is no screen.
    #[default]
    None,
    /// A screen of this machine.
    Local,
    /// An X server that is reached through the network, as with `ssh -X`.
    Forwarded,
}

/// Access to the GPU's render nodes on Linux (`/dev/dri/renderD*`), through which programs draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RenderNodes {
    /// There are no render nodes.
    #[default]
    Absent,
    /// There are render nodes, but this user may not open any of them.
    Closed,
    /// This user can open at least one render node.
    Open,
}

/// All facts from which [`examine`](super::examine) derives causes.
///
/// ```
/// use pixelferry::doctor::{Facts, examine};
///
/// let mut facts = Facts::default();
/// facts.over_ssh = true;
/// assert!(examine(&facts).iter().all(|found| found.name != "ssh-x-forwarding"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Facts {
    /// Devices that can compute.
    pub compute: Vec<DeviceIdentity>,
    /// Devices on which OpenGL draws without a window.
    pub opengl: Vec<DeviceIdentity>,
    /// Reason why OpenGL cannot be used, and a hint.
    pub no_opengl: Option<(String, String)>,
    /// Reason why CUDA cannot be used.
    pub no_cuda: Option<String>,
    /// Reason why OpenCL cannot be used, and a hint.
    pub no_opencl: Option<(String, String)>,
    /// True where the operating system's kernel drives an NVIDIA GPU.
    pub has_nvidia: bool,
    /// Version of the NVIDIA driver.
    pub nvidia_driver: Option<String>,
    /// Driver libraries that were found in the loader's usual folders.
    pub libraries: Vec<&'static str>,
    /// Existing files that name drivers to EGL; `None` on systems that have no such files.
    pub vendor_files: Option<Vec<PathBuf>>,
    /// Access to the GPU's render nodes.
    pub render_nodes: RenderNodes,
    /// True if the process runs in a container.
    pub in_container: bool,
    /// True in the Windows Subsystem for Linux.
    pub in_wsl: bool,
    /// True in an ssh session.
    pub over_ssh: bool,
    /// The screen on which windows would open.
    pub screen: Screen,
    /// Environment variables that change the behaviour of drivers, where they are set.
    pub variables: BTreeMap<&'static str, String>,
}

impl Facts {
    /// Gathers the facts of this machine, in addition to the results of opening backends and displays.
    pub fn gather(backends: &[BackendStatus], displays: &[DisplayStatus]) -> Self {
        let why = |availability: &Availability| match availability {
            Availability::Available => None,
            Availability::Unavailable { reason, hint } => Some((reason.clone(), hint.clone())),
        };
        let gl = || displays.iter().filter(|display| display.kind == crate::display_rows::GL);
        let cuda = backends.iter().find(|backend| backend.api == Api::Cuda);
        let version = fs::read_to_string("/proc/driver/nvidia/version").ok();
        let has_cuda = cuda.is_some_and(|cuda| !cuda.devices.is_empty());
        Self {
            compute: backends.iter().flat_map(|backend| backend.devices.clone()).collect(),
            opengl: gl().filter_map(|display| display.device.clone()).collect(),
            no_opengl: gl().find_map(|display| why(&display.availability)),
            no_opencl: backends.iter().find(|one| one.api == Api::OpenCl).and_then(|one| why(&one.availability)),
            no_cuda: cuda.and_then(|cuda| why(&cuda.availability)).map(|(reason, _)| reason),
            has_nvidia: has_cuda || version.is_some() || Path::new("/dev/nvidiactl").exists(),
            nvidia_driver: version.as_deref().and_then(driver_version),
            libraries: libraries(),
            vendor_files: cfg!(target_os = "linux").then(vendor_files),
            render_nodes: render_nodes(),
            in_container: in_container(),
            in_wsl: fs::read_to_string("/proc/sys/kernel/osrelease")
                .is_ok_and(|release| release.to_lowercase().contains("microsoft")),
            over_ssh: ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"].iter().any(|name| value(name).is_some()),
            screen: screen(env::var("DISPLAY").ok().as_deref(), value("WAYLAND_DISPLAY").is_some()),
            variables: VARIABLES.iter().filter_map(|name| Some((*name, value(name)?))).collect(),
        }
    }

    /// True where OpenGL draws on hardware.
    pub(super) fn draws_on_hardware(&self) -> bool {
        self.opengl.iter().any(|device| !device.software)
    }

    /// Iterates over the hardware devices of the driver that compute.
    pub(super) fn gpus(&self) -> impl Iterator<Item = &DeviceIdentity> {
        self.compute.iter().filter(|device| !device.software && matches!(device.api, Api::Cuda | Api::OpenCl))
    }

    /// True where the loader finds this library.
    pub(super) fn has(&self, library: &str) -> bool {
        self.libraries.contains(&library)
    }

    /// Returns the value of a variable that is set.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }
}

/// Returns the value of a variable that is not empty, converted to text as closely as possible.
fn value(name: &str) -> Option<String> {
    Some(env::var_os(name)?.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
}

/// Returns the first dotted number in the driver's description.
fn driver_version(text: &str) -> Option<String> {
    let is_version = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.split_whitespace().find(is_version).map(str::to_owned)
}

fn libraries() -> Vec<&'static str> {
    let named = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders: Vec<_> = env::split_paths(&named).chain(LIBRARY_FOLDERS.map(PathBuf::from)).collect();
    LIBRARIES.into_iter().filter(|library| folders.iter().any(|folder| folder.join(library).exists())).collect()
}

/// Returns the existing files with which EGL finds drivers, from the environment or the usual folders.
fn vendor_files() -> Vec<PathBuf> {
    let [files, folders] = VENDOR_VARIABLES.map(env::var_os);
    if let Some(names) = files {
        return env::split_paths(&names).filter(|file| file.is_file()).collect();
    }
    let folders = match folders {
        Some(list) => env::split_paths(&list).collect(),
        None => VENDOR_FOLDERS.map(PathBuf::from).to_vec(),
    };
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|file| file.extension().is_some_and(|extension| extension == "json")).collect()
}

fn render_nodes() -> RenderNodes {
    let entries = fs::read_dir("/dev/dri").into_iter().flatten().filter_map(Result::ok);
    let nodes = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("renderD"));
    nodes.fold(RenderNodes::Absent, |state, entry| {
        let opens = fs::OpenOptions::new().read(true).write(true).open(entry.path()).is_ok();
        if opens || state == RenderNodes::Open { RenderNodes::Open } else { RenderNodes::Closed }
    })
}

fn in_container() -> bool {
    let files = ["/.dockerenv", "/run/.containerenv"];
    let variables = ["container", "KUBERNETES_SERVICE_HOST", "NVIDIA_VISIBLE_DEVICES"];
    files.iter().any(|file| Path::new(file).exists()) || variables.iter().any(|name| value(name).is_some())
}

/// An X server with a host name before the colon is reached through the network.
fn screen(x: Option<&str>, has_wayland: bool) -> Screen {
    match x.filter(|display| !display.is_empty()) {
        _ if has_wayland => Screen::Local,
        None => Screen::None,
        Some(display) if display.starts_with(':') || display.starts_with('/') || display.starts_with("unix:") => {
            Screen::Local
        }
        Some(_) => Screen::Forwarded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_and_a_screen_are_told_from_their_texts() {
        let text =
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC version: 12";
        assert_eq!(driver_version(text).as_deref(), Some("580.159.04"));
        assert_eq!(driver_version("NVRM version: none"), None);
        let cases = [
            (None, false, Screen::None),
            (Some(""), false, Screen::None),
            (Some(":0"), false, Screen::Local),
            (Some("localhost:10.0"), false, Screen::Forwarded),
            (Some("far:0"), true, Screen::Local),
            (None, true, Screen::Local),
        ];
        for (x, has_wayland, expected) in cases {
            assert_eq!(screen(x, has_wayland), expected, "{x:?}, {has_wayland}");
        }
    }

    #[test]
    fn no_variable_is_listed_twice_or_names_a_person() {
        for (at, name) in VARIABLES.iter().enumerate() {
            assert!(!VARIABLES[..at].contains(name), "{name}");
            assert!(!["HOME", "USER", "LOGNAME", "HOSTNAME", "SSH_CONNECTION", "DISPLAY"].contains(name), "{name}");
        }
    }
}
