//! A stand-in for an engine: a context made by glutin itself, of which the display knows nothing.

#![allow(dead_code, reason = "pixelferry-gl's suite uses a part of it")]

use glutin::api::egl::config::Config;
use glutin::api::egl::context::PossiblyCurrentContext;
use glutin::api::egl::device::Device;
use glutin::api::egl::display::Display;
use glutin::api::egl::surface::Surface;
use glutin::config::{Api, ColorBufferType, ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, GlProfile, Version};
use glutin::prelude::{GlDisplay as _, *};
use glutin::surface::{PbufferSurface, SurfaceAttributesBuilder};
use pixelferry_gl::{EngineOptions, GlDisplay};
use pixelferry_testing::{Need, need};
use std::cell::Cell;
use std::ffi::c_void;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::OnceLock;

pub struct Engine {
    pub context: Rc<PossiblyCurrentContext>,
    pub display: Display,
    /// Surface that it draws to, if it has one.
    surface: Option<Surface<PbufferSurface>>,
    /// Makes the engine deny that its context is current, whatever the truth.
    pub pretend_elsewhere: Arc<Cell<bool>>,
}

type GetIntegers = unsafe extern "system" fn(parameter: u32, index: u32, values: *mut i32);
static GET_INTEGERS: OnceLock<Option<GetIntegers>> = OnceLock::new();

/// `glGetIntegeri_v` of state that is up to four integers, for which glow has no room.
pub fn integers(parameter: u32, index: u32) -> [i32; 4] {
    let get = GET_INTEGERS.get().copied().flatten().unwrap();
    let mut values = [0; 4];
    // SAFETY: an engine was made, so the function is loaded; its context is current.
    unsafe { get(parameter, index, values.as_mut_ptr()) };
    values
}

/// The last device that EGL lists; with `PIXELFERRY_GPU=1` the first of NVIDIA's.
fn device() -> Result<Device, &'static str> {
    let mut devices = Device::query_devices().map_err(|_| "EGL lists no device")?;
    if std::env::var("PIXELFERRY_GPU").is_ok_and(|asked| asked == "1") {
        let nvidia = |device: &Device| device.extensions().contains("EGL_NV_device_cuda");
        return devices.find(nvidia).ok_or("PIXELFERRY_GPU=1, and EGL lists no device of NVIDIA's");
    }
    devices.last().ok_or("EGL lists no device")
}

fn desktop(profile: GlProfile) -> ContextAttributesBuilder {
    let api = ContextApi::OpenGl(Some(Version::new(4, 5)));
    ContextAttributesBuilder::new().with_profile(profile).with_context_api(api)
}

fn without_surface(display: &Display, api: Api) -> Config {
    let template = ConfigTemplateBuilder::new().with_surface_type(ConfigSurfaceTypes::empty());
    // SAFETY: the template names no window.
    unsafe { display.find_configs(template.with_api(api).build()) }.unwrap().next().unwrap()
}

impl Engine {
    /// Current on this thread; `None` after saying SKIPPED without EGL devices.
    pub fn new() -> Option<Self> {
        Self::of(GlProfile::Core)
    }

    /// With a context of this profile, current on this thread.
    pub fn of(profile: GlProfile) -> Option<Self> {
        Self::open(desktop(profile), |display| Some((without_surface(display, Api::OPENGL), None)))
    }

    /// Of a version of this profile. `None` also where the driver has none such.
    pub fn version(profile: GlProfile, (major, minor): (u8, u8)) -> Option<Self> {
        let api = ContextApi::OpenGl(Some(Version::new(major, minor)));
        let attributes = ContextAttributesBuilder::new().with_profile(profile).with_context_api(api);
        Self::open(attributes, |display| Some((without_surface(display, Api::OPENGL), None)))
    }

    /// Of the newest version of this profile, or of OpenGL ES. With `PIXELFERRY_GPU=1` on an NVIDIA GPU.
    pub fn newest(profile: Option<GlProfile>) -> Option<Self> {
        let versions: &[(u8, u8)] =
            if profile.is_some() { &[(4, 6), (4, 5), (4, 3), (3, 3)] } else { &[(3, 2), (3, 0)] };
        let device = need(Need::Egl, device())?;
        // SAFETY: no raw display handle is passed.
        let display = unsafe { Display::with_device(&device, None) }.unwrap();
        let config = without_surface(&display, if profile.is_some() { Api::OPENGL } else { Api::GLES2 });
        let made = versions.iter().find_map(|(major, minor)| {
            let version = Some(Version::new(*major, *minor));
            let attributes = match profile {
                Some(profile) => {
                    ContextAttributesBuilder::new().with_profile(profile).with_context_api(ContextApi::OpenGl(version))
                }
                None => ContextAttributesBuilder::new().with_context_api(ContextApi::Gles(version)),
            };
            // SAFETY: no window handle is passed.
            unsafe { display.create_context(&config, &attributes.build(None)) }.ok()
        });
        let context = need(Need::Egl, made.ok_or("no context of any version"))?;
        Some(Self::of_context(display, context.make_current_surfaceless().unwrap(), None))
    }

    /// With a context of the newest OpenGL ES that the driver has, current on this thread.
    pub fn es() -> Option<Self> {
        let api = ContextApi::Gles(Some(Version::new(2, 0)));
        Self::open(ContextAttributesBuilder::new().with_context_api(api), |display| {
            Some((without_surface(display, Api::GLES2), None))
        })
    }

    /// With a framebuffer of its own, as windows have one: of `size`, with `bits` of red and of alpha. `None` also where the driver has
    /// none such.
    pub fn with_framebuffer(size: (u32, u32), bits: (u8, u8)) -> Option<Self> {
        Self::open(desktop(GlProfile::Core), |display| {
            let template =
                ConfigTemplateBuilder::new().with_surface_type(ConfigSurfaceTypes::PBUFFER).with_alpha_size(bits.1);
            // SAFETY: the template names no window.
            let mut configs = unsafe { display.find_configs(template.with_api(Api::OPENGL).build()) }.unwrap();
            let wanted = |config: &Config| {
                let ColorBufferType::Rgb { r_size, .. } = config.color_buffer_type().unwrap() else { return false };
                (r_size, config.alpha_size(), config.num_samples()) == (bits.0, bits.1, 0)
            };
            let config =
                configs.find(wanted).ok_or_else(|| format!("no framebuffer has {bits:?} bits of red and alpha"));
            let config = need(Need::Egl, config)?;
            let side = |n| NonZeroU32::new(n).unwrap();
            let attributes = SurfaceAttributesBuilder::<PbufferSurface>::new().build(side(size.0), side(size.1));
            // SAFETY: nothing but the display's own is named.
            let surface = unsafe { display.create_pbuffer_surface(&config, &attributes) }.unwrap();
            Some((config, Some(surface)))
        })
    }

    fn open(
        attributes: ContextAttributesBuilder,
        choose: impl FnOnce(&Display) -> Option<(Config, Option<Surface<PbufferSurface>>)>,
    ) -> Option<Self> {
        let device = need(Need::Egl, device())?;
        // SAFETY: no raw display handle is passed.
        let display = unsafe { Display::with_device(&device, None) }.unwrap();
        let (config, surface) = choose(&display)?;
        // SAFETY: no window handle is passed.
        let context = unsafe { display.create_context(&config, &attributes.build(None)) }.unwrap();
        let context = match &surface {
            Some(surface) => context.make_current(surface),
            None => context.make_current_surfaceless(),
        };
        Some(Self::of_context(display, context.unwrap(), surface))
    }

    fn of_context(display: Display, context: PossiblyCurrentContext, surface: Option<Surface<PbufferSurface>>) -> Self {
        let context = Rc::new(context);
        let get = display.get_proc_address(c"glGetIntegeri_v");
        // SAFETY: null becomes `None`, else it is the function of that name.
        GET_INTEGERS.get_or_init(|| unsafe { std::mem::transmute::<*const c_void, Option<GetIntegers>>(get) });
        Self { context, display, surface, pretend_elsewhere: Arc::default() }
    }

    pub fn make_current(&self) {
        match &self.surface {
            Some(surface) => self.context.make_current(surface).unwrap(),
            None => self.context.make_current_surfaceless().unwrap(),
        }
    }

    pub fn options(&self, version_limit: Option<(u32, u32)>) -> EngineOptions {
        let (context, elsewhere) = (Rc::clone(&self.context), Arc::clone(&self.pretend_elsewhere));
        EngineOptions::default()
            .with_is_current(move || !elsewhere.get() && context.is_current())
            .with_version_limit(version_limit)
    }

    pub fn glow(&self) -> Arc<glow::Context> {
        // SAFETY: the context is current and the loader is its own.
        Arc::new(unsafe { glow::Context::from_loader_function_cstr(|s| self.display.get_proc_address(s)) })
    }

    pub fn pixelferry(&self, version_limit: Option<(u32, u32)>) -> Arc<GlDisplay> {
        // SAFETY: the context is current and outlives the display in every test.
        unsafe { GlDisplay::from_loader(|s| self.display.get_proc_address(s), self.options(version_limit)) }.unwrap()
    }
}
