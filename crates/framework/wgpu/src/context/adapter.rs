//! Choice of the adapter, and opening of a device on it.

use crate::context::device::WgpuDevice;
use crate::context::device_extension::DeviceExtension;
use crate::context::error::Loss;
use crate::context::error::now;
use crate::context::identity::identify;
use interop_core::describe::PlainMutex;
use interop_core::describe::panics::catch;
use interop_core::describe::process::enter;
use interop_core::{DeviceIdentity, Error, Result};
use std::sync::Arc;

/// Options of a device that this crate opens itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WgpuOptions {
    /// Only adapters whose name contains this are considered; case does not matter.
    pub name: Option<String>,
    /// The adapter that is this device (matched by UUID, otherwise LUID, otherwise PCI address) is preferred over all
    /// others. Give the compute device, so that frames are drawn where they are computed.
    pub same_device_as: Option<DeviceIdentity>,
    /// The APIs that may be used: Vulkan, Metal, Direct3D 12 and OpenGL, or those of them that `WGPU_BACKEND` names.
    /// OpenGL is considered only if none of the others is found: its driver is shared with all other OpenGL code in the
    /// process, and wgpu leaves no context current on the calling thread.
    pub backends: wgpu::Backends,
}

impl Default for WgpuOptions {
    fn default() -> Self {
        let known = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12 | wgpu::Backends::GL;
        Self {
            name: None,
            same_device_as: None,
            backends: wgpu::Backends::from_env().map_or(known, |named| named & known),
        }
    }
}

interop_core::setters!(WgpuOptions {
    /// Considers only adapters whose name contains this.
    with_name(name: impl Into<String> => Some(name.into()));
    /// Prefers this device over all others.
    with_same_device_as(same_device_as: impl Into<Option<DeviceIdentity>>);
    /// Considers only adapters of these APIs.
    with_backends(backends: wgpu::Backends);
});

/// Returns every adapter of these APIs, in the driver's order.
pub fn wgpu_adapters(backends: wgpu::Backends) -> Vec<wgpu::Adapter> {
    let Ok(_entered) = enter("wgpu") else { return Vec::new() };
    let list = || now(instance(backends).enumerate_adapters(backends)).unwrap_or_default();
    // wgpu panics if a GLX context is current on this thread.
    catch(list).unwrap_or_else(|_| {
        tracing::warn!(?backends, "wgpu could not list its adapters; the reason is on the standard error output");
        Vec::new()
    })
}

/// Returns the instance for a set of APIs, which is kept for the lifetime of the process: with its last Vulkan
/// instance, NVIDIA's driver terminates all EGL displays of the process (seen with 580.159), and wgpu terminates the
/// EGL display that it received.
///
/// For OpenGL, each call creates another instance: an instance has one context, but its adapters and devices make it
/// current and change its bindings as if each had its own (wgpu-hal 30). Two of them on two threads would crash the
/// program.
fn instance(backends: wgpu::Backends) -> wgpu::Instance {
    static KEPT: PlainMutex<Vec<(wgpu::Backends, wgpu::Instance)>> = PlainMutex::new(Vec::new());
    let make = || {
        wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends,
            flags: wgpu::InstanceFlags::empty().with_env(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        })
    };
    let mut kept = KEPT.lock();
    if let Some((_, instance)) = kept.iter().find(|(of, _)| *of == backends) {
        return if backends.contains(wgpu::Backends::GL) { make() } else { instance.clone() };
    }
    kept.push((backends, make()));
    drop(kept);
    instance(backends)
}

/// Returns the rank of an adapter; smaller is better.
fn order(options: &WgpuOptions, identity: &DeviceIdentity, kind: wgpu::DeviceType) -> (bool, u8) {
    let same = options.same_device_as.as_ref().is_some_and(|wanted| {
        // If one of the identities is unknown, a possible match is not sufficient to prefer the device.
        let known = (wanted.uuid.is_some() && identity.uuid.is_some())
            || (wanted.luid.is_some() && identity.luid.is_some())
            || (wanted.pci.is_some() && identity.pci.is_some());
        known && wanted.same_device(identity).is_yes()
    });
    let rank = match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    };
    (!same, rank)
}

/// Returns the best adapter that `options` allow.
pub(crate) fn choose(options: &WgpuOptions) -> Result<(wgpu::Adapter, DeviceIdentity)> {
    let _entered = enter("wgpu")?;
    let mut seen = Vec::new();
    for backends in [options.backends - wgpu::Backends::GL, options.backends & wgpu::Backends::GL] {
        if backends.is_empty() {
            continue;
        }
        let mut found: Vec<_> = wgpu_adapters(backends).into_iter().map(|a| (identify(&a), a)).collect();
        seen.extend(found.iter().map(|(identity, _)| identity.name.clone()));
        if let Some(part) = &options.name {
            let part = part.to_lowercase();
            found.retain(|(identity, _)| identity.name.to_lowercase().contains(&part));
        }
        // The sort is stable: among equals, the driver's order remains.
        found.sort_by_key(|(identity, adapter)| order(options, identity, adapter.get_info().device_type));
        if let Some((identity, adapter)) = found.into_iter().next() {
            return Ok((adapter, identity));
        }
    }
    let reason = match (&options.name, seen.is_empty()) {
        (_, true) => match why_no_vulkan() {
            Some(said) => format!("no adapter is listed; the Vulkan loader could not be loaded: {said}"),
            None => "no adapter is listed".to_owned(),
        },
        (Some(part), false) => format!("no adapter's name contains '{part}'; listed are {}", seen.join(", ")),
        (None, false) => "none of the listed adapters is allowed".to_owned(),
    };
    let hint =
        "Install the Vulkan loader and driver of the GPU (libvulkan1, mesa-vulkan-drivers), or allow another one.";
    Err(Error::unavailable("a wgpu adapter", reason, hint))
}

/// Returns the message of the system's loader if libvulkan does not open, which wgpu does not report.
fn why_no_vulkan() -> Option<String> {
    let names: &[&str] = match () {
        () if cfg!(windows) => &["vulkan-1.dll"],
        () if cfg!(target_os = "linux") => &["libvulkan.so.1"],
        () => return None,
    };
    // SAFETY: the library that wgpu opens for its Vulkan backend.
    unsafe { interop_core::devices::library::open(names) }.err()
}

/// Opens an engine's device as [`wgpu::Adapter::request_device`] does, on Vulkan (Linux, Windows) also with all
/// extensions for sharing memory and semaphores with compute devices, for [`crate::WgpuDisplay::from_engine`]. On a
/// device that was opened without them, frames go through the host.
///
/// # Errors
/// [`Error::Unavailable`] where the driver refuses.
pub fn open_device(
    adapter: &wgpu::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
) -> Result<(wgpu::Device, wgpu::Queue)> {
    open_as(adapter, &identify(adapter), descriptor)
}

/// Returns the extensions that an engine should enable if it creates the adapter's device itself
/// (`wgpu::hal::vulkan::Adapter::device_from_raw`), so that every path works. The list is empty if the adapter's API is
/// not Vulkan (Linux, Windows). wgpu itself enables timeline semaphores.
///
/// Without one of them, the paths that need it are unavailable, and the report gives the reason.
///
/// # Errors
/// [`Error::Unsupported`] where the driver is older than Vulkan 1.1; [`Error::Driver`] for errors of the driver.
pub fn device_extensions(adapter: &wgpu::Adapter) -> Result<Vec<DeviceExtension>> {
    crate::context::vulkan::extensions(adapter, &identify(adapter)).unwrap_or_else(|| Ok(Vec::new()))
}

fn open_as(
    adapter: &wgpu::Adapter,
    identity: &DeviceIdentity,
    descriptor: &wgpu::DeviceDescriptor<'_>,
) -> Result<(wgpu::Device, wgpu::Queue)> {
    crate::context::vulkan::open(adapter, identity, descriptor)
        .unwrap_or_else(|| request(adapter, identity, descriptor))
}

/// Opens a device with all features of the adapter. It reports its loss to `loss` and never ends the program.
pub(crate) fn open(adapter: &wgpu::Adapter, identity: &DeviceIdentity) -> Result<(wgpu::Device, wgpu::Queue, Loss)> {
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("pixelferry"),
        required_features: adapter.features() & crate::context::format::DRAW_FEATURES,
        required_limits: adapter.limits(),
        ..wgpu::DeviceDescriptor::default()
    };
    let (device, queue) = open_as(adapter, identity, &descriptor)?;
    let loss = Loss::default();
    let told = Arc::clone(&loss);
    device.set_device_lost_callback(move |reason, message| {
        // `Destroyed` is how every device ends; if it arrives for a live device, the engine destroyed it.
        let _ = told.set(format!("{reason:?} {message}"));
    });
    let name = identity.to_string();
    device.on_uncaptured_error(Arc::new(move |error| tracing::error!(device = name, %error, "invalid draw")));
    Ok((device, queue, loss))
}

impl WgpuDevice {
    /// Opens a device of its own, as [`crate::WgpuDisplay::headless`] does.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where no adapter is allowed or the driver refuses.
    pub fn open(options: &WgpuOptions) -> Result<Self> {
        let (adapter, identity) = choose(options)?;
        let (device, queue, loss) = open(&adapter, &identity)?;
        Ok(Self::new(&adapter, device, queue, identity, loss))
    }
}

fn request(
    adapter: &wgpu::Adapter,
    identity: &DeviceIdentity,
    descriptor: &wgpu::DeviceDescriptor<'_>,
) -> Result<(wgpu::Device, wgpu::Queue)> {
    let _entered = enter("wgpu")?;
    let answer = now(adapter.request_device(descriptor)).map(|opened| opened.map_err(|e| e.to_string()));
    answer
        .unwrap_or_else(|| Err("wgpu did not answer".into()))
        .map_err(|reason| Error::unavailable(identity, reason, "Update the GPU's driver."))
}
