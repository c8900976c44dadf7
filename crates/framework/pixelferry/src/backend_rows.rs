//! The compute backends: a table with one row each, and functions that open them. Where a crate's feature is off, the
//! call returns an error that says so.

use crate::choice::{ApiChoice, ChoiceRow};
use crate::listed_device::{ListedDevice, listed};
use cpu_fallback::CpuBackend;
use interop_core::{Api, ComputeBackend, DeviceIdentity, KernelSource, Language, Result};
use std::sync::Arc;

/// The compute backend to open.
///
/// ```
/// use pixelferry::{Api, BackendChoice, open_backend, command::ApiChoice as _};
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
    /// The first that works of: CUDA, OpenCL on a GPU, OpenCL on a CPU. Then, where every kernel is given in WGSL,
    /// OpenGL or wgpu on a GPU, the display's own API first. Then the CPU backend and, where a kernel has no Rust
    /// closure for it, OpenGL or wgpu on a CPU. Without kernels this never fails because of a missing row.
    #[default]
    Auto,
    /// The best CUDA device; an error where there is none.
    Cuda,
    /// The best OpenCL device; an error where there is none.
    OpenCl,
    /// The best OpenGL device with compute shaders (OpenGL 4.3); an error where there is none. Together with an OpenGL
    /// display it computes in the display's context ([`crate::LinkBuilder`]).
    Gl,
    /// The best wgpu device with compute shaders; an error where there is none, and where this library was built
    /// without its feature `wgpu`.
    Wgpu,
    /// The best Vulkan device, in the queue of a Vulkan display; an error where there is none, and where this library
    /// was built without its feature `vulkan-compute`. It computes on the thread that opened it.
    Vulkan,
    /// The CPU backend: threads of this process.
    Cpu,
}

/// The properties in which the backends differ.
pub(crate) struct BackendRow {
    pub(crate) named: ChoiceRow<BackendChoice>,
    pub(crate) api: Api,
    /// Languages of its kernels. Its compilers may be missing, and some devices accept further languages.
    pub(crate) takes: &'static [Language],
    /// Tells whether [`BackendChoice::Auto`] may use a device, possibly a software device, for these kernels. A device
    /// that it may not use is still preferred to none.
    pub(crate) suits_auto: fn(&DeviceIdentity, &[KernelSource]) -> bool,
    /// True where it computes in the queue of a display of its own API.
    pub(crate) in_queue: bool,
    /// True where a display can draw with its kernels (the crate `compute-display`).
    pub(crate) draws: bool,
    /// Opens the best device; with a display, the display's own device is preferred.
    pub(crate) best: fn(Option<&DeviceIdentity>) -> Result<Arc<dyn ComputeBackend>>,
    pub(crate) list: fn() -> Result<Vec<ListedDevice>>,
    /// Returns the name of the finding if the API cannot be used for this reason.
    pub(crate) missing: fn(&str) -> &'static str,
}

impl BackendRow {
    pub(crate) fn is_meant(&self, choice: BackendChoice) -> bool {
        choice == BackendChoice::Auto || choice == self.named.choice
    }

    /// Returns a kernel of which the backend supports no text.
    pub(crate) fn unsuited<'k>(&self, kernels: &'k [KernelSource]) -> Option<&'k KernelSource> {
        kernels.iter().find(|kernel| !self.takes.iter().any(|of| kernel.source(*of).is_some()))
    }
}

/// One row for each API, in the order of [`BackendChoice::Auto`].
pub(crate) static BACKENDS: &[BackendRow] = &[
    BackendRow {
        named: ChoiceRow { built: cfg!(feature = "cuda"), ..ChoiceRow::new(BackendChoice::Cuda, "cuda", &[], "CUDA") },
        api: Api::Cuda,
        takes: &[Language::CudaCpp, Language::Ptx],
        suits_auto: |_, _| true,
        in_queue: false,
        draws: true,
        best: cuda::best,
        list: cuda::list,
        missing: |reason| if reason.contains("driver offers CUDA") { "old-driver" } else { "no-cuda" },
    },
    BackendRow {
        named: ChoiceRow {
            built: cfg!(feature = "opencl"),
            ..ChoiceRow::new(BackendChoice::OpenCl, "opencl", &[], "OpenCL")
        },
        api: Api::OpenCl,
        takes: &[Language::OpenClC],
        suits_auto: |_, _| true,
        in_queue: false,
        draws: true,
        best: opencl::best,
        list: opencl::list,
        missing: |_| "no-opencl",
    },
    BackendRow {
        named: ChoiceRow {
            built: cfg!(feature = "gl-compute"),
            ..ChoiceRow::new(BackendChoice::Gl, "gl", &["opengl"], "OpenGL's compute shaders")
        },
        api: Api::OpenGl,
        takes: &[Language::Wgsl, Language::Glsl],
        suits_auto: is_hardware_for_wgsl,
        in_queue: true,
        draws: false,
        best: gl_compute::best,
        list: gl_compute::list,
        missing: |_| "no-opengl-compute",
    },
    BackendRow {
        named: ChoiceRow {
            built: cfg!(feature = "wgpu"),
            ..ChoiceRow::new(BackendChoice::Wgpu, "wgpu", &[], "wgpu's compute shaders (feature `wgpu`)")
        },
        api: Api::Wgpu,
        takes: &[Language::Wgsl],
        suits_auto: is_hardware_for_wgsl,
        in_queue: true,
        draws: false,
        best: wgpu_compute::best,
        list: wgpu_compute::list,
        missing: |_| "no-wgpu-compute",
    },
    BackendRow {
        named: ChoiceRow {
            built: cfg!(feature = "vulkan-compute"),
            ..ChoiceRow::new(
                BackendChoice::Vulkan,
                "vulkan",
                &[],
                "Vulkan's compute shaders (feature `vulkan-compute`)",
            )
        },
        api: Api::Vulkan,
        takes: &[Language::Wgsl],
        suits_auto: is_hardware_for_wgsl,
        in_queue: true,
        draws: false,
        best: vulkan_compute::best,
        list: vulkan_compute::list,
        missing: |_| "no-vulkan-compute",
    },
    BackendRow {
        named: ChoiceRow::new(BackendChoice::Cpu, "cpu", &["threads"], "Threads"),
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

static AUTO: ChoiceRow<BackendChoice> = ChoiceRow::new(BackendChoice::Auto, "auto", &[], "The best available");

impl ApiChoice for BackendChoice {
    const KIND: &'static str = "backend";

    fn all() -> impl Iterator<Item = &'static ChoiceRow<Self>> {
        std::iter::once(&AUTO).chain(BACKENDS.iter().map(|row| &row.named))
    }

    fn api(self) -> Option<Api> {
        BACKENDS.iter().find(|row| row.named.choice == self).map(|row| row.api)
    }
}

/// Programs without WGSL are unaffected, and on a CPU the CPU backend is faster than shaders.
fn is_hardware_for_wgsl(device: &DeviceIdentity, kernels: &[KernelSource]) -> bool {
    !device.software && !kernels.is_empty()
}

/// True where a display can draw with kernels on this API's devices.
pub(crate) fn draws(api: Api) -> bool {
    BACKENDS.iter().any(|row| row.draws && row.api == api)
}

#[cfg(feature = "cuda")]
pub(crate) mod cuda {
    use crate::listed_device::{BackendResult, ListedDevice, listed};
    use cuda_backend::{CudaBackend, devices};
    use interop_core::{DeviceIdentity, Result};
    use std::sync::Arc;

    pub(crate) fn best(display: Option<&DeviceIdentity>) -> BackendResult {
        Ok(Arc::new(display.map_or_else(CudaBackend::open_best, CudaBackend::open_best_for)?))
    }

    pub(crate) fn list() -> Result<Vec<ListedDevice>> {
        listed(devices()?, |d| d.identity().clone(), |d| Ok(Arc::new(CudaBackend::open(d)?)))
    }
}

#[cfg(feature = "opencl")]
pub(crate) mod opencl {
    use crate::listed_device::{BackendResult, ListedDevice, listed};
    use interop_core::{DeviceIdentity, Result};
    use opencl_backend::{OpenClBackend, devices};
    use std::sync::Arc;

    pub(crate) fn best(display: Option<&DeviceIdentity>) -> BackendResult {
        Ok(Arc::new(display.map_or_else(OpenClBackend::open_best, OpenClBackend::open_best_for)?))
    }

    pub(crate) fn list() -> Result<Vec<ListedDevice>> {
        listed(devices()?, |d| d.identity().clone(), |d| Ok(Arc::new(OpenClBackend::open(d)?)))
    }
}

#[cfg(feature = "gl-compute")]
pub(crate) mod gl_compute {
    use crate::listed_device::{BackendResult, ListedDevice, listed};
    use interop_core::{DeviceIdentity, Result};
    use pixelferry_gl::{GlBackend, HeadlessOptions};
    use std::sync::Arc;

    pub(crate) fn best(display: Option<&DeviceIdentity>) -> BackendResult {
        let options = HeadlessOptions::default().with_same_device_as(display.cloned());
        Ok(Arc::new(GlBackend::open(&options)?))
    }

    pub(crate) fn list() -> Result<Vec<ListedDevice>> {
        listed(vec![best(None)?], |d| d.device().clone(), |d| Ok(Arc::clone(d)))
    }
}

#[cfg(feature = "wgpu")]
pub(crate) mod wgpu_compute {
    use crate::listed_device::{BackendResult, ListedDevice, listed};
    use interop_core::{DeviceIdentity, Result};
    use pixelferry_wgpu::{WgpuBackend, WgpuOptions};
    use std::sync::Arc;

    pub(crate) fn best(display: Option<&DeviceIdentity>) -> BackendResult {
        let options = WgpuOptions::default().with_same_device_as(display.cloned());
        Ok(Arc::new(WgpuBackend::open(&options)?))
    }

    pub(crate) fn list() -> Result<Vec<ListedDevice>> {
        listed(vec![best(None)?], |d| d.device().clone(), |d| Ok(Arc::clone(d)))
    }
}

#[cfg(feature = "vulkan-compute")]
pub(crate) mod vulkan_compute {
    use crate::listed_device::{BackendResult, ListedDevice, listed};
    use interop_core::{DeviceIdentity, Result};
    use pixelferry_vulkan::{VulkanBackend, VulkanOptions};
    use std::sync::Arc;

    pub(crate) fn best(display: Option<&DeviceIdentity>) -> BackendResult {
        let options = VulkanOptions::default().with_same_device_as(display.cloned());
        Ok(Arc::new(VulkanBackend::open(&options)?))
    }

    pub(crate) fn list() -> Result<Vec<ListedDevice>> {
        listed(vec![best(None)?], |d| d.device().clone(), |d| Ok(Arc::clone(d)))
    }
}

/// Stands in for a backend's module where its feature is off.
macro_rules! absent {
    ($feature:literal, $module:ident, $what:literal) => {
        #[cfg(not(feature = $feature))]
        pub(crate) mod $module {
            use crate::availability::not_built_in;
            use crate::listed_device::{BackendResult, ListedDevice};
            use interop_core::{DeviceIdentity, Result};

            pub(crate) fn best(_: Option<&DeviceIdentity>) -> BackendResult {
                not_built_in($what, $feature)
            }

            pub(crate) fn list() -> Result<Vec<ListedDevice>> {
                not_built_in($what, $feature)
            }
        }
    };
}

absent!("cuda", cuda, "CUDA");
absent!("opencl", opencl, "OpenCL");
absent!("gl-compute", gl_compute, "OpenGL's compute shaders");
absent!("wgpu", wgpu_compute, "wgpu");
absent!("vulkan-compute", vulkan_compute, "Vulkan's compute shaders");
