//! Opening the displays that the crate's features switch on; where one is off, the call says so.

#[cfg(not(all(feature = "vulkan", feature = "wgpu")))]
use crate::availability::not_built_in;
use crate::headless::Headless;
use interop_core::{ComputeBackend, DeviceIdentity, Result};
use std::sync::Arc;

/// The backend beside which a display is opened, where there is one.
pub(crate) type Beside<'a> = Option<&'a Arc<dyn ComputeBackend>>;

#[cfg(feature = "wgpu")]
pub(crate) fn wgpu(compute: Option<&DeviceIdentity>) -> Result<Headless> {
    use pixelferry_wgpu::{WgpuDisplay, WgpuOptions};
    Ok(WgpuDisplay::headless(WgpuOptions::default().with_same_device_as(compute.cloned()))?.into())
}

#[cfg(not(feature = "wgpu"))]
pub(crate) fn wgpu(_: Option<&DeviceIdentity>) -> Result<Headless> {
    not_built_in("wgpu", "wgpu")
}

#[cfg(feature = "vulkan")]
pub(crate) fn vulkan(compute: Option<&DeviceIdentity>) -> Result<Headless> {
    use pixelferry_vulkan::{VulkanDisplay, VulkanOptions};
    Ok(VulkanDisplay::headless(&VulkanOptions::default().with_same_device_as(compute.cloned()))?.into())
}

#[cfg(not(feature = "vulkan"))]
pub(crate) fn vulkan(_: Option<&DeviceIdentity>) -> Result<Headless> {
    not_built_in("Vulkan", "vulkan")
}

#[cfg(feature = "gl")]
pub(crate) mod gl {
    use crate::headless::Headless;
    use interop_core::Display as _;
    use interop_core::{DeviceIdentity, Result};
    use pixelferry_gl::{GlDisplay, HeadlessOptions, headless_devices};
    use std::rc::Rc;
    use tracing::debug;

    pub(crate) fn best(compute: Option<&DeviceIdentity>) -> Result<Headless> {
        let same_device_as = compute.cloned();
        Ok(GlDisplay::headless(HeadlessOptions::default().with_same_device_as(same_device_as))?.into())
    }

    /// OpenGL on every GPU that EGL lists, or on the CPU where there is none.
    pub(crate) fn all() -> Result<Vec<Headless>> {
        let mut displays: Vec<Rc<GlDisplay>> = Vec::new();
        let first = GlDisplay::headless(HeadlessOptions::default())?;
        if !first.device().software {
            // Some devices are listed twice, by two drivers.
            let known = |all: &[Rc<GlDisplay>], device: &DeviceIdentity| all.iter().any(|d| d.device() == device);
            for about in headless_devices()?.into_iter().filter(|about| !about.software) {
                match GlDisplay::headless(HeadlessOptions::default().with_device(about.index)) {
                    Ok(display) if display.device().software || known(&displays, display.device()) => {}
                    Ok(display) => displays.push(display),
                    Err(reason) => debug!(index = about.index, %reason, "an EGL device does not draw"),
                }
            }
        }
        if displays.is_empty() {
            displays.push(first);
        }
        Ok(displays.into_iter().map(Headless::from).collect())
    }
}

#[cfg(not(feature = "gl"))]
pub(crate) mod gl {
    use crate::availability::not_built_in;
    use crate::headless::Headless;
    use interop_core::{DeviceIdentity, Result};

    pub(crate) fn best(_: Option<&DeviceIdentity>) -> Result<Headless> {
        not_built_in("OpenGL", "gl")
    }

    pub(crate) fn all() -> Result<Vec<Headless>> {
        not_built_in("OpenGL", "gl")
    }
}

#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) mod compute {
    use super::Beside;
    use crate::backends::{DRIVERS, draws};
    use crate::headless::Headless;
    use compute_display::ComputeDisplay;
    use interop_core::{Error, Result};
    use std::sync::Arc;
    use tracing::debug;

    /// On the backend that computes where that can draw, else on the best there is.
    pub(crate) fn best(beside: Beside<'_>) -> Result<Headless> {
        if let Some(backend) = beside.filter(|backend| draws(backend.device().api)) {
            return Ok(ComputeDisplay::on(Arc::clone(backend))?.into());
        }
        let mut last = None;
        for driver in DRIVERS.iter().filter(|driver| driver.draws) {
            match (driver.best)(None) {
                Ok(backend) => return Ok(ComputeDisplay::on(backend)?.into()),
                Err(reason) => last = Some(reason),
            }
        }
        Err(last.unwrap_or_else(|| Error::invalid("open_headless", "no backend draws")))
    }

    /// One on each device of CUDA and OpenCL.
    pub(crate) fn all() -> Result<Vec<Headless>> {
        let (mut displays, mut last) = (Vec::new(), None);
        for driver in DRIVERS.iter().filter(|driver| driver.draws) {
            match (driver.list)() {
                Ok(listed) => displays.extend(listed.iter().filter_map(|device| {
                    let display = (device.open)().and_then(ComputeDisplay::on);
                    let said =
                        display.inspect_err(|reason| debug!(device = %device.identity, %reason, "does not draw"));
                    said.ok().map(Headless::from)
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
    use super::Beside;
    use crate::availability::not_built_in;
    use crate::headless::Headless;
    use interop_core::Result;

    pub(crate) fn best(_: Beside<'_>) -> Result<Headless> {
        not_built_in("a display on the device that computes", "opencl")
    }

    pub(crate) fn all() -> Result<Vec<Headless>> {
        not_built_in("a display on the device that computes", "opencl")
    }
}
