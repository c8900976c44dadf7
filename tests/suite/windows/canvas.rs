//! Canvas through which pictures come to a window: a display of ours, its own context or an engine's.

use glutin::config::{Config, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, PossiblyCurrentContext, Version};
use glutin::display::{Display as GlutinDisplay, DisplayApiPreference, GetGlDisplay as _};
use glutin::platform::x11::X11GlConfigExt as _;
use glutin::prelude::{GlDisplay as _, *};
use glutin::surface::{Surface, SurfaceAttributesBuilder, SwapInterval, WindowSurface};
use pixelferry::api::gl::winit::event_loop::ActiveEventLoop;
use pixelferry::api::gl::winit::platform::x11::register_xlib_error_hook;
use pixelferry::api::gl::winit::raw_window_handle::{HasDisplayHandle as _, HasWindowHandle as _, RawWindowHandle};
use pixelferry::api::gl::winit::window::{Window, WindowAttributes};
use pixelferry::api::gl::{EngineOptions, GlDisplay, GlWindow, Viewport};
use pixelferry::api::wgpu::{self as on_wgpu, WgpuDisplay, open_device, wgpu};
use pixelferry::{Display, DrawOptions, Extent, LinkCore};
use std::num::NonZeroU32;
use std::sync::Arc;
use wgpu::CurrentSurfaceTexture::{Suboptimal, Success};

/// A window and what it is drawn with.
pub trait Canvas {
    fn window(&self) -> &Window;

    fn display(&self) -> Arc<dyn Display>;

    /// Follows the window.
    fn resize(&mut self, size: Extent);

    /// Draws what a link shows all over the window.
    fn show(&mut self, link: &LinkCore, size: Extent);
}

impl Canvas for GlWindow {
    fn window(&self) -> &Window {
        GlWindow::window(self)
    }

    fn display(&self) -> Arc<dyn Display> {
        GlWindow::display(self).clone()
    }

    fn resize(&mut self, size: Extent) {
        GlWindow::resize(self, size).unwrap();
    }

    fn show(&mut self, link: &LinkCore, size: Extent) {
        draw(GlWindow::display(self), link, size);
        self.present().unwrap();
    }
}

fn draw(display: &GlDisplay, link: &LinkCore, size: Extent) {
    let viewport = Viewport::full(size.width, size.height);
    display.draw(link.shown().unwrap().surface(), viewport, DrawOptions::default()).unwrap();
}

fn side(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

/// Tells how an engine's windows are drawn to.
pub fn gl_config(event_loop: &ActiveEventLoop, prefer_egl: bool) -> Config {
    let hook = Box::new(register_xlib_error_hook);
    let preference =
        if prefer_egl { DisplayApiPreference::EglThenGlx(hook) } else { DisplayApiPreference::GlxThenEgl(hook) };
    let handle = event_loop.display_handle().unwrap().as_raw();
    // SAFETY: the handle is of the running event loop, which outlives every window.
    let display = unsafe { GlutinDisplay::new(handle, preference) }.unwrap();
    // SAFETY: no window is named.
    let mut configs = unsafe { display.find_configs(ConfigTemplateBuilder::new().with_alpha_size(0).build()) }.unwrap();
    // The visual that windows have by themselves is taken: for another one winit makes a colour map that it never
    // frees.
    let window = event_loop.create_window(WindowAttributes::default().with_visible(false)).unwrap();
    let RawWindowHandle::Xlib(window) = window.window_handle().unwrap().as_raw() else { panic!("not of X11") };
    configs.find(|config| config.x11_visual().unwrap().visual_id() == window.visual_id).unwrap()
}

/// Released before it goes: a current context would live on.
struct Current(PossiblyCurrentContext);

impl Drop for Current {
    fn drop(&mut self) {
        self.0.make_not_current_in_place().unwrap();
    }
}

/// An engine's window, with a context that is current on the thread. Fields are dropped in this order.
pub struct Engine {
    display: Arc<GlDisplay>,
    context: Current,
    surface: Surface<WindowSurface>,
    window: Arc<Window>,
}

impl Engine {
    pub fn new(window: Arc<Window>, config: &Config, size: Extent) -> Self {
        let handle = window.window_handle().unwrap().as_raw();
        let version = ContextApi::OpenGl(Some(Version::new(3, 3)));
        let attributes = ContextAttributesBuilder::new().with_context_api(version).build(Some(handle));
        let drawable =
            SurfaceAttributesBuilder::<WindowSurface>::new().build(handle, side(size.width), side(size.height));
        // SAFETY: the handle is of the window that is kept with both.
        let (context, surface) = unsafe {
            let context = config.display().create_context(config, &attributes).unwrap();
            (context, config.display().create_window_surface(config, &drawable).unwrap())
        };
        let context = context.make_current(&surface).unwrap();
        // A wish: not every driver has swap control.
        let _ = surface.set_swap_interval(&context, SwapInterval::DontWait);
        // SAFETY: the context is current, stays on this thread and goes after the display.
        let display = unsafe { GlDisplay::from_current(EngineOptions::default()) }.unwrap();
        Self { display, context: Current(context), surface, window }
    }
}

impl Canvas for Engine {
    fn window(&self) -> &Window {
        &self.window
    }

    fn display(&self) -> Arc<dyn Display> {
        self.display.clone()
    }

    fn resize(&mut self, size: Extent) {
        self.surface.resize(&self.context.0, side(size.width), side(size.height));
    }

    fn show(&mut self, link: &LinkCore, size: Extent) {
        draw(&self.display, link, size);
        self.surface.swap_buffers(&self.context.0).unwrap();
    }
}

/// An engine's window drawn by wgpu, with a device of its own.
pub struct Wgpu {
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    display: Arc<WgpuDisplay>,
    window: Arc<Window>,
}

impl Wgpu {
    pub fn new(window: Arc<Window>, instance: &wgpu::Instance, size: Extent) -> Self {
        let surface = instance.create_surface(Arc::clone(&window)).unwrap();
        let options = wgpu::RequestAdapterOptions { compatible_surface: Some(&surface), ..Default::default() };
        let adapter = &pollster::block_on(instance.request_adapter(&options)).unwrap();
        let required_features = adapter.features() & on_wgpu::DRAW_FEATURES;
        let descriptor = wgpu::DeviceDescriptor { required_features, ..wgpu::DeviceDescriptor::default() };
        let (device, queue) = open_device(adapter, &descriptor).unwrap();
        let mut config = surface.get_default_config(adapter, size.width, size.height).unwrap();
        // Computed pixels are encoded for the screen already.
        config.format = surface.get_capabilities(adapter).formats.into_iter().find(|f| !f.is_srgb()).unwrap();
        config.present_mode = wgpu::PresentMode::AutoNoVsync;
        let display = WgpuDisplay::from_engine(adapter, device, queue).unwrap();
        config.usage = display.window_usage(surface.get_capabilities(adapter).usages, config.format);
        Self { surface, config, display, window }
    }
}

impl Canvas for Wgpu {
    fn window(&self) -> &Window {
        &self.window
    }

    fn display(&self) -> Arc<dyn Display> {
        self.display.clone()
    }

    fn resize(&mut self, size: Extent) {
        (self.config.width, self.config.height) = (size.width, size.height);
        self.surface.configure(self.display.wgpu_device(), &self.config);
    }

    fn show(&mut self, link: &LinkCore, size: Extent) {
        let (Success(frame) | Suboptimal(frame)) = self.surface.get_current_texture() else {
            panic!("the window gives nothing to draw on")
        };
        let view = frame.texture.create_view(&wgpu::TextureViewDescriptor::default());
        let viewport = on_wgpu::Viewport::full(size.width, size.height);
        let (shown, format) = (link.shown().unwrap(), self.config.format);
        self.display.draw_to(shown.surface(), &view, format, None, viewport, DrawOptions::default()).unwrap();
        self.display.wgpu_queue().present(frame);
    }
}
