//! Contexts of an engine's own, of which a display is told nothing but where the functions are.
// Each test uses its part.
#![allow(dead_code)]

use glutin::api::egl;
use glutin::config::{Api, Config, ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, GlProfile, PossiblyCurrentContext, Version};
use glutin::display::{Display, DisplayApiPreference, GetGlDisplay as _};
use glutin::prelude::{GlDisplay as _, *};
use glutin::surface::{PbufferSurface, Surface, SurfaceAttributesBuilder};
use pixelferry::api::gl::winit::event_loop::EventLoop;
use pixelferry::api::gl::winit::platform::x11::{EventLoopBuilderExtX11 as _, register_xlib_error_hook};
use pixelferry::api::gl::winit::raw_window_handle::HasDisplayHandle as _;
use pixelferry::api::gl::{EngineOptions, GlDisplay};
use pixelferry_tests::{Need, need};
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;

/// System that makes contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// EGL on a device, without a display server.
    Egl,
    /// For a context of OpenGL ES.
    EglEs,
    /// GLX of the X server that `DISPLAY` names.
    Glx,
}

/// Maker of contexts of one system; `Display` names the system's connection.
pub struct Maker {
    system: System,
    config: Config,
    /// The X connection is its.
    _event_loop: Option<EventLoop<()>>,
}

impl Maker {
    /// `None` after having said why.
    pub fn of(system: System) -> Option<Self> {
        let (display, event_loop) = match system {
            System::Egl | System::EglEs => (egl_display()?, None),
            System::Glx => {
                let event_loop = EventLoop::builder().with_x11().with_any_thread(true).build();
                let event_loop = need(Need::Xvfb, event_loop)?;
                let preference = DisplayApiPreference::Glx(Box::new(register_xlib_error_hook));
                let handle = event_loop.display_handle().unwrap().as_raw();
                // SAFETY: the handle is of the event loop, which is kept.
                (unsafe { Display::new(handle, preference) }.unwrap(), Some(event_loop))
            }
        };
        let api = if system == System::EglEs { Api::GLES2 } else { Api::OPENGL };
        let template =
            ConfigTemplateBuilder::new().with_surface_type(ConfigSurfaceTypes::PBUFFER).with_api(api).build();
        // SAFETY: the template names no window.
        let config = unsafe { display.find_configs(template) }.unwrap().next().unwrap();
        Some(Self { system, config, _event_loop: event_loop })
    }

    /// A context, current on this thread.
    pub fn context(&self) -> Engine {
        let attributes = match self.system {
            System::EglEs => {
                ContextAttributesBuilder::new().with_context_api(ContextApi::Gles(Some(Version::new(3, 0))))
            }
            _ => ContextAttributesBuilder::new()
                .with_profile(GlProfile::Core)
                .with_context_api(ContextApi::OpenGl(Some(Version::new(4, 5)))),
        };
        let attributes = attributes.build(None);
        let one = NonZeroU32::MIN;
        let pbuffer = SurfaceAttributesBuilder::<PbufferSurface>::new().build(one, one);
        let display = self.config.display();
        // SAFETY: neither names a window.
        let (context, surface) = unsafe {
            let context = display.create_context(&self.config, &attributes).unwrap();
            (context, display.create_pbuffer_surface(&self.config, &pbuffer).unwrap())
        };
        let context = Rc::new(context.make_current(&surface).unwrap());
        Engine { context, surface, display }
    }
}

fn egl_display() -> Option<Display> {
    let device = egl::device::Device::query_devices().map_err(|e| e.to_string());
    let device = need(Need::Egl, device.and_then(|mut all| all.next().ok_or_else(|| "no device".to_owned())))?;
    // SAFETY: no raw display handle is passed.
    Some(Display::Egl(unsafe { egl::display::Display::with_device(&device, None) }.unwrap()))
}

/// A context and what it draws to.
pub struct Engine {
    pub context: Rc<PossiblyCurrentContext>,
    surface: Surface<PbufferSurface>,
    display: Display,
}

impl Engine {
    pub fn make_current(&self) {
        self.context.make_current(&self.surface).unwrap();
    }

    /// Leaves the thread without a context.
    pub fn release(&self) {
        self.context.make_not_current_in_place().unwrap();
    }

    /// The display in this context, which is current, with default options: it must find out by itself which context is
    /// current.
    pub fn pixelferry(&self) -> Arc<GlDisplay> {
        let load = |name: &std::ffi::CStr| self.display.get_proc_address(name);
        // SAFETY: the context is current and, in every test, goes after the display.
        unsafe { GlDisplay::from_loader(load, EngineOptions::default()) }.unwrap()
    }
}
