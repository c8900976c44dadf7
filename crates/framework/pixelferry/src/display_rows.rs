//! The displays without a window: a table with one row each, and functions that open them. Where a crate's feature is
//! off, the call returns an error that says so.

#[cfg(not(all(feature = "vulkan", feature = "wgpu")))]
use crate::availability::not_built_in;
use crate::backend_rows::draws;
use crate::choice::{ApiChoice, ChoiceRow};
use crate::headless::HeadlessDisplay;
use cpu_fallback::MemoryDisplay;
use interop_core::{Api, ComputeBackend, DeviceIdentity, Result};
use std::sync::Arc;

/// The windowless display to open.
///
/// ```
/// use pixelferry::{Api, DisplayChoice, open_headless};
///
/// let memory = open_headless(DisplayChoice::Memory)?;
/// assert_eq!(memory.display().device().api, Api::Cpu);
/// # Ok::<(), pixelferry::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum DisplayChoice {
    /// The first that works of: OpenGL without a window, the compute device itself if it is hardware, plain memory. It
    /// never fails because of a missing row.
    #[default]
    Auto,
    /// OpenGL without a window; an error where it is unavailable.
    Gl,
    /// wgpu on Vulkan or OpenGL; an error where it is unavailable, and where this library was built without its feature
    /// `wgpu`.
    Wgpu,
    /// Memory of the CUDA or OpenCL device that computes, or of the best one, drawn with its own kernels; an error
    /// where there is none.
    Compute,
    /// Plain host memory, without any row.
    Memory,
    /// Vulkan without a window, on a device of the display's own; an error where it is unavailable, and where this
    /// library was built without its feature `vulkan`.
    Vulkan,
}

/// The backend for which a display is opened, if there is one.
pub(crate) type PartnerBackend<'a> = Option<&'a Arc<dyn ComputeBackend>>;

pub(crate) fn device(beside: PartnerBackend<'_>) -> Option<&DeviceIdentity> {
    beside.map(|backend| backend.device())
}

/// The properties in which the displays differ.
pub(crate) struct DisplayRow {
    pub(crate) named: ChoiceRow<DisplayChoice>,
    /// API of its devices; `None` if it is that of the compute device.
    pub(crate) api: Option<Api>,
    /// Kind of display in its status.
    pub(crate) kind: &'static str,
    /// Tells whether [`DisplayChoice::Auto`] may use it together with this device.
    pub(crate) suits_auto: fn(Option<&DeviceIdentity>) -> bool,
    /// Opens the best device, preferring the compute device if it can draw.
    pub(crate) best_for: fn(PartnerBackend<'_>) -> Result<HeadlessDisplay>,
    /// Opens a display on each of its devices.
    pub(crate) all: fn() -> Result<Vec<HeadlessDisplay>>,
    /// Name of the finding if it cannot be used; `None` if a backend's finding covers it.
    pub(crate) missing: Option<&'static str>,
}

/// Name of the kind for OpenGL without a window.
pub(crate) const GL: &str = "gl-headless";

/// One row for each display; those of [`DisplayChoice::Auto`] come first, in its order.
pub(crate) static DISPLAYS: &[DisplayRow] = &[
    DisplayRow {
        named: ChoiceRow {
            built: cfg!(feature = "headless"),
            ..ChoiceRow::new(DisplayChoice::Gl, "gl", &["opengl"], "OpenGL")
        },
        api: Some(Api::OpenGl),
        kind: GL,
        suits_auto: |_| true,
        best_for: |beside| gl::best(device(beside)),
        all: gl::all,
        missing: Some("no-opengl"),
    },
    DisplayRow {
        named: ChoiceRow {
            built: cfg!(any(feature = "cuda", feature = "opencl")),
            ..ChoiceRow::new(
                DisplayChoice::Compute,
                "compute",
                &[],
                "The CUDA or OpenCL device that computes: its kernels draw, with no graphics driver",
            )
        },
        api: None,
        kind: "compute",
        // On a CPU, the compute device draws into memory, and the display in plain memory does so without a compiler.
        suits_auto: |device| device.is_some_and(|device| draws(device.api) && !device.software),
        best_for: compute::best,
        all: compute::all,
        missing: None,
    },
    DisplayRow {
        named: ChoiceRow::new(DisplayChoice::Memory, "memory", &[], "Plain memory"),
        api: Some(Api::Cpu),
        kind: "memory",
        suits_auto: |_| true,
        best_for: |_| Ok(MemoryDisplay::new().into()),
        all: || Ok(vec![MemoryDisplay::new().into()]),
        missing: Some("no-display"),
    },
    DisplayRow {
        named: ChoiceRow {
            built: cfg!(feature = "wgpu"),
            ..ChoiceRow::new(DisplayChoice::Wgpu, "wgpu", &[], "wgpu (feature `wgpu`)")
        },
        api: Some(Api::Wgpu),
        kind: "wgpu",
        suits_auto: |_| false,
        best_for: |beside| wgpu(device(beside)),
        all: || Ok(vec![wgpu(None)?]),
        missing: Some("no-wgpu"),
    },
    DisplayRow {
        named: ChoiceRow {
            built: cfg!(feature = "vulkan"),
            ..ChoiceRow::new(DisplayChoice::Vulkan, "vulkan", &["vk"], "Vulkan (feature `vulkan`), without windows")
        },
        api: Some(Api::Vulkan),
        kind: "vulkan",
        suits_auto: |_| false,
        best_for: |beside| vulkan(device(beside)),
        all: || Ok(vec![vulkan(None)?]),
        missing: Some("no-vulkan"),
    },
];

static AUTO: ChoiceRow<DisplayChoice> =
    ChoiceRow::new(DisplayChoice::Auto, "auto", &[], "OpenGL, otherwise the GPU that computes, otherwise memory");

impl ApiChoice for DisplayChoice {
    const KIND: &'static str = "display";

    fn all() -> impl Iterator<Item = &'static ChoiceRow<Self>> {
        std::iter::once(&AUTO).chain(DISPLAYS.iter().map(|row| &row.named))
    }

    fn api(self) -> Option<Api> {
        DISPLAYS.iter().find(|row| row.named.choice == self).and_then(|row| row.api)
    }
}

#[cfg(feature = "wgpu")]
pub(crate) fn wgpu(compute: Option<&DeviceIdentity>) -> Result<HeadlessDisplay> {
    use pixelferry_wgpu::{WgpuDisplay, WgpuOptions};
    Ok(WgpuDisplay::headless(WgpuOptions::default().with_same_device_as(compute.cloned()))?.into())
}

#[cfg(not(feature = "wgpu"))]
pub(crate) fn wgpu(_: Option<&DeviceIdentity>) -> Result<HeadlessDisplay> {
    not_built_in("wgpu", "wgpu")
}

#[cfg(feature = "vulkan")]
pub(crate) fn vulkan(compute: Option<&DeviceIdentity>) -> Result<HeadlessDisplay> {
    use pixelferry_vulkan::{VulkanDisplay, VulkanOptions};
    Ok(VulkanDisplay::headless(&VulkanOptions::default().with_same_device_as(compute.cloned()))?.into())
}

#[cfg(not(feature = "vulkan"))]
pub(crate) fn vulkan(_: Option<&DeviceIdentity>) -> Result<HeadlessDisplay> {
    not_built_in("Vulkan", "vulkan")
}

#[cfg(feature = "headless")]
pub(crate) mod gl {
    use crate::headless::HeadlessDisplay;
    use interop_core::Display as _;
    use interop_core::{DeviceIdentity, Result};
    use pixelferry_gl::{GlDisplay, HeadlessOptions, headless_devices};
    use std::sync::Arc;
    use tracing::debug;

    pub(crate) fn best(compute: Option<&DeviceIdentity>) -> Result<HeadlessDisplay> {
        let same_device_as = compute.cloned();
        Ok(GlDisplay::headless(HeadlessOptions::default().with_same_device_as(same_device_as))?.into())
    }

    /// Opens OpenGL on every GPU that EGL lists, or on the CPU where there is no GPU.
    pub(crate) fn all() -> Result<Vec<HeadlessDisplay>> {
        let mut displays: Vec<Arc<GlDisplay>> = Vec::new();
        let first = GlDisplay::headless(HeadlessOptions::default())?;
        if !first.device().software {
            // Two drivers may list the same device.
            let known = |all: &[Arc<GlDisplay>], device: &DeviceIdentity| all.iter().any(|d| d.device() == device);
            for about in headless_devices()?.into_iter().filter(|about| !about.software) {
                match GlDisplay::headless(HeadlessOptions::default().with_device(about.index)) {
                    Ok(display) if display.device().software || known(&displays, display.device()) => {}
                    Ok(display) => displays.push(display),
                    Err(reason) => debug!(index = about.index, %reason, "an EGL device cannot draw"),
                }
            }
        }
        if displays.is_empty() {
            displays.push(first);
        }
        Ok(displays.into_iter().map(HeadlessDisplay::from).collect())
    }
}

#[cfg(not(feature = "headless"))]
pub(crate) mod gl {
    use crate::availability::not_built_in;
    use crate::headless::HeadlessDisplay;
    use interop_core::{DeviceIdentity, Result};

    pub(crate) fn best(_: Option<&DeviceIdentity>) -> Result<HeadlessDisplay> {
        not_built_in("OpenGL without a window", "headless")
    }

    pub(crate) fn all() -> Result<Vec<HeadlessDisplay>> {
        not_built_in("OpenGL without a window", "headless")
    }
}

#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) mod compute {
    use super::PartnerBackend;
    use crate::backend_rows::{BACKENDS, draws};
    use crate::headless::HeadlessDisplay;
    use compute_display::ComputeDisplay;
    use interop_core::{Error, Result};
    use std::sync::Arc;
    use tracing::debug;

    /// Opens a display on the compute backend if that can draw, otherwise on the best one.
    pub(crate) fn best(beside: PartnerBackend<'_>) -> Result<HeadlessDisplay> {
        if let Some(backend) = beside.filter(|backend| draws(backend.device().api)) {
            return Ok(ComputeDisplay::on(Arc::clone(backend))?.into());
        }
        let mut last = None;
        for row in BACKENDS.iter().filter(|row| row.draws) {
            match (row.best)(None) {
                Ok(backend) => return Ok(ComputeDisplay::on(backend)?.into()),
                Err(reason) => last = Some(reason),
            }
        }
        Err(last.unwrap_or_else(|| Error::invalid("open_headless", "no backend can draw")))
    }

    /// Opens a display on each device of CUDA and OpenCL.
    pub(crate) fn all() -> Result<Vec<HeadlessDisplay>> {
        let (mut displays, mut last) = (Vec::new(), None);
        for row in BACKENDS.iter().filter(|row| row.draws) {
            match (row.list)() {
                Ok(listed) => displays.extend(listed.iter().filter_map(|device| {
                    let display = (device.open)().and_then(ComputeDisplay::on);
                    let said = display
                        .inspect_err(|reason| debug!(device = %device.identity, %reason, "the device cannot draw"));
                    said.ok().map(HeadlessDisplay::from)
                })),
                Err(reason) => last = Some(reason),
            }
        }
        match last {
            Some(reason) if displays.is_empty() => Err(reason),
            _ => Ok(displays),
        }
    }
}

#[cfg(not(any(feature = "cuda", feature = "opencl")))]
pub(crate) mod compute {
    use super::PartnerBackend;
    use crate::availability::not_built_in;
    use crate::headless::HeadlessDisplay;
    use interop_core::Result;

    pub(crate) fn best(_: PartnerBackend<'_>) -> Result<HeadlessDisplay> {
        not_built_in("a display on the device that computes", "opencl")
    }

    pub(crate) fn all() -> Result<Vec<HeadlessDisplay>> {
        not_built_in("a display on the device that computes", "opencl")
    }
}
