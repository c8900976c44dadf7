//! The engine's windows, by winit and wgpu. Nothing here depends on pixelferry.

use crate::engine::output::{complain, say};
use crate::engine::{EngineOptions, Failure};
use crate::pipelines::{DEPTH, SAMPLES};
use pixelferry::api::wgpu::wgpu;
use std::sync::Arc;
use wgpu::CurrentSurfaceTexture::{Suboptimal, Success};
use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::window::{Window, WindowAttributes, WindowId};

/// A window, or its substitute without a screen.
pub struct Canvas {
    /// `None` without a screen.
    window: Option<(Arc<Window>, wgpu::Surface<'static>)>,
    pub size: (u32, u32),
    configured: bool,
    /// Colours with four samples, and depth.
    attachments: Option<[wgpu::TextureView; 2]>,
}

/// All windows, and the objects that create them.
pub struct Windows {
    instance: wgpu::Instance,
    pub list: Vec<Canvas>,
}

impl Windows {
    fn new(display: Option<Box<dyn wgpu::wgt::WgpuHasDisplayHandle>>) -> Self {
        let mut descriptor = match display {
            Some(display) => wgpu::InstanceDescriptor::new_with_display_handle(display),
            None => wgpu::InstanceDescriptor::new_without_display_handle(),
        };
        // OpenGL is only the last resort: wgpu panics if a driver's EGL does not know the X server's screen.
        let primary = wgpu::Backends::PRIMARY;
        let needs_gl = || pixelferry::api::wgpu::wgpu_adapters(primary).is_empty();
        descriptor.backends =
            wgpu::Backends::from_env().unwrap_or_else(|| if needs_gl() { wgpu::Backends::all() } else { primary });
        Self { instance: wgpu::Instance::new(descriptor), list: Vec::new() }
    }

    /// Returns an adapter that can draw in the windows, and the format of their surfaces.
    pub fn adapter(&self) -> Result<(wgpu::Adapter, wgpu::TextureFormat), Failure> {
        let surface = self.list.iter().find_map(|canvas| Some(&canvas.window.as_ref()?.1));
        let options = wgpu::RequestAdapterOptions { compatible_surface: surface, ..Default::default() };
        let adapter = pollster::block_on(self.instance.request_adapter(&options))?;
        let formats = surface.map(|surface| surface.get_capabilities(&adapter).formats).unwrap_or_default();
        // Computed pixels are encoded for the screen already.
        let format = formats.into_iter().find(|format| !format.is_srgb()).unwrap_or(wgpu::TextureFormat::Rgba8Unorm);
        Ok((adapter, format))
    }

    /// Drops everything of the old device. Call it with a new device.
    pub fn forget_device(&mut self) {
        for canvas in &mut self.list {
            (canvas.configured, canvas.attachments) = (false, None);
        }
    }
}

impl Canvas {
    /// Returns the next texture of the window, or `None` if it cannot be drawn to now.
    pub fn next(
        &mut self,
        adapter: &wgpu::Adapter,
        device: &wgpu::Device,
        format: wgpu::TextureFormat,
    ) -> Option<wgpu::SurfaceTexture> {
        let (_, surface) = self.window.as_ref()?;
        for _ in 0..2 {
            if !self.configured {
                let config = surface.get_default_config(adapter, self.size.0, self.size.1)?;
                surface.configure(device, &wgpu::SurfaceConfiguration { format, ..config });
                (self.configured, self.attachments) = (true, None);
            }
            match surface.get_current_texture() {
                Success(shown) if self.fits(&shown.texture) => return Some(shown),
                Success(texture) | Suboptimal(texture) => drop(texture),
                other => complain!("the window has no frame: {other:?}"),
            }
            self.configured = false;
        }
        None
    }

    pub fn is_window(&self) -> bool {
        self.window.is_some()
    }

    /// Returns true if a texture has the canvas's size.
    pub fn fits(&self, texture: &wgpu::Texture) -> bool {
        (texture.width(), texture.height()) == self.size
    }

    /// Returns the attachments to draw into before samples are resolved.
    pub fn attachments(&mut self, device: &wgpu::Device, format: wgpu::TextureFormat) -> &[wgpu::TextureView; 2] {
        let (width, height) = self.size;
        let made = self.attachments.take().filter(|[colour, _]| self.fits(colour.texture()));
        let make = |format| {
            let texture = device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: SAMPLES,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&wgpu::TextureViewDescriptor::default())
        };
        self.attachments.insert(made.unwrap_or_else(|| [make(format), make(DEPTH)]))
    }
}

/// Draws one frame after the other in all windows, or without any.
pub fn run(
    options: &EngineOptions,
    mut render: impl FnMut(u64, &mut Windows) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if options.headless {
        let mut windows = Windows::new(None);
        windows.list.push(Canvas { window: None, size: options.size, configured: false, attachments: None });
        for frame in (0..).take_while(|frame| !options.is_over(*frame)) {
            if let (Some(size), Some(canvas)) = (options.new_size(frame), windows.list.first_mut()) {
                canvas.size = size;
            }
            render(frame, &mut windows)?;
        }
        return Ok(());
    }
    let event_loop = EventLoop::new()?;
    event_loop.set_control_flow(ControlFlow::Poll);
    let windows = Windows::new(Some(Box::new(event_loop.owned_display_handle())));
    let mut app = App { options, render, windows, frame: 0, failure: None };
    event_loop.run_app(&mut app)?;
    app.failure.map_or(Ok(()), Err)
}

struct App<'a, R> {
    options: &'a EngineOptions,
    render: R,
    windows: Windows,
    frame: u64,
    failure: Option<Failure>,
}

impl<R: FnMut(u64, &mut Windows) -> Result<(), Failure>> App<'_, R> {
    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<(), Failure> {
        let (width, height) = self.options.size;
        for number in 0..u32::from(self.options.windows) {
            let attributes = WindowAttributes::default()
                .with_inner_size(PhysicalSize::new(width, height))
                .with_position(PhysicalPosition::new(number * (width + 8), 0))
                .with_title(format!("engine_wgpu {}", number + 1));
            let window = Arc::new(event_loop.create_window(attributes)?);
            let surface = self.windows.instance.create_surface(Arc::clone(&window))?;
            let size = window.inner_size().into();
            let window = Some((window, surface));
            self.windows.list.push(Canvas { window, size, configured: false, attachments: None });
        }
        Ok(())
    }

    fn next(&mut self, event_loop: &ActiveEventLoop) -> Result<(), Failure> {
        (self.render)(self.frame, &mut self.windows)?;
        self.frame += 1;
        if self.options.reopens(self.frame) {
            self.windows.list.clear();
            say!("windows closed after {} frames", self.frame)?;
            self.open(event_loop)?;
        } else if let Some((width, height)) = self.options.new_size(self.frame) {
            for (window, _) in self.windows.list.iter().filter_map(|canvas| canvas.window.as_ref()) {
                // If winit returns a size instead of sending an event, it is this one.
                let _ = window.request_inner_size(PhysicalSize::new(width, height));
            }
        }
        Ok(())
    }

    fn canvas(&mut self, id: WindowId) -> Option<&mut Canvas> {
        self.windows.list.iter_mut().find(|canvas| canvas.window.as_ref().is_some_and(|(window, _)| window.id() == id))
    }
}

impl<R: FnMut(u64, &mut Windows) -> Result<(), Failure>> ApplicationHandler for App<'_, R> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.windows.list.is_empty()
            && let Err(failure) = self.open(event_loop)
        {
            self.failure.get_or_insert(failure);
            event_loop.exit();
        }
    }

    fn window_event(&mut self, _: &ActiveEventLoop, id: WindowId, event: WindowEvent) {
        match (event, self.canvas(id)) {
            (WindowEvent::Resized(size), Some(canvas)) if size.width > 0 && size.height > 0 => {
                (canvas.size, canvas.configured) = (size.into(), false);
            }
            (WindowEvent::CloseRequested, Some(_)) => {
                self.windows.list.retain(|canvas| canvas.window.as_ref().is_none_or(|(window, _)| window.id() != id));
            }
            _ => {}
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        if event_loop.exiting() {
            return;
        }
        if self.windows.list.is_empty() || self.options.is_over(self.frame) {
            event_loop.exit();
        } else if let Err(failure) = self.next(event_loop) {
            self.failure.get_or_insert(failure);
            event_loop.exit();
        }
    }
}
