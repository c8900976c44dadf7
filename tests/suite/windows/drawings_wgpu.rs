//! Every kind of draw into a window of wgpu, by either manner, into what its surface offers.

use super::rounds::instance;
use interop_core::conformance::DrawCase;
use interop_core::describe::color::{Curve, TargetEncoding};
use pixelferry::api::gl::winit::application::ApplicationHandler;
use pixelferry::api::gl::winit::dpi::PhysicalSize;
use pixelferry::api::gl::winit::event::WindowEvent;
use pixelferry::api::gl::winit::event_loop::{ActiveEventLoop, EventLoop};
use pixelferry::api::gl::winit::platform::x11::EventLoopBuilderExtX11 as _;
use pixelferry::api::gl::winit::window::{WindowAttributes, WindowId};
use pixelferry::api::wgpu::{DRAW_FEATURES, Viewport, WgpuDisplay, open_device, wgpu};
use pixelferry::driver::SurfacePart;
use pixelferry::{Display as _, Extent, ImageView, Manner, PixelFormat, SurfaceDesc, View};
use pixelferry_tests::{Need, Xvfb, by_level, need, pass_in_child};
use std::sync::Arc;
use wgpu::CurrentSurfaceTexture::{Suboptimal, Success};
use wgpu::TextureUsages as Usages;

const AREA: Extent = DrawCase::AREA;
const VIEWPORT: Viewport = Viewport { x: 9, y: 5, width: AREA.width, height: AREA.height };

/// Bytes from row to row of what is read.
const PITCH: u32 = 256;

/// Number of draws, and of those that went through a copy.
#[derive(Default)]
struct App {
    drawn: usize,
    copied: usize,
    opened: bool,
}

struct Window {
    surface: wgpu::Surface<'static>,
    display: Arc<WgpuDisplay>,
    format: wgpu::TextureFormat,
}

impl Window {
    /// The viewport's pixels after a draw, red first.
    fn drawn(&self, case: &DrawCase, manner: Manner) -> Vec<u8> {
        let (display, device) = (&self.display, self.display.wgpu_device());
        let desc = SurfaceDesc::Image(case.image);
        let view = View::Image(ImageView::packed(case.image.extent, case.image.format, 1, 0, false).unwrap());
        let mut image = display.create_surface(&desc).unwrap();
        image.upload(&SurfacePart::full(&desc), &case.pixels, &view).unwrap();
        let (Success(frame) | Suboptimal(frame)) = self.surface.get_current_texture() else {
            panic!("the window gives nothing to draw on")
        };
        let view = frame.texture.create_view(&wgpu::TextureViewDescriptor::default());
        // A format that encodes takes light.
        let light = |v| f64::from(if self.format.is_srgb() { Curve::Srgb.decode(v) } else { v });
        let [r, g, b, a] = case.before;
        let clear = wgpu::Color { r: light(r), g: light(g), b: light(b), a: f64::from(a) };
        let options = case.options.with_manner(manner);
        display.draw_to(&image, &view, self.format, Some(clear), VIEWPORT, options).unwrap();
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(PITCH * AREA.height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let origin = wgpu::Origin3d { x: VIEWPORT.x as u32, y: VIEWPORT.y as u32, z: 0 };
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(PITCH), rows_per_image: None };
        encoder.copy_texture_to_buffer(
            wgpu::TexelCopyTextureInfo { origin, ..frame.texture.as_image_copy() },
            wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
            wgpu::Extent3d { width: AREA.width, height: AREA.height, depth_or_array_layers: 1 },
        );
        display.wgpu_queue().submit([encoder.finish()]);
        display.wgpu_queue().present(frame);
        buffer.map_async(wgpu::MapMode::Read, .., |_| ());
        device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let mapped = buffer.get_mapped_range(..).unwrap();
        let rows = mapped.chunks_exact(PITCH as usize);
        let mut bytes: Vec<u8> = rows.flat_map(|row| row[..AREA.width as usize * 4].to_vec()).collect();
        if self.format.remove_srgb_suffix() == wgpu::TextureFormat::Bgra8Unorm {
            bytes.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
        }
        bytes
    }
}

impl App {
    fn draw(&mut self, event_loop: &ActiveEventLoop) {
        let instance = instance(event_loop, wgpu::Backends::VULKAN);
        let attributes = WindowAttributes::default().with_inner_size(PhysicalSize::new(64, 48));
        let window = Arc::new(event_loop.create_window(attributes).unwrap());
        let surface = instance.create_surface(Arc::clone(&window)).unwrap();
        let options = wgpu::RequestAdapterOptions { compatible_surface: Some(&surface), ..Default::default() };
        let adapter = pollster::block_on(instance.request_adapter(&options));
        let Some(adapter) = need(Need::Lavapipe, adapter) else { return };
        let required_features = adapter.features() & DRAW_FEATURES;
        let descriptor = wgpu::DeviceDescriptor { required_features, ..wgpu::DeviceDescriptor::default() };
        let (device, queue) = open_device(&adapter, &descriptor).unwrap();
        let display = WgpuDisplay::from_engine(&adapter, device, queue).unwrap();
        let offered = surface.get_capabilities(&adapter);
        println!("offered: {:?} {:?}", offered.formats, offered.usages);
        let mut config = surface.get_default_config(&adapter, 64, 48).unwrap();
        config.present_mode = wgpu::PresentMode::AutoNoVsync;
        let mut window = Window { surface, display, format: config.format };
        let copies = Usages::COPY_DST | Usages::COPY_SRC;
        for (encodes, usage) in [(false, Usages::STORAGE_BINDING), (false, copies), (true, copies)] {
            let eight = [wgpu::TextureFormat::Bgra8Unorm, wgpu::TextureFormat::Rgba8Unorm];
            let fits = |f: &&wgpu::TextureFormat| f.is_srgb() == encodes && eight.contains(&f.remove_srgb_suffix());
            let Some(format) = offered.formats.iter().find(fits) else { continue };
            if !offered.usages.contains(usage | Usages::COPY_SRC) {
                continue;
            }
            let own = window.display.window_usage(usage, *format);
            assert_eq!(own, Usages::RENDER_ATTACHMENT | usage, "what it would ask for of that");
            (config.format, config.usage) = (*format, own | Usages::COPY_SRC);
            window.format = *format;
            window.surface.configure(window.display.wgpu_device(), &config);
            let target = if encodes { TargetEncoding::SrgbFormat } else { TargetEncoding::Srgb };
            let of_it = |c: &DrawCase| (c.target, c.options.target) == (PixelFormat::Rgba8, target);
            for case in DrawCase::all().into_iter().filter(of_it).step_by(by_level(48, 3, 3)) {
                for manner in Manner::ALL {
                    case.check(&window.drawn(&case, manner)).unwrap();
                    let done = window.display.drawn().unwrap();
                    let by_copy = manner == Manner::Compute && usage == copies;
                    assert_eq!((done.manner, done.copies), (manner, by_copy), "{done}: {case:?}");
                    self.drawn += 1;
                    self.copied += usize::from(by_copy);
                }
            }
        }
        self.opened = true;
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        self.draw(event_loop);
        event_loop.exit();
    }

    fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, _: WindowEvent) {}
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn child() {
    let mut app = App::default();
    EventLoop::builder().with_any_thread(true).build().unwrap().run_app(&mut app).unwrap();
    let least = by_level(6, 100, 100);
    assert!(
        !app.opened || (app.drawn > least && app.copied > least / 2),
        "{} draws, {} by copies",
        app.drawn,
        app.copied
    );
}

#[test]
fn into_what_the_surface_offers() {
    let Some(server) = need(Need::Xvfb, Xvfb::start(800, 600)) else { return };
    pass_in_child("windows::drawings_wgpu::child", None, &[("DISPLAY", server.display())], &["1 passed"]);
}
