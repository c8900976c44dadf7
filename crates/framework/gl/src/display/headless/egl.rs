//! EGL on a device (`EGL_EXT_platform_device`), or on EGL's default display.

use super::headless_options::{HeadlessDevice, HeadlessOptions, on_context};
use super::{EsContext, egl_cuda};
use crate::api::identity::{Origin, pci_of_drm_node};
use crate::api::version::ES_COMPUTE;
use crate::context::create::core_context;
use crate::context::own::{OwnContext, OwnSurface, driver_error};
use crate::display::contract::GlDisplay;
use glutin::api::egl::device::Device;
use glutin::api::egl::display::Display as EglDisplay;
use glutin::config::{Api, Config, ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, NotCurrentContext, PossiblyCurrentContext, Version};
use glutin::display::Display;
use glutin::prelude::{GlDisplay as _, *};
use glutin::surface::{PbufferSurface, SurfaceAttributesBuilder};
use interop_core::devices::library;
use interop_core::{Api as ApiKind, DeviceIdentity, Display as _, Error, Result};
use raw_window_handle::{AndroidDisplayHandle, RawDisplayHandle};
use std::num::NonZeroU32;
use std::sync::Arc;

const HINT: &str = "Install libEGL and a driver (Debian and Ubuntu: libegl1 libgl1-mesa-dri; NVIDIA: libnvidia-gl).";

fn unavailable(reason: impl std::fmt::Display) -> Error {
    // glutin reports neither that a library is missing nor why.
    // SAFETY: the library that glutin opens.
    let reason = match unsafe { library::open(["libEGL.so.1", "libEGL.so"]) } {
        Ok(_) => reason.to_string(),
        Err(said) => format!("the library libEGL could not be loaded: {said}"),
    };
    Error::Unavailable { what: "OpenGL without a window (EGL)".into(), reason, hint: HINT.into() }
}

fn query() -> Result<Vec<Device>, String> {
    Device::query_devices().map(Iterator::collect).map_err(|e| format!("EGL lists no devices: {e}"))
}

fn describe(index: usize, device: &Device) -> HeadlessDevice {
    HeadlessDevice {
        index,
        name: device.name().map(str::to_owned),
        drm_node: device.drm_device_node_path().map(Into::into),
        cuda_ordinal: egl_cuda::ordinal(device),
        software: device.extensions().contains("EGL_MESA_device_software"),
    }
}

pub(super) fn devices() -> Result<Vec<HeadlessDevice>> {
    Ok(query().map_err(unavailable)?.iter().enumerate().map(|(i, d)| describe(i, d)).collect())
}

pub(super) fn open(options: &HeadlessOptions) -> Result<Arc<GlDisplay>> {
    let devices = query();
    if let Some(index) = options.device {
        let devices = devices.map_err(unavailable)?;
        return on_device(index, &devices[at_most(index, devices.len())?], options);
    }
    let mut reasons = Vec::new();
    let mut second_best: Option<Arc<GlDisplay>> = None;
    match devices {
        Err(e) => reasons.push(e),
        Ok(devices) => {
            let mut order: Vec<_> = devices.iter().enumerate().map(|(i, d)| (describe(i, d), d)).collect();
            // The sort is stable, so EGL's order stays among hardware devices.
            order.sort_by_key(|(about, _)| (!about.seems_to_be(options.same_device_as.as_ref()), about.software));
            for (about, device) in order {
                let index = about.index;
                // A software renderer is no better than a GPU other than the requested one.
                if second_best.is_some() && about.software {
                    break;
                }
                match on_device(index, device, options) {
                    Ok(display) if is_the_one(&display, options.same_device_as.as_ref()) => return Ok(display),
                    Ok(display) => {
                        tracing::debug!(index, "an EGL device is not the compute device");
                        second_best.get_or_insert(display);
                    }
                    Err(e) => {
                        tracing::debug!(index, error = %e, "an EGL device was skipped");
                        reasons.push(format!("device {index}: {e}"));
                    }
                }
            }
        }
    }
    if let Some(display) = second_best {
        return display.make_current().map(|()| display);
    }
    on_default_display(options).map_err(|e| {
        reasons.push(format!("default display: {e}"));
        unavailable(reasons.join("; "))
    })
}

pub(super) fn open_es(options: &HeadlessOptions) -> Result<EsContext> {
    let devices = query();
    let mut reasons = Vec::new();
    match (devices, options.device) {
        (Err(reason), Some(_)) => return Err(unavailable(reason)),
        (Err(reason), None) => reasons.push(reason),
        (Ok(devices), Some(index)) => {
            let device = &devices[at_most(index, devices.len())?];
            return es_on_device(&describe(index, device), device);
        }
        (Ok(devices), None) => {
            let mut order: Vec<_> = devices.iter().enumerate().map(|(i, d)| (describe(i, d), d)).collect();
            order.sort_by_key(|(about, _)| (!about.seems_to_be(options.same_device_as.as_ref()), about.software));
            for (about, device) in order {
                match es_on_device(&about, device) {
                    Ok(context) => return Ok(context),
                    Err(e) => reasons.push(format!("device {}: {e}", about.index)),
                }
            }
        }
    }
    let (egl, name) = default_display()?;
    es_on_display(&egl, name, &Origin::default()).map_err(|e| {
        reasons.push(format!("default display: {e}"));
        unavailable(reasons.join("; "))
    })
}

fn es_on_device(about: &HeadlessDevice, device: &Device) -> Result<EsContext> {
    let (egl, name, origin) = device_display(about, device)?;
    es_on_display(&egl, &name, &origin)
}

fn es_on_display(display: &Display, name: &str, origin: &Origin) -> Result<EsContext> {
    let template = ConfigTemplateBuilder::new().with_surface_type(ConfigSurfaceTypes::empty()).with_api(Api::GLES3);
    // SAFETY: the template names no window.
    let mut configs =
        unsafe { display.find_configs(template.build()) }.map_err(|e| driver_error("eglChooseConfig", name, &e))?;
    let config = configs.next().ok_or_else(|| unavailable(format!("{name} has no configuration for OpenGL ES 3")))?;
    let [major, minor] = [ES_COMPUTE.0, ES_COMPUTE.1].map(|n| n as u8);
    let version = Version::new(major, minor);
    let attributes = ContextAttributesBuilder::new().with_context_api(ContextApi::Gles(Some(version))).build(None);
    // SAFETY: no window handle is passed.
    let context = unsafe { display.create_context(&config, &attributes) };
    match context.map_err(|e| driver_error("eglCreateContext", name, &e))? {
        NotCurrentContext::Egl(context) => {
            let context = context.make_current_surfaceless().map_err(|e| driver_error("eglMakeCurrent", name, &e))?;
            let own = OwnContext::new(OwnSurface::None, PossiblyCurrentContext::Egl(context), None);
            EsContext::of(own, display, origin)
        }
        #[allow(unreachable_patterns)] // where EGL is the only platform
        _ => Err(unavailable("the context is not an EGL context")),
    }
}

impl HeadlessDevice {
    /// Tells whether this is `wanted`, as far as is known before a context is created.
    fn seems_to_be(&self, wanted: Option<&DeviceIdentity>) -> bool {
        let Some(wanted) = wanted else { return false };
        let pci = self.drm_node.as_deref().and_then(pci_of_drm_node);
        (wanted.api == ApiKind::Cuda && wanted.ordinal.is_some() && wanted.ordinal == self.cuda_ordinal)
            || (pci.is_some() && pci == wanted.pci)
    }
}

/// True where the context draws on `wanted`, if that is given; software devices on the CPU are interchangeable.
fn is_the_one(display: &GlDisplay, wanted: Option<&DeviceIdentity>) -> bool {
    let device = display.device();
    wanted.is_none_or(|w| w.software || (!device.software && w.same_device(device).is_yes()))
}

fn on_device(index: usize, device: &Device, options: &HeadlessOptions) -> Result<Arc<GlDisplay>> {
    let (egl, name, origin) = device_display(&describe(index, device), device)?;
    on_display(egl, &name, &origin, options)
}

fn device_display(about: &HeadlessDevice, device: &Device) -> Result<(Display, String, Origin)> {
    let name = about.name.clone().unwrap_or_else(|| format!("EGL device {}", about.index));
    // SAFETY: no raw display handle is passed.
    let egl = unsafe { EglDisplay::with_device(device, None) };
    let egl = egl.map_err(|e| driver_error("eglGetPlatformDisplay", &name, &e))?;
    let origin = Origin { pci: about.drm_node.as_deref().and_then(pci_of_drm_node), software: about.software };
    Ok((Display::Egl(egl), name, origin))
}

fn on_default_display(options: &HeadlessOptions) -> Result<Arc<GlDisplay>> {
    let (egl, name) = default_display()?;
    on_display(egl, name, &Origin::default(), options)
}

fn default_display() -> Result<(Display, &'static str)> {
    const NAME: &str = "EGL's default display";
    // The empty handle that makes glutin request EGL_DEFAULT_DISPLAY.
    let handle = RawDisplayHandle::Android(AndroidDisplayHandle::new());
    // SAFETY: the handle names no system object.
    let egl = unsafe { EglDisplay::new(handle) }.map_err(|e| driver_error("eglGetDisplay", NAME, &e))?;
    Ok((Display::Egl(egl), NAME))
}

fn on_display(display: Display, name: &str, origin: &Origin, options: &HeadlessOptions) -> Result<Arc<GlDisplay>> {
    let own = match surfaceless(&display, name) {
        Ok(own) => own,
        Err(e) => {
            tracing::debug!(device = name, error = %e, "no context without a surface; trying a pbuffer");
            with_pbuffer(&display, name)?
        }
    };
    on_context(own, &display, origin, options)
}

fn find_config(display: &Display, surfaces: ConfigSurfaceTypes, name: &str) -> Result<Config> {
    let template = ConfigTemplateBuilder::new().with_surface_type(surfaces).with_api(Api::OPENGL).build();
    // SAFETY: the template names no window.
    let mut configs =
        unsafe { display.find_configs(template) }.map_err(|e| driver_error("eglChooseConfig", name, &e))?;
    configs.next().ok_or_else(|| unavailable(format!("{name} has no configuration for desktop OpenGL")))
}

fn surfaceless(display: &Display, name: &str) -> Result<OwnContext> {
    let config = find_config(display, ConfigSurfaceTypes::empty(), name)?;
    match core_context(display, &config, None, name)? {
        NotCurrentContext::Egl(context) => {
            let context = context.make_current_surfaceless().map_err(|e| driver_error("eglMakeCurrent", name, &e))?;
            Ok(OwnContext::new(OwnSurface::None, PossiblyCurrentContext::Egl(context), None))
        }
        #[allow(unreachable_patterns)] // where EGL is the only platform
        _ => Err(unavailable("the context is not an EGL context")),
    }
}

fn with_pbuffer(display: &Display, name: &str) -> Result<OwnContext> {
    let config = find_config(display, ConfigSurfaceTypes::PBUFFER, name)?;
    let attributes = SurfaceAttributesBuilder::<PbufferSurface>::new().build(NonZeroU32::MIN, NonZeroU32::MIN);
    // SAFETY: a pbuffer needs no system object.
    let surface = unsafe { display.create_pbuffer_surface(&config, &attributes) };
    let surface = surface.map_err(|e| driver_error("eglCreatePbufferSurface", name, &e))?;
    let context = core_context(display, &config, None, name)?;
    let context = context.make_current(&surface).map_err(|e| driver_error("eglMakeCurrent", name, &e))?;
    Ok(OwnContext::new(OwnSurface::Pbuffer(surface), context, None))
}

/// Checks the index of a device against the number of devices that EGL lists.
fn at_most(index: usize, count: usize) -> Result<usize> {
    if index < count {
        Ok(index)
    } else {
        Err(Error::refused(format!("there is no EGL device {index}; EGL lists {count}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry_testing::{Child, Need, need};

    #[test]
    #[ignore = "run by the test below with an environment of its own"]
    fn child_default_display() {
        let display = on_default_display(&HeadlessOptions::default()).unwrap();
        assert!(display.is_current());
        let target = display.create_offscreen_target(2, 2).unwrap();
        assert_eq!(target.read_pixels().unwrap(), [0; 16]);
    }

    #[test]
    fn the_default_display_needs_no_device() {
        if need(Need::Egl, query().map(drop)).is_some() {
            let child = Child::of("display::headless::egl::tests::child_default_display").unwrap();
            child.env("EGL_PLATFORM", "surfaceless").run().unwrap().passed();
        }
    }
}
