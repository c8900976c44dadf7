//! Causes of common problems: each row derives one from the facts and names the command that fixes it.

use super::facts::{Facts, RenderNodes, Screen, VENDOR_FOLDERS, VENDOR_VARIABLES};
use crate::backend_rows;
use interop_core::{Api, Diagnosis, Support};

/// A cause of problems, as a rule.
pub(super) struct Rule {
    pub(super) name: &'static str,
    /// True where the cause explains why nothing better draws, so that the general causes below are omitted.
    pub(super) explains: bool,
    /// True for a cause that is reported only where no other cause explains it.
    pub(super) general: bool,
    pub(super) find: fn(&Facts) -> Option<Advice>,
}

/// Finding, advice, and the command that fixes it.
pub(super) type Advice = (String, String, Option<String>);

impl Rule {
    const fn of(name: &'static str, find: fn(&Facts) -> Option<Advice>) -> Self {
        Self { name, explains: false, general: false, find }
    }

    const fn explaining(name: &'static str, find: fn(&Facts) -> Option<Advice>) -> Self {
        Self { explains: true, ..Self::of(name, find) }
    }

    const fn general(name: &'static str, find: fn(&Facts) -> Option<Advice>) -> Self {
        Self { general: true, ..Self::of(name, find) }
    }

    pub(super) fn diagnose(&self, facts: &Facts) -> Option<Diagnosis> {
        let (finding, advice, command) = (self.find)(facts)?;
        Some(command.into_iter().fold(Diagnosis::new(self.name, finding, advice), Diagnosis::with_command))
    }
}

/// The causes, in the order of reporting.
pub(super) static RULES: [Rule; 10] = [
    Rule::explaining("container-without-graphics", container_without_graphics),
    Rule::explaining("no-egl-vendor-file", no_egl_vendor_file),
    Rule::explaining("wsl", wsl),
    Rule::of("ssh-x-forwarding", ssh_x_forwarding),
    Rule::of("old-driver", old_driver),
    Rule::of("no-cache-for-opencl", no_cache_for_opencl),
    Rule::of("opencl-layer-missing", opencl_layer_missing),
    Rule::of("display-on-another-gpu", display_on_another_gpu),
    Rule::general("software-opengl", software_opengl),
    Rule::general("no-opengl", no_opengl),
];

const NVIDIA_EGL: &str = "libEGL_nvidia.so.0";

fn found(finding: impl Into<String>, advice: impl Into<String>, command: impl Into<String>) -> Option<Advice> {
    Some((finding.into(), advice.into(), Some(command.into())))
}

fn lacks_nvidias_opengl(facts: &Facts) -> bool {
    facts.has_nvidia && !facts.in_wsl && !facts.draws_on_hardware() && !facts.has(NVIDIA_EGL)
}

/// Returns the package of the driver's OpenGL part, in the driver's own version.
fn nvidia_gl_package(facts: &Facts) -> String {
    let major = facts.nvidia_driver.as_deref().and_then(|version| version.split('.').next());
    major.map_or("libnvidia-gl".into(), |major| format!("libnvidia-gl-{major}"))
}

/// PoCL's reason shows it, because the hint of its error names the cache.
fn no_cache_for_opencl(facts: &Facts) -> Option<Advice> {
    let (finding, hint) = facts.no_opencl.as_ref().filter(|(_, hint)| hint.contains("POCL_CACHE_DIR"))?;
    found(format!("OpenCL: {finding}"), hint, "export POCL_CACHE_DIR=/tmp/pocl")
}

/// Loaders ignore such a layer without a word.
fn opencl_layer_missing(facts: &Facts) -> Option<Advice> {
    // The system searches names without a folder.
    let mut layers = std::env::split_paths(facts.variable("OPENCL_LAYERS")?);
    let missing = layers.find(|file| file.is_absolute() && !file.exists())?;
    let finding = format!("the OpenCL loader does not find the layer '{}' of OPENCL_LAYERS", missing.display());
    found(finding, "Give the path of a file; this command finds pixelferry's layer", "pixelferry clgl devices")
}

fn container_without_graphics(facts: &Facts) -> Option<Advice> {
    if !facts.in_container || !lacks_nvidias_opengl(facts) {
        return None;
    }
    let asked = facts.variable("NVIDIA_DRIVER_CAPABILITIES");
    let has_graphics = asked.is_some_and(|list| list.split(',').any(|one| matches!(one.trim(), "all" | "graphics")));
    if has_graphics {
        return found(
            format!("this container has the 'graphics' capability, but its host has no {NVIDIA_EGL}"),
            "Install the OpenGL part of NVIDIA's driver on the host, then start the container again",
            format!("sudo apt-get install {}", nvidia_gl_package(facts)),
        );
    }
    found(
        format!(
            "this container has an NVIDIA GPU, but not the driver's OpenGL ({NVIDIA_EGL}): NVIDIA_DRIVER_CAPABILITIES is {}",
            asked.map_or("not set".into(), |list| format!("'{list}'"))
        ),
        "Start the container with the 'graphics' capability",
        "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics IMAGE",
    )
}

fn no_egl_vendor_file(facts: &Facts) -> Option<Advice> {
    let files = facts.vendor_files.as_ref().filter(|_| !facts.draws_on_hardware() && !facts.in_wsl)?;
    let is_nvidias =
        |file: &std::path::PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().contains("nvidia"));
    let lacks_nvidias = facts.has_nvidia && !files.iter().any(is_nvidias);
    let has_none = files.is_empty() && facts.opengl.is_empty();
    if !(lacks_nvidias || has_none) {
        return None;
    }
    let none = if lacks_nvidias {
        "there is an NVIDIA GPU, but its driver is not listed in any EGL vendor file"
    } else {
        "no driver is listed in an EGL vendor file, so OpenGL finds none"
    };
    if let Some(name) = VENDOR_VARIABLES.into_iter().find(|name| facts.variable(name).is_some()) {
        let value = facts.variable(name).unwrap_or_default();
        let advice = "Without the variable, EGL searches the usual folders";
        return found(format!("{none}: {name} is '{value}'"), advice, format!("unset {name}"));
    }
    if lacks_nvidias && facts.has(NVIDIA_EGL) {
        let [folder, _] = VENDOR_FOLDERS;
        return found(
            none,
            "The driver is installed; register it with EGL",
            format!(
                "sudo mkdir -p {folder} && echo '{{\"file_format_version\": \"1.0.0\", \"ICD\": {{\"library_path\": \
                 \"{NVIDIA_EGL}\"}}}}' | sudo tee {folder}/10_nvidia.json"
            ),
        );
    }
    if lacks_nvidias {
        let advice = "Install the driver's OpenGL part, which includes the file";
        // The container's own rule reports this.
        let command = format!("sudo apt-get install {}", nvidia_gl_package(facts));
        return (!facts.in_container).then(|| found(none, advice, command)).flatten();
    }
    let package = if facts.has("libEGL.so.1") { "libegl-mesa0" } else { "libegl1 libegl-mesa0" };
    found(none, "Install a driver for EGL", format!("sudo apt-get install {package} libgl1-mesa-dri"))
}

fn wsl(facts: &Facts) -> Option<Advice> {
    if !facts.in_wsl || facts.draws_on_hardware() {
        return None;
    }
    found(
        "in WSL, OpenGL uses the GPU only through Mesa's driver d3d12, which is not in use; CUDA and this OpenGL do \
         not share memory, so frames pass through the host",
        "Update WSL in PowerShell (wsl --update) and Mesa here, then select that driver; or let the compute device \
         draw (--display compute)",
        "sudo apt-get install libgl1-mesa-dri && export GALLIUM_DRIVER=d3d12",
    )
}

fn ssh_x_forwarding(facts: &Facts) -> Option<Advice> {
    (facts.over_ssh && facts.screen == Screen::Forwarded).then_some(())?;
    found(
        "windows use ssh's X forwarding: every picture crosses the network, and OpenGL runs on the other machine",
        "Draw without a window here, and copy the picture or show it in a browser (pixelferry-net demo)",
        "unset DISPLAY",
    )
}

fn old_driver(facts: &Facts) -> Option<Advice> {
    let reason = facts.no_cuda.as_deref()?;
    let row = backend_rows::BACKENDS.iter().find(|driver| driver.api == Api::Cuda)?;
    if (row.missing)(reason) != "old-driver" {
        return None;
    }
    let version = facts.nvidia_driver.as_deref().map_or(String::new(), |version| format!(" (driver {version})"));
    let place = if facts.in_container || facts.in_wsl { " on the host, whose driver this system uses" } else { "" };
    found(
        format!("NVIDIA's driver is too old: {reason}{version}"),
        format!("Install version 525 or later{place}, and restart the machine"),
        "sudo apt-get update && sudo apt-get install nvidia-driver",
    )
}

fn display_on_another_gpu(facts: &Facts) -> Option<Advice> {
    if !facts.draws_on_hardware() {
        return None;
    }
    let mut apart = None;
    for compute in facts.gpus() {
        for display in facts.opengl.iter().filter(|device| !device.software) {
            match compute.same_device(display) {
                Support::Yes => return None,
                Support::No(_) => apart = apart.or(Some((compute, display))),
            }
        }
    }
    let (compute, display) = apart?;
    found(
        format!("{compute} computes, but {display} draws, so frames cross between two GPUs"),
        "Use the computing GPU for drawing too",
        "export __NV_PRIME_RENDER_OFFLOAD=1 __GLX_VENDOR_LIBRARY_NAME=nvidia \
         __EGL_VENDOR_LIBRARY_FILENAMES=/usr/share/glvnd/egl_vendor.d/10_nvidia.json",
    )
}

fn software_opengl(facts: &Facts) -> Option<Advice> {
    let device = facts.opengl.first().filter(|_| !facts.draws_on_hardware())?;
    let finding = |why: &str| format!("OpenGL draws on the CPU ({}): {why}", device.name);
    let names = ["LIBGL_ALWAYS_SOFTWARE", "GALLIUM_DRIVER", "MESA_LOADER_DRIVER_OVERRIDE"];
    for name in names.into_iter().filter(|_| facts.render_nodes != RenderNodes::Absent) {
        if let Some(value) = facts.variable(name) {
            let advice = "Without the variable, Mesa uses the GPU";
            return found(finding(&format!("{name} is '{value}'")), advice, format!("unset {name}"));
        }
    }
    if facts.render_nodes == RenderNodes::Closed {
        return found(
            finding("this user may not open the GPU's files /dev/dri/renderD*"),
            "Add this user to the groups that may open them, then log in again",
            "sudo usermod -aG render,video \"$USER\"",
        );
    }
    if facts.render_nodes == RenderNodes::Open {
        return found(
            finding("Mesa has no driver for this GPU"),
            "Install the newest Mesa, or the vendor's driver",
            "sudo apt-get update && sudo apt-get install libgl1-mesa-dri",
        );
    }
    let finding = finding("no GPU is visible here, neither /dev/dri/renderD* nor /dev/nvidiactl");
    if facts.in_container {
        let advice =
            "Without a GPU on the host, only the CPU is available. If the host has one, start the container with it";
        return found(
            finding,
            advice,
            "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics IMAGE",
        );
    }
    let advice =
        "If the machine has a GPU (the command lists it), install its driver; otherwise only the CPU is available";
    found(finding, advice, "lspci -nn | grep -Ei 'vga|3d|display'")
}

fn no_opengl(facts: &Facts) -> Option<Advice> {
    facts.no_opengl.clone().filter(|_| facts.opengl.is_empty()).map(|(reason, hint)| (reason, hint, None))
}
