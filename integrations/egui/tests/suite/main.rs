//! Tests that egui shows a picture, before and after it deleted the picture's texture, and after resizes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

use eframe::egui::{self, ImageSource, TextureId};
use eframe::egui_glow::Painter;
use eframe::egui_wgpu::{RenderState, Renderer, RendererOptions, ScreenDescriptor};
use eframe::glow::{self, HasContext as _};
use eframe::wgpu;
use engine_picture::{pixels, source};
use glutin::api::egl::{device::Device, display::Display as Egl};
use glutin::display::GlDisplay as _;
use pixelferry::api::gl::{GlDisplay, HeadlessOptions};
use pixelferry::api::wgpu::{WgpuBackend, WgpuDisplay, open_device, wgpu_adapters};
use pixelferry::{AlphaMode, Arg, ComputeBackend, CpuBackend, DrawOptions, Error, Extent, ImageDesc, Kernel};
use pixelferry::{Link, LinkOptions, PathId, PixelFormat, Policy, SurfaceDesc};
use pixelferry_egui::{GlTextures, Picture, Screen};
use pixelferry_testing::{Need, need};
use std::sync::Arc;

/// A window that is never larger than its picture.
struct Window {
    egui: egui::Context,
    picture: Picture,
    weave: Arc<dyn Kernel>,
    frame: u32,
    path: PathId,
}

impl Window {
    /// Frames come by this path and no other.
    fn new(screen: Screen, backend: Arc<dyn ComputeBackend>, path: PathId) -> Self {
        let weave = backend.build(&source()).unwrap();
        let surface = SurfaceDesc::image(40, 24, PixelFormat::Rgba8);
        let options = LinkOptions::new(Policy::default().with_force(path));
        let link = Link::open(backend, screen.display(), surface, options).unwrap();
        let picture = Picture::new(screen, link);
        Self { egui: egui::Context::default(), picture, weave, frame: 0, path }
    }

    fn extent(&mut self) -> Extent {
        let SurfaceDesc::Image(image) = self.picture.link().desc() else { panic!("a picture") };
        image.extent
    }

    fn resize(&mut self, width: u32, height: u32) {
        self.picture.link().resize(SurfaceDesc::image(width, height, PixelFormat::Rgba8)).unwrap();
    }

    /// Computes the next frame, and lets egui lay it out.
    fn next(&mut self, textures: &mut dyn GlTextures) -> (TextureId, egui::FullOutput) {
        self.frame += 1;
        let argument = Arg::U32(self.frame);
        self.picture.link().frame(|next| next.launch(self.weave.as_ref(), &[argument])).unwrap();
        let image = self.picture.image(textures, DrawOptions::default()).unwrap();
        let ImageSource::Texture(texture) = image.source(&self.egui) else { panic!("a texture") };
        let extent = self.extent();
        let size = egui::vec2(extent.width as f32, extent.height as f32);
        let all = egui::Rect::from_min_size(egui::Pos2::ZERO, size);
        let input = egui::RawInput { screen_rect: Some(all), ..Default::default() };
        let output = self.egui.run_ui(input, |ui| drop(ui.put(all, image.clone())));
        (texture.id, output)
    }

    fn assert_shown(&mut self, found: &[u8]) {
        let extent = self.extent();
        assert!(found == pixels(extent, self.frame), "frame {} of {extent} by {}", self.frame, self.path);
        assert_eq!(self.picture.link().path(), self.path);
    }
}

fn show_by_gl(window: &mut Window, display: &GlDisplay, painter: &mut Painter) -> TextureId {
    let (id, mut output) = window.next(painter);
    let extent = window.extent();
    let target = display.create_offscreen_target(extent.width, extent.height).unwrap();
    target.bind().unwrap();
    let meshes = window.egui.tessellate(output.shapes, 1.0);
    painter.paint_and_update_textures([extent.width, extent.height], 1.0, &meshes, &mut output.textures_delta);
    target.unbind().unwrap();
    window.assert_shown(&target.read_pixels().unwrap());
    id
}

fn threads() -> Arc<dyn ComputeBackend> {
    Arc::new(CpuBackend::new().unwrap())
}

#[test]
fn opengl_shows_it_after_egui_deleted_it() {
    for path in [PathId::PBO_PERSISTENT, PathId::HOST_ROUND_TRIP] {
        opengl_shows_it(path);
    }
}

fn opengl_shows_it(path: PathId) {
    let Some(display) = need(Need::Egl, GlDisplay::headless(HeadlessOptions::default())) else { return };
    let device = Device::query_devices().unwrap().last().unwrap();
    // SAFETY: no raw display handle is passed.
    let egl = unsafe { Egl::with_device(&device, None) }.unwrap();
    // SAFETY: the display's context is current, and EGL's functions are of every context.
    let gl = Arc::new(unsafe { glow::Context::from_loader_function_cstr(|name| egl.get_proc_address(name)) });
    let mut painter = Painter::new(gl.clone(), "", None, false).unwrap();
    let mut window = Window::new(Screen::Gl(display.clone()), threads(), path);
    let first = show_by_gl(&mut window, &display, &mut painter);
    for _ in 0..3 {
        assert_eq!(show_by_gl(&mut window, &display, &mut painter), first);
    }
    painter.free_texture(first);
    // Drivers give the number away again.
    // SAFETY: the context is current.
    let other = unsafe {
        let other = gl.create_texture().unwrap();
        gl.bind_texture(glow::TEXTURE_2D, Some(other));
        gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA8, 40, 24);
        let bytes = glow::PixelUnpackData::Slice(Some(&[7; 40 * 24 * 4]));
        gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, 0, 40, 24, glow::RGBA, glow::UNSIGNED_BYTE, bytes);
        other
    };
    let second = show_by_gl(&mut window, &display, &mut painter);
    assert_ne!(second, first);
    let mut found = [0; 40 * 24 * 4];
    // SAFETY: the context is current, and `found` is as large as the texture.
    unsafe {
        gl.bind_texture(glow::TEXTURE_2D, Some(other));
        let into = glow::PixelPackData::Slice(Some(&mut found));
        gl.get_tex_image(glow::TEXTURE_2D, 0, glow::RGBA, glow::UNSIGNED_BYTE, into);
    }
    assert_eq!(found, [7; 40 * 24 * 4], "somebody else's texture was drawn into");
    for (width, height) in [(64, 48), (8, 8)] {
        window.resize(width, height);
        assert_eq!(show_by_gl(&mut window, &display, &mut painter), second);
    }
    // SAFETY: the context is current.
    assert_eq!(unsafe { gl.get_error() }, glow::NO_ERROR);
    painter.destroy();
}

fn show_by_wgpu(window: &mut Window, display: &WgpuDisplay, state: &RenderState) -> TextureId {
    let (id, mut output) = window.next(&mut NoGl);
    let extent = window.extent();
    let (device, queue) = (&state.device, &state.queue);
    let target = display.create_offscreen_target(extent.width, extent.height).unwrap();
    let meshes = window.egui.tessellate(output.shapes, 1.0);
    let screen = ScreenDescriptor { size_in_pixels: [extent.width, extent.height], pixels_per_point: 1.0 };
    let mut renderer = state.renderer.write();
    for (id, delta) in &output.textures_delta.set {
        delta.iter().for_each(|delta| renderer.update_texture(device, queue, *id, delta));
    }
    output.textures_delta.clear();
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    renderer.update_buffers(device, queue, &mut encoder, &meshes, &screen);
    let attachment = wgpu::RenderPassColorAttachment {
        view: target.view(),
        depth_slice: None,
        resolve_target: None,
        ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT), store: wgpu::StoreOp::Store },
    };
    let pass = wgpu::RenderPassDescriptor { color_attachments: &[Some(attachment)], ..Default::default() };
    renderer.render(&mut encoder.begin_render_pass(&pass).forget_lifetime(), &meshes, &screen);
    queue.submit([encoder.finish()]);
    window.assert_shown(&target.read_pixels().unwrap());
    id
}

/// wgpu never asks it.
struct NoGl;

// SAFETY: it has none.
unsafe impl GlTextures for NoGl {
    fn register(&mut self, _: glow::Texture) -> Option<TextureId> {
        None
    }

    fn has(&self, _: TextureId, _: glow::Texture) -> bool {
        false
    }
}

#[test]
fn wgpu_shows_it_after_egui_deleted_it() {
    let adapter = wgpu_adapters(wgpu::Backends::VULKAN).into_iter().next().ok_or("no adapter");
    let Some(adapter) = need(Need::Lavapipe, adapter) else { return };
    let (device, queue) = open_device(&adapter, &wgpu::DeviceDescriptor::default()).unwrap();
    let target_format = wgpu::TextureFormat::Rgba8Unorm;
    let renderer = Renderer::new(&device, target_format, RendererOptions { dithering: false, ..Default::default() });
    let state = RenderState {
        instance: wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle()),
        available_adapters: Vec::new(),
        renderer: Arc::new(egui::mutex::RwLock::new(renderer)),
        adapter,
        device,
        queue,
        target_format,
    };
    let display = WgpuDisplay::from_engine(&state.adapter, state.device.clone(), state.queue.clone()).unwrap();
    // Kernels in egui's own queue, and pages of the host that its device reads where they lie.
    let own_queue: Arc<dyn ComputeBackend> = Arc::new(WgpuBackend::on(display.shared_device()).unwrap());
    for (backend, path) in [(own_queue, PathId::IN_QUEUE_TEXTURE), (threads(), PathId::PINNED_UPLOAD)] {
        wgpu_shows_it(Window::new(Screen::Wgpu(display.clone(), state.clone()), backend, path), &display, &state);
    }
}

fn wgpu_shows_it(mut window: Window, display: &WgpuDisplay, state: &RenderState) {
    let first = show_by_wgpu(&mut window, display, state);
    for _ in 0..3 {
        assert_eq!(show_by_wgpu(&mut window, display, state), first);
    }
    state.renderer.write().free_texture(&first);
    let second = show_by_wgpu(&mut window, display, state);
    assert_ne!(second, first);
    for (width, height) in [(64, 48), (8, 8)] {
        window.resize(width, height);
        assert_eq!(show_by_wgpu(&mut window, display, state), second);
    }
    drop(window);
    assert!(state.renderer.read().texture(&second).is_none());
}

#[test]
fn what_egui_cannot_show_is_an_error() {
    let Some(display) = need(Need::Egl, GlDisplay::headless(HeadlessOptions::default())) else { return };
    let backend = threads();
    let screen = Screen::Gl(display);
    let open = |surface| {
        let link = Link::open(backend.clone(), screen.display(), surface, LinkOptions::default()).unwrap();
        Picture::new(screen.clone(), link)
    };
    let options = DrawOptions::default();
    let mut plain = open(SurfaceDesc::image(2, 2, PixelFormat::Rgba8));
    assert!(matches!(plain.image(&mut NoGl, options), Err(Error::NothingShown)));
    plain.link().frame(|next| next.write(&[9; 16])).unwrap();
    let error = plain.image(&mut NoGl, options).unwrap_err().to_string();
    assert!(error.contains("does not draw with OpenGL"), "{error}");
    let mut clear = open(SurfaceDesc::Image(ImageDesc::new(2, 2, PixelFormat::Rgba8).with_alpha(AlphaMode::Straight)));
    clear.link().frame(|next| next.write(&[9; 16])).unwrap();
    let error = clear.image(&mut NoGl, options).unwrap_err().to_string();
    assert!(error.contains("background"), "{error}");
    let mut numbers = open(SurfaceDesc::buffer(16));
    numbers.link().frame(|next| next.write(&[9; 16])).unwrap();
    let error = numbers.image(&mut NoGl, options).unwrap_err().to_string();
    assert!(error.contains("buffer"), "{error}");
}
