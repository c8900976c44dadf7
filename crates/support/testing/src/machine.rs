//! What tests require of the machine, and when a test fails without it.

use std::fmt;

/// A feature of the machine that a test may need. [`MACHINE`] has a row for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Any OpenCL device.
    OpenCl,
    /// An OpenCL loader that reads the folder of drivers from `OCL_ICD_VENDORS`.
    OclIcd,
    /// The OpenCL driver PoCL.
    Pocl,
    /// The OpenCL driver of Mesa, rusticl.
    Rusticl,
    /// OpenGL without a window.
    Egl,
    /// Mesa's Vulkan driver for CPUs.
    Lavapipe,
    /// A virtual X server.
    Xvfb,
    /// A Wayland compositor that needs no screen.
    Weston,
    /// Python 3.11 with NumPy and pytest.
    Python,
    /// moderngl, for OpenGL contexts of Python programs.
    Moderngl,
    /// vispy, which can also draw with OpenGL without a window.
    Vispy,
    /// Qt for Python from the Qt Company, PySide6.
    Pyside6,
    /// Qt for Python from Riverbank, PyQt6.
    Pyqt6,
    /// The devices of an NVIDIA GPU in CUDA and OpenCL.
    Nvidia,
    /// OpenGL on the NVIDIA GPU.
    NvidiaGl,
    /// Vulkan on the NVIDIA GPU.
    NvidiaVulkan,
    /// Two NVIDIA GPUs.
    TwoGpus,
    /// NVIDIA's compiler for CUDA C++, which needs no GPU.
    Nvrtc,
    /// NVIDIA's JPEG encoder on the GPU.
    NvJpeg,
    /// PyTorch, for tensors on the GPU.
    Torch,
    /// CuPy, for arrays on the GPU.
    Cupy,
    /// JAX, for arrays on the GPU.
    Jax,
    /// The Python package `vulkan`.
    PyVulkan,
    /// Compilers for C and C++.
    Cc,
    /// CMake.
    Cmake,
    /// The headers of GLFW and OpenGL, for C.
    Glfw,
    /// The sources of GLFW's examples.
    GlfwDoc,
    /// Valgrind.
    Valgrind,
    /// The headers of Vulkan, for C.
    VulkanDev,
    /// anywidget, nbclient and ipykernel, for the notebook widget.
    Notebook,
    /// Chromium, for the network's page, the notebook widget and WebGL2.
    Chromium,
    /// GStreamer's tools with an encoder and a decoder for H.264, for the network's video.
    Gstreamer,
    /// ffmpeg, as an independent reader of films.
    Ffmpeg,
    /// The library of libjpeg-turbo with its own interface.
    TurboJpeg,
    /// Mount and network namespaces that this user may create.
    Namespaces,
    /// PipeWire's daemon and tools, and GStreamer with a PipeWire source and Python bindings.
    Pipewire,
}

/// A row of [`MACHINE`].
#[derive(Debug, Clone, Copy)]
pub struct NeedRow {
    /// The need that the row describes.
    pub need: Need,
    /// Its name in `PIXELFERRY_REQUIRE`.
    pub name: &'static str,
    /// The Debian packages that provide it, separated by spaces; `scripts/lib.sh` reads them here. Empty if no Debian
    /// package provides it, or if only tests of another workspace need it.
    pub packages: &'static str,
    /// The variable that must be 1 before tests look for it at all. The machine must then have it.
    pub variable: Option<&'static str>,
    /// The environment of a process that uses this driver and no other one of its kind.
    pub environment: &'static [(&'static str, &'static str)],
}

const NONE: NeedRow = NeedRow { need: Need::OpenCl, name: "", packages: "", variable: None, environment: &[] };

/// Everything that a test may need, in the order of [`Need`].
pub const MACHINE: &[NeedRow] = &[
    NeedRow { need: Need::OpenCl, name: "opencl", packages: "ocl-icd-libopencl1 pocl-opencl-icd", ..NONE },
    NeedRow { need: Need::OclIcd, name: "ocl-icd", packages: "ocl-icd-libopencl1", ..NONE },
    NeedRow {
        need: Need::Pocl,
        name: "pocl",
        packages: "ocl-icd-libopencl1 pocl-opencl-icd",
        environment: &[("OCL_ICD_VENDORS", "pocl.icd")],
        ..NONE
    },
    NeedRow {
        need: Need::Rusticl,
        name: "rusticl",
        packages: "ocl-icd-libopencl1 mesa-opencl-icd",
        environment: &[("OCL_ICD_VENDORS", "rusticl.icd"), ("RUSTICL_ENABLE", "llvmpipe")],
        ..NONE
    },
    NeedRow { need: Need::Egl, name: "egl", packages: "libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri", ..NONE },
    NeedRow { need: Need::Lavapipe, name: "lavapipe", packages: "libvulkan1 mesa-vulkan-drivers", ..NONE },
    NeedRow {
        need: Need::Xvfb,
        name: "xvfb",
        packages: "xvfb xauth libx11-6 libx11-xcb1 libxcursor1 libxi6 libxkbcommon-x11-0 libglx-mesa0 libxtst6",
        ..NONE
    },
    NeedRow {
        need: Need::Weston,
        name: "weston",
        packages: "weston libwayland-client0 libwayland-egl1 libgles2",
        ..NONE
    },
    NeedRow { need: Need::Python, name: "python", packages: "python3 python3-numpy python3-pytest", ..NONE },
    NeedRow { need: Need::Moderngl, name: "moderngl", packages: "python3-moderngl", ..NONE },
    NeedRow { need: Need::Vispy, name: "vispy", packages: "python3-vispy", ..NONE },
    NeedRow { need: Need::Pyside6, name: "pyside6", ..NONE },
    NeedRow { need: Need::Pyqt6, name: "pyqt6", ..NONE },
    NeedRow { need: Need::Nvidia, name: "nvidia", variable: Some("PIXELFERRY_GPU"), ..NONE },
    NeedRow { need: Need::NvidiaGl, name: "nvidia-gl", ..NONE },
    NeedRow { need: Need::NvidiaVulkan, name: "nvidia-vulkan", ..NONE },
    NeedRow { need: Need::TwoGpus, name: "two-gpus", ..NONE },
    NeedRow { need: Need::Nvrtc, name: "nvrtc", ..NONE },
    NeedRow { need: Need::NvJpeg, name: "nvjpeg", ..NONE },
    NeedRow { need: Need::Torch, name: "torch", ..NONE },
    NeedRow { need: Need::Cupy, name: "cupy", ..NONE },
    NeedRow { need: Need::Jax, name: "jax", ..NONE },
    NeedRow { need: Need::PyVulkan, name: "vulkan", ..NONE },
    NeedRow { need: Need::Cc, name: "cc", packages: "gcc g++ libc6-dev pkg-config", ..NONE },
    NeedRow { need: Need::Cmake, name: "cmake", packages: "cmake make", ..NONE },
    NeedRow { need: Need::Glfw, name: "glfw", packages: "libglfw3-dev libgl-dev", ..NONE },
    NeedRow { need: Need::GlfwDoc, name: "glfw-doc", packages: "libglfw3-doc", ..NONE },
    NeedRow { need: Need::Valgrind, name: "valgrind", packages: "valgrind libc6-dbg", ..NONE },
    NeedRow { need: Need::VulkanDev, name: "vulkan-dev", packages: "libvulkan-dev", ..NONE },
    NeedRow { need: Need::Notebook, name: "notebook", ..NONE },
    NeedRow { need: Need::Chromium, name: "chromium", ..NONE },
    NeedRow { need: Need::Gstreamer, name: "gstreamer", ..NONE },
    NeedRow { need: Need::Ffmpeg, name: "ffmpeg", ..NONE },
    NeedRow { need: Need::TurboJpeg, name: "turbojpeg", packages: "libturbojpeg0", ..NONE },
    NeedRow { need: Need::Namespaces, name: "namespaces", ..NONE },
    NeedRow { need: Need::Pipewire, name: "pipewire", ..NONE },
];

impl Need {
    /// Returns the row of this need.
    pub fn row(self) -> &'static NeedRow {
        &MACHINE[self as usize]
    }

    /// Returns its name in `PIXELFERRY_REQUIRE`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns true if this machine must have it: `PIXELFERRY_REQUIRE` lists it, or its own variable is 1, or a package
    /// provides it and `PIXELFERRY_REQUIRE=all` or `CI=true` is set.
    ///
    /// # Panics
    /// `PIXELFERRY_REQUIRE` contains a name without a row.
    #[track_caller]
    pub fn is_required(self) -> bool {
        match required(self.row(), |name| std::env::var(name).ok()) {
            Ok(required) => required,
            Err(problem) => panic!("{problem}"),
        }
    }
}

/// Applies the rule to the environment that `variable` reads.
fn required(row: &NeedRow, variable: impl Fn(&str) -> Option<String>) -> Result<bool, String> {
    let list = variable("PIXELFERRY_REQUIRE").unwrap_or_default();
    let names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if let Some(unknown) = names.iter().find(|name| **name != "all" && !MACHINE.iter().any(|row| row.name == **name)) {
        let all: Vec<&str> = MACHINE.iter().map(|row| row.name).collect();
        return Err(format!("PIXELFERRY_REQUIRE names '{unknown}'; use all, or some of {}", all.join(", ")));
    }
    let all = names.contains(&"all") || variable("CI").is_some_and(|value| value == "true");
    Ok(names.contains(&row.name)
        || (all && !row.packages.is_empty())
        || row.variable.is_some_and(|v| is_1(&variable, v)))
}

fn is_1(variable: impl Fn(&str) -> Option<String>, name: &str) -> bool {
    variable(name).is_some_and(|value| value == "1")
}

/// Returns all names, with `!` after those that this machine must have: for tests in other languages.
///
/// # Panics
/// [`Need::is_required`] panics.
#[track_caller]
pub fn needs_in_words() -> String {
    let mut words = Vec::new();
    for row in MACHINE {
        words.push(format!("{}{}", row.name, if row.need.is_required() { "!" } else { "" }));
    }
    words.join(" ")
}

/// Returns the value, or `None` after printing SKIPPED with the reason.
///
/// # Panics
/// The value is missing although the machine must have it: see [`Need::is_required`].
#[track_caller]
pub fn need<T>(need: Need, found: Result<T, impl fmt::Display>) -> Option<T> {
    let (required, name) = (need.is_required(), need.name());
    match found {
        Ok(value) => Some(value),
        Err(reason) if required => panic!("{name} is required here, but: {reason}"),
        Err(reason) => {
            println!("SKIPPED: no {name}: {reason}");
            None
        }
    }
}

/// Returns true if the variable of this row is 1, such as `PIXELFERRY_GPU=1`; prints SKIPPED otherwise.
///
/// # Panics
/// [`Need::is_required`] panics.
#[track_caller]
pub fn asked(need: Need) -> bool {
    let row = need.row();
    let asked = need.is_required();
    if !asked {
        println!("SKIPPED: {} is tested where {}=1 is set", row.name, row.variable.unwrap_or("PIXELFERRY_REQUIRE"));
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(need: Need, environment: &[(&str, &str)]) -> Result<bool, String> {
        let value = |name: &str| environment.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        required(need.row(), value)
    }

    #[test]
    fn each_row_is_where_its_need_says() {
        for (at, row) in MACHINE.iter().enumerate() {
            assert_eq!(row.need as usize, at, "{}", row.name);
            assert_eq!(MACHINE.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
        }
    }

    #[test]
    fn a_machine_must_have_what_is_listed() {
        let list = |names| [("PIXELFERRY_REQUIRE", names)];
        assert_eq!(rule(Need::Pocl, &[]), Ok(false));
        assert_eq!(rule(Need::Pocl, &list("egl, pocl")), Ok(true));
        assert_eq!(rule(Need::Weston, &list("egl, pocl")), Ok(false));
        assert_eq!(rule(Need::Nvrtc, &list("nvrtc")), Ok(true));
        assert_eq!(rule(Need::Pocl, &list("")), Ok(false));
    }

    #[test]
    fn all_and_ci_are_what_packages_give() {
        for environment in [("PIXELFERRY_REQUIRE", "all"), ("CI", "true")] {
            for row in MACHINE {
                assert_eq!(rule(row.need, &[environment]), Ok(!row.packages.is_empty()), "{}", row.name);
            }
        }
        assert_eq!(rule(Need::Pocl, &[("CI", "false")]), Ok(false));
    }

    #[test]
    fn a_gpu_is_asked_for_by_its_variable() {
        assert_eq!(rule(Need::Nvidia, &[("PIXELFERRY_GPU", "1")]), Ok(true));
        assert_eq!(rule(Need::Nvidia, &[("PIXELFERRY_GPU", "0")]), Ok(false));
        assert_eq!(rule(Need::Nvidia, &[("CI", "true")]), Ok(false));
        assert_eq!(rule(Need::TwoGpus, &[("PIXELFERRY_GPU", "1")]), Ok(false));
    }

    #[test]
    fn names_without_a_row_are_refused_whatever_is_asked() {
        for names in ["glx", "pocl,gl", "Pocl", "pocl egl"] {
            let problem = rule(Need::Xvfb, &[("PIXELFERRY_REQUIRE", names)]).unwrap_err();
            assert!(problem.contains("use all, or some of opencl, ocl-icd, pocl"), "{problem}");
        }
    }
}
