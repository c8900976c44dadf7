//! Draws of the user's own, on a device of ours and on an engine's.

use crate::common;
use crate::common::wgpu;
use interop_core::conformance::stored;
use interop_core::{
    Display, Error, Extent, ImageAccess, ImageDesc, ImageView, PixelFormat, Surface, SurfaceDesc, SurfacePart, View,
};
use pixelferry_wgpu::{DrawOptions, OffscreenTarget, Viewport, WgpuDisplay, WgpuImage};

fn image(display: &WgpuDisplay, width: u32, height: u32, format: PixelFormat, bytes: &[u8]) -> Surface {
    stored(display, &SurfaceDesc::image(width, height, format), bytes).unwrap()
}

fn draw(display: &WgpuDisplay, surface: &Surface, size: (u32, u32), at: Viewport, options: DrawOptions) -> Vec<u8> {
    let target = display.create_offscreen_target(size.0, size.1).unwrap();
    let clear = Some(wgpu::Color::BLACK);
    display.draw_to(surface, target.view(), OffscreenTarget::FORMAT.format, clear, at, options).unwrap();
    target.read_pixels().unwrap()
}

fn reds(pixels: &[u8]) -> Vec<u8> {
    pixels.chunks(4).map(|p| p[0]).collect()
}

#[test]
fn an_engines_pass_with_depth_and_samples() {
    let Some(display) = common::display() else { return };
    let (device, queue) = (display.wgpu_device(), display.wgpu_queue());
    let surface = image(&display, 2, 1, PixelFormat::Rgba8, &[255, 0, 0, 255, 0, 255, 0, 255]);
    let make = |format, samples, usage| {
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: 8, height: 8, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: samples,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        });
        texture.create_view(&wgpu::TextureViewDescriptor::default())
    };
    let target = display.create_offscreen_target(8, 8).unwrap();
    let attachment = wgpu::TextureUsages::RENDER_ATTACHMENT;
    let color = make(wgpu::TextureFormat::Rgba8Unorm, 4, attachment);
    let depth = make(wgpu::TextureFormat::Depth24PlusStencil8, 4, attachment);
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &color,
                depth_slice: None,
                resolve_target: Some(target.view()),
                ops: wgpu::Operations::default(),
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Store }),
                stencil_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0), store: wgpu::StoreOp::Store }),
            }),
            ..wgpu::RenderPassDescriptor::default()
        });
        let kind = OffscreenTarget::FORMAT.with_samples(4).with_depth_stencil(wgpu::TextureFormat::Depth24PlusStencil8);
        let left = Viewport { x: 0, y: 0, width: 2, height: 1 };
        let right = Viewport { x: 6, y: 7, ..left };
        for viewport in [left, right] {
            display.draw(&surface, &mut pass, kind, viewport, DrawOptions::default()).unwrap();
        }
    }
    queue.submit([encoder.finish()]);
    let found = target.read_pixels().unwrap();
    let at = |x: usize, y: usize| [found[(y * 8 + x) * 4], found[(y * 8 + x) * 4 + 1]];
    assert_eq!([at(0, 0), at(1, 0), at(2, 0), at(0, 1)], [[255, 0], [0, 255], [0, 0], [0, 0]]);
    assert_eq!([at(6, 7), at(7, 7), at(5, 7)], [[255, 0], [0, 255], [0, 0]]);
}

/// The vertices are a computed buffer, and the colour is a computed picture.
#[test]
fn surfaces_serve_a_pipeline_of_the_users() {
    const SHADER: &str = "
@group(0) @binding(0) var picture: texture_2d<f32>;
@vertex fn corner(@location(0) at: vec2<f32>) -> @builtin(position) vec4<f32> { return vec4<f32>(at, 0.0, 1.0); }
@fragment fn color() -> @location(0) vec4<f32> { return textureLoad(picture, vec2<u32>(1u, 0u), 0); }";
    let Some(display) = common::display() else { return };
    let (device, queue) = (display.wgpu_device(), display.wgpu_queue());
    let corners = [-1.0, -1.0, 3.0, -1.0, -1.0, 3.0_f32].map(f32::to_ne_bytes).concat();
    let vertices = stored(&*display, &SurfaceDesc::buffer(24), &corners).unwrap();
    let surface = image(&display, 2, 1, PixelFormat::Rgba8, &[0, 0, 0, 0, 1, 2, 3, 255]);
    let WgpuImage::Texture(_, view) = display.surface_image(&surface).unwrap() else {
        panic!("an image with storage is a texture")
    };
    let lent = display.surface_buffer(&vertices).unwrap();
    assert_eq!((lent.offset, lent.len), (0, 24));
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: None,
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[Some(wgpu::VertexBufferLayout {
                array_stride: 8,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &wgpu::vertex_attr_array![0 => Float32x2],
            })],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: None,
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: None,
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(OffscreenTarget::FORMAT.format.into())],
        }),
        multiview_mask: None,
        cache: None,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&view) }],
    });
    let target = display.create_offscreen_target(3, 3).unwrap();
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = common::pass(&mut encoder, target.view(), wgpu::LoadOp::Load);
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.set_vertex_buffer(0, lent.buffer.slice(lent.offset..lent.offset + lent.len));
        pass.draw(0..3, 0..1);
    }
    queue.submit([encoder.finish()]);
    assert_eq!(target.read_pixels().unwrap(), [1, 2, 3, 255].repeat(9));
}

/// Opens a device as an engine does that knows nothing of us.
fn engine() -> std::sync::Arc<WgpuDisplay> {
    let adapter = common::adapter();
    let (device, queue) = common::ready(adapter.request_device(&wgpu::DeviceDescriptor::default())).unwrap();
    WgpuDisplay::from_engine(&adapter, device, queue).unwrap()
}

#[test]
fn an_engines_device_offers_what_the_engine_switched_on() {
    if common::display().is_none() {
        return;
    }
    let display = engine();
    let caps = format!("{:?}", display.caps());
    // OpenGL has no switches.
    let all = common::is_opengl();
    assert!(all || caps.contains("VK_EXT_external_memory_host"), "the reason names the extension: {caps}");
    let surface = image(&display, 3, 1, PixelFormat::Rgba16F, &[0; 24]);
    display.draw_offscreen(&surface).unwrap();
    display.finish().unwrap();
    let pages = interop_core::HostBlock::allocate(4096).unwrap();
    match display.create_staging(interop_core::StagingKind::Imported(pages), 4096) {
        Ok(_) => assert!(all),
        Err(error) => assert!(!all && error.to_string().contains("VK_EXT_external_memory_host"), "{error}"),
    }
}

#[test]
fn an_engines_device_opened_by_us_shares_as_ours_does() {
    let Some(own) = common::display() else { return };
    let adapter = common::adapter_of(&own);
    let (device, queue) = pixelferry_wgpu::open_device(&adapter, &wgpu::DeviceDescriptor::default()).unwrap();
    let display = WgpuDisplay::from_engine(&adapter, device, queue).unwrap();
    // Each is a queue of its own.
    let shared = |display: &WgpuDisplay| {
        let imports = display.caps().imports.iter();
        let others = imports.filter(|cap| !matches!(cap.handle, interop_core::HandleType::QueueBuffer(_)));
        format!("{:?}", others.collect::<Vec<_>>())
    };
    assert_eq!(shared(&display), shared(&own));
    display.poll().unwrap();

    let surface = image(&display, 3, 2, PixelFormat::R8, &[1, 2, 3, 4, 5, 6]);
    let texture = display.surface_texture(&surface).unwrap().texture();
    assert_eq!((texture.width(), texture.height()), (3, 2));
    assert!(matches!(own.surface_texture(&surface), Err(Error::Foreign { .. })));
    // Rows in a buffer are no texture.
    let desc = SurfaceDesc::Image(ImageDesc::new(3, 2, PixelFormat::R8).with_access(ImageAccess::Any));
    let mut rows = display.create_in_place_surface(&desc).unwrap();
    let staging = display.create_staging(interop_core::StagingKind::Persistent, 512).unwrap();
    let view = ImageView::packed(Extent::new(3, 2), PixelFormat::R8, 4, 0, false).unwrap();
    rows.read_in_place(&staging, &View::Image(view)).unwrap();
    assert!(matches!(display.surface_texture(&rows), Err(Error::Unsupported { .. })));
}

#[test]
fn wrong_calls_are_refused_and_leave_everything_usable() {
    let Some(display) = common::display() else { return };
    let other = WgpuDisplay::headless(common::options()).unwrap();
    let surface = image(&display, 2, 2, PixelFormat::R8, &[1, 2, 3, 4]);
    let target = display.create_offscreen_target(4, 4).unwrap();
    let (all, plain) = (Viewport::full(4, 4), DrawOptions::default());
    let format = OffscreenTarget::FORMAT.format;
    let foreign = other.draw_to(&surface, target.view(), format, None, all, plain).unwrap_err();
    assert!(matches!(foreign, Error::Foreign { .. }), "{foreign}");
    for wrong in [Viewport::full(0, 1), Viewport::full(u32::MAX, 1)] {
        let error = display.draw_to(&surface, target.view(), format, None, wrong, plain).unwrap_err();
        assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
    }
    // The view is of another format: wgpu's own words, as an error.
    let wrong = wgpu::TextureFormat::Rgba32Float;
    let error = display.draw_to(&surface, target.view(), wrong, None, all, plain).unwrap_err();
    assert!(matches!(error, Error::Driver(_)), "{error}");
    let buffer = display.create_surface(&SurfaceDesc::buffer(10)).unwrap();
    assert!(display.draw_to(&buffer, target.view(), format, None, all, plain).is_err());
    assert!(display.surface_buffer(&surface).is_err());
    assert!(display.surface_image(&buffer).is_err());
    let side = display.caps().max_image_side;
    assert!(display.create_surface(&SurfaceDesc::image(side + 1, 1, PixelFormat::R8)).is_err());
    assert!(display.create_offscreen_target(0, 4).is_err());
    let any = ImageDesc::new(2, 2, PixelFormat::R8).with_access(ImageAccess::Any);
    let empty = display.create_in_place_surface(&SurfaceDesc::Image(any)).unwrap();
    let nothing = display.draw_to(&empty, target.view(), format, None, all, plain).unwrap_err();
    assert!(matches!(nothing, Error::NothingShown), "{nothing}");
    assert_eq!(reds(&draw(&display, &surface, (2, 2), Viewport::full(2, 2), plain)), [1, 2, 3, 4]);
}

#[test]
fn a_destroyed_device_is_an_error() {
    let Some(display) = common::display() else { return };
    let mut surface = image(&display, 2, 2, PixelFormat::R8, &[1, 2, 3, 4]);
    display.wgpu_device().destroy();
    // wgpu tells of it once the queue is empty.
    display.wgpu_device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let desc = SurfaceDesc::image(2, 2, PixelFormat::R8);
    assert!(display.create_surface(&desc).is_err());
    assert!(surface.read_back(&SurfacePart::full(&desc)).is_err());
    assert!(display.draw_offscreen(&surface).is_err());
    let error = display.finish().unwrap_err();
    assert!(error.to_string().contains("lost"), "{error}");
}

/// An engine keeps its own callback of a lost device, so nobody tells the display: its fences fail.
#[test]
fn an_engines_destroyed_device_is_an_error_too() {
    if common::display().is_none() {
        return;
    }
    let display = engine();
    let mut surface = image(&display, 2, 2, PixelFormat::R8, &[1, 2, 3, 4]);
    display.wgpu_device().destroy();
    assert!(surface.read_back(&SurfacePart::full(&SurfaceDesc::image(2, 2, PixelFormat::R8))).is_err());
    assert!(matches!(display.finish().unwrap_err(), Error::Driver(_)));
}

#[test]
fn an_adapter_that_is_not_there() {
    let options = common::options().with_name("no such thing");
    let error = WgpuDisplay::headless(options).map(drop).unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error}");
}
