//! Draws by a compute shader and by a triangle: the same pixels in the same places, and a reason where there is no choice.

use crate::common;
use crate::common::wgpu;
use interop_core::draw::{Obstacle, Why};
use interop_core::{AlphaMode, Display as _, Encoding, Extent, ImageDesc, ImageView, Part, PixelFormat};
use interop_core::{Surface, SurfaceDesc, View};
use pixelferry_testing::has;
use std::rc::Rc;
use wgpu_display::{DrawOptions, DrawTarget, Drawn, Fit, Manner, OffscreenTarget, Viewport, WgpuDisplay};

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const SIDE: u32 = 16;
const ALL: Viewport = Viewport::full(SIDE, SIDE);
const BOTH: wgpu::TextureUsages = wgpu::TextureUsages::RENDER_ATTACHMENT
    .union(wgpu::TextureUsages::STORAGE_BINDING)
    .union(wgpu::TextureUsages::COPY_SRC);

/// Takes no stores, but copies.
const COPIED: wgpu::TextureUsages =
    wgpu::TextureUsages::RENDER_ATTACHMENT.union(wgpu::TextureUsages::COPY_DST).union(wgpu::TextureUsages::COPY_SRC);

fn by(manner: Manner) -> DrawOptions {
    DrawOptions::default().with_manner(manner)
}

/// A display that has compute shaders; says SKIPPED where the driver has none.
fn display() -> Option<Rc<WgpuDisplay>> {
    let display = common::display()?;
    let target = display.create_offscreen_target(1, 1).unwrap();
    let stores = target.texture().usage().contains(wgpu::TextureUsages::STORAGE_BINDING);
    let found = if stores { Ok(()) } else { Err("no shader stores to RGBA8") };
    has("compute shaders", common::described(&display), found).map(|()| display)
}

fn surface(display: &WgpuDisplay, image: ImageDesc) -> Box<dyn Surface> {
    let desc = SurfaceDesc::Image(image);
    let view = ImageView::packed(image.extent, image.format, 1, 0, false).unwrap();
    let bytes: Vec<u8> = (0..view.extent.pixels() * 4).map(|at| (at * 37 + 11) as u8).collect();
    let mut surface = display.create_surface(&desc).unwrap();
    surface.upload(&Part::full(&desc), &bytes, &View::Image(view)).unwrap();
    surface
}

fn plain(display: &WgpuDisplay) -> Box<dyn Surface> {
    surface(display, ImageDesc::new(5, 3, PixelFormat::Rgba8))
}

fn translucent(display: &WgpuDisplay) -> Box<dyn Surface> {
    let image = ImageDesc::new(5, 3, PixelFormat::Rgba8);
    surface(display, image.with_encoding(Encoding::Linear).with_alpha(AlphaMode::Straight))
}

/// Numbers outside 0 and 1, which targets of bytes cut off before they blend.
fn outside(display: &WgpuDisplay) -> Box<dyn Surface> {
    let image = ImageDesc::new(4, 1, PixelFormat::Rgba32F).with_alpha(AlphaMode::Premultiplied);
    let desc = SurfaceDesc::Image(image);
    let view = ImageView::packed(image.extent, image.format, 1, 0, false).unwrap();
    let numbers = [-1.0, 0.25, 3.0, 0.25, 0.5, -0.5, 0.1, 2.0, 0.2, 0.4, 0.6, -0.5, 2.0, -2.0, 0.5, 0.0_f32];
    let bytes: Vec<u8> = numbers.iter().flat_map(|v| v.to_ne_bytes()).collect();
    let mut surface = display.create_surface(&desc).unwrap();
    surface.upload(&Part::full(&desc), &bytes, &View::Image(view)).unwrap();
    surface
}

/// RGBA8 with `levels` and `layers`, and a view of the last of them by a descriptor that `change` may change.
fn texture(
    display: &WgpuDisplay,
    usage: wgpu::TextureUsages,
    (levels, layers): (u32, u32),
    dimension: Option<wgpu::TextureViewDimension>,
) -> (wgpu::Texture, wgpu::TextureView) {
    let scale = 1 << (levels - 1);
    let texture = display.wgpu_device().create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: SIDE * scale, height: SIDE * scale, depth_or_array_layers: layers },
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMAT,
        usage,
        view_formats: &[],
    });
    let view = texture.create_view(&wgpu::TextureViewDescriptor {
        dimension,
        base_mip_level: levels - 1,
        mip_level_count: Some(1),
        base_array_layer: layers - 1,
        array_layer_count: Some(1),
        ..wgpu::TextureViewDescriptor::default()
    });
    (texture, view)
}

/// The pixels of a level and layer.
fn read(display: &WgpuDisplay, texture: &wgpu::Texture, level: u32, layer: u32) -> Vec<u8> {
    let (device, queue) = (display.wgpu_device(), display.wgpu_queue());
    let side = texture.width() >> level;
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(256 * side),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(256), rows_per_image: None };
    encoder.copy_texture_to_buffer(
        wgpu::TexelCopyTextureInfo {
            mip_level: level,
            origin: wgpu::Origin3d { z: layer, ..wgpu::Origin3d::ZERO },
            ..texture.as_image_copy()
        },
        wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
        wgpu::Extent3d { width: side, height: side, depth_or_array_layers: 1 },
    );
    queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |_| ());
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let mapped = buffer.get_mapped_range(..).unwrap();
    mapped.chunks_exact(256).flat_map(|row| row[..side as usize * 4].to_vec()).collect()
}

/// Draws by each manner, and compares all of the target with each other, and with the clear colour outside; into a texture
/// that takes stores, and into one that takes copies.
fn both(display: &WgpuDisplay, surface: &dyn Surface, viewport: Viewport, options: DrawOptions, clear: bool) {
    for usage in [BOTH, COPIED] {
        both_into(usage, display, surface, viewport, options, clear);
    }
}

fn both_into(
    usage: wgpu::TextureUsages,
    display: &WgpuDisplay,
    surface: &dyn Surface,
    viewport: Viewport,
    options: DrawOptions,
    clear: bool,
) {
    let (target, target_view) = texture(display, usage, (1, 1), None);
    let color = wgpu::Color { r: 0.2, g: 0.4, b: 0.6, a: 0.8 };
    let [triangle, compute] = Manner::ALL.map(|manner| {
        let options = options.with_manner(manner);
        let cleared = if clear {
            Some(color)
        } else {
            // Far outside: it only clears.
            let outside = Viewport { x: 2 * SIDE as i32, y: 0, width: 1, height: 1 };
            display.draw_to(surface, &target_view, FORMAT, Some(color), outside, by(manner)).unwrap();
            None
        };
        display.draw_to(surface, &target_view, FORMAT, cleared, viewport, options).unwrap();
        let copies = manner == Manner::Compute && !usage.contains(wgpu::TextureUsages::STORAGE_BINDING);
        assert_eq!(display.drawn(), Some(Drawn::new(manner, copies, Why::Asked)));
        read(display, &target, 0, 0)
    });
    let far = triangle.iter().zip(&compute).position(|(a, b)| a.abs_diff(*b) > 2);
    assert_eq!(far, None, "{viewport:?}: the first byte that differs");
    let mut inside = 0;
    for (at, pixel) in (0..).zip(compute.chunks_exact(4)) {
        let (x, y) = (at % SIDE as i32 - viewport.x, at / SIDE as i32 - viewport.y);
        if (0..viewport.width as i32).contains(&x) && (0..viewport.height as i32).contains(&y) {
            inside += usize::from(pixel != [51, 102, 153, 204]);
        } else {
            assert_eq!(pixel, [51, 102, 153, 204], "{viewport:?}: {x}, {y} lies outside");
        }
    }
    assert!(inside > 0, "{viewport:?}: nothing was drawn");
}

#[test]
fn nothing_is_written_outside_the_viewport() {
    let Some(display) = display() else { return };
    let surfaces = [plain(&display), translucent(&display), outside(&display)];
    for (x, y, width, height) in [(3, 2, 7, 9), (-4, -5, 9, 8), (11, 13, 20, 20), (0, 0, 16, 16), (15, 15, 1, 1)] {
        let viewport = Viewport { x, y, width, height };
        for (fit, background) in [(Fit::Stretch, None), (Fit::Contain, Some([0.1; 3]))] {
            let options = DrawOptions::default().with_fit(fit).with_background(background);
            for (surface, clear) in surfaces.iter().flat_map(|s| [true, false].map(|clear| (s, clear))) {
                both(&display, surface.as_ref(), viewport, options, clear);
            }
        }
    }
}

#[test]
fn a_level_of_a_layer_is_reached_and_no_other() {
    let Some(display) = display() else { return };
    let surface = plain(&display);
    let (texture, view) = texture(&display, BOTH, (2, 3), Some(wgpu::TextureViewDimension::D2));
    let drawn = Manner::ALL.map(|manner| {
        let clear = Some(wgpu::Color::BLACK);
        display.draw_to(surface.as_ref(), &view, FORMAT, clear, ALL, by(manner)).unwrap();
        assert_eq!(display.drawn().unwrap().manner, manner);
        read(&display, &texture, 1, 2)
    });
    assert_eq!(drawn[0], drawn[1]);
    assert!(drawn[0].iter().any(|byte| *byte != 0));
    for (level, layer) in [(0, 0), (0, 2), (1, 0), (1, 1)] {
        assert!(read(&display, &texture, level, layer).iter().all(|byte| *byte == 0), "level {level}, layer {layer}");
    }
}

#[test]
fn what_cannot_be_stored_to_is_drawn_by_a_triangle_with_a_reason() {
    let Some(display) = display() else { return };
    let surface = plain(&display);
    let expected = {
        let target = display.create_offscreen_target(SIDE, SIDE).unwrap();
        display.draw_to(surface.as_ref(), target.view(), FORMAT, None, ALL, by(Manner::Triangle)).unwrap();
        target.read_pixels().unwrap()
    };
    let reason = |texture: &wgpu::Texture, view: &wgpu::TextureView| {
        display.draw_to(surface.as_ref(), view, FORMAT, None, ALL, by(Manner::Compute)).unwrap();
        let drawn = display.drawn().unwrap();
        assert_eq!((drawn.manner, read(&display, texture, 0, 0) == expected), (Manner::Triangle, true), "{drawn}");
        let Why::Only(obstacle) = drawn.why else { panic!("{drawn}") };
        obstacle
    };
    let (attached, view) = texture(&display, BOTH - wgpu::TextureUsages::STORAGE_BINDING, (1, 1), None);
    let found = reason(&attached, &view);
    assert!(matches!(found, Obstacle::Texture(why) if why.contains("STORAGE_BINDING")), "{found}");
    let (layered, view) = texture(&display, COPIED, (1, 2), Some(wgpu::TextureViewDimension::D2));
    display.draw_to(surface.as_ref(), &view, FORMAT, None, ALL, by(Manner::Compute)).unwrap();
    let why = display.drawn().unwrap().why;
    assert!(matches!(why, Why::Only(Obstacle::Texture(why)) if why.contains("layers")), "{why}");
    assert_eq!(read(&display, &layered, 0, 1), expected);
    let written = COPIED - wgpu::TextureUsages::COPY_SRC;
    let (_, view) = texture(&display, written, (1, 1), None);
    for (picture, copies) in [(plain(&display), true), (translucent(&display), false)] {
        display.draw_to(picture.as_ref(), &view, FORMAT, None, ALL, by(Manner::Compute)).unwrap();
        let drawn = display.drawn().unwrap();
        assert_eq!((drawn.copies, matches!(drawn.why, Why::Asked)), (copies, copies), "what blends is read: {drawn}");
    }
    // A view for one use only, of a texture for both: only wgpu can tell.
    let (both, _) = texture(&display, BOTH, (1, 1), None);
    let usage = Some(wgpu::TextureUsages::RENDER_ATTACHMENT);
    let view = both.create_view(&wgpu::TextureViewDescriptor { usage, ..wgpu::TextureViewDescriptor::default() });
    for _ in 0..2 {
        let found = reason(&both, &view);
        assert!(matches!(found, Obstacle::Refused(_)), "{found}");
    }
    // Such a view speaks for itself only.
    let whole = both.create_view(&wgpu::TextureViewDescriptor::default());
    display.draw_to(surface.as_ref(), &whole, FORMAT, None, ALL, by(Manner::Compute)).unwrap();
    assert_eq!(display.drawn().unwrap().manner, Manner::Compute);
    assert_eq!(read(&display, &both, 0, 0), expected);
    // In a pass of the caller's nothing else can be.
    let target = display.create_offscreen_target(SIDE, SIDE).unwrap();
    let mut encoder = display.wgpu_device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: target.view(),
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations::default(),
            })],
            ..wgpu::RenderPassDescriptor::default()
        });
        let kind: DrawTarget = OffscreenTarget::FORMAT;
        display.draw(surface.as_ref(), &mut pass, kind, ALL, by(Manner::Compute)).unwrap();
    }
    display.wgpu_queue().submit([encoder.finish()]);
    assert_eq!(display.drawn().unwrap().why, Why::Only(Obstacle::InPass));
    assert_eq!(target.read_pixels().unwrap(), expected);
}

/// A device with the least that wgpu promises: stores, but no blending by them.
#[test]
fn what_a_device_does_not_promise_is_not_tried() {
    let Some(own) = display() else { return };
    let adapters = wgpu_display::wgpu_adapters(common::backends());
    let adapter = adapters.into_iter().find(|a| a.get_info().name == own.device().name).unwrap();
    let with = |limits| {
        let descriptor = wgpu::DeviceDescriptor { required_limits: limits, ..wgpu::DeviceDescriptor::default() };
        let (device, queue) = common::ready(adapter.request_device(&descriptor)).unwrap();
        WgpuDisplay::from_engine(&adapter, device, queue).unwrap()
    };
    let why = |display: &WgpuDisplay, surface: &dyn Surface| {
        let target = display.create_offscreen_target(SIDE, SIDE).unwrap();
        display.draw_to(surface, target.view(), FORMAT, None, ALL, by(Manner::Compute)).unwrap();
        assert!(target.read_pixels().unwrap().iter().any(|byte| *byte != 0));
        display.drawn().unwrap().why
    };
    let least = with(wgpu::Limits::default());
    assert_eq!(why(&least, plain(&least).as_ref()), Why::Asked);
    let blends = why(&least, translucent(&least).as_ref());
    assert_eq!(blends, Why::Only(Obstacle::Blends("Rgba8Unorm".into())));
    let none = with(wgpu::Limits::downlevel_webgl2_defaults());
    assert!(matches!(why(&none, plain(&none).as_ref()), Why::Only(Obstacle::NoShader(_))));
}

/// Nobody sees that the first draws are measured.
#[test]
fn the_quicker_manner_is_found_out_by_draws_that_all_look_the_same() {
    let Some(display) = display() else { return };
    let surface = translucent(&display);
    let extent = Extent::new(64, 48);
    let target = display.create_offscreen_target(extent.width, extent.height).unwrap();
    let draw = |options| {
        let all = Viewport::full(extent.width, extent.height);
        let clear = Some(wgpu::Color::WHITE);
        display.draw_to(surface.as_ref(), target.view(), FORMAT, clear, all, options).unwrap();
        target.read_pixels().unwrap()
    };
    assert_eq!(display.drawn(), None);
    let expected = draw(by(Manner::Triangle));
    let manners: Vec<_> = (0..9)
        .map(|_| {
            let found = draw(DrawOptions::default());
            let far = found.iter().zip(&expected).any(|(a, b)| a.abs_diff(*b) > 2);
            assert!(!far, "a draw that is measured looks different");
            display.drawn().unwrap()
        })
        .collect();
    let measured =
        |manner| manners.iter().filter(|drawn| drawn.manner == manner && drawn.why == Why::Measuring).count();
    assert_eq!(Manner::ALL.map(measured), [4, 4]);
    assert!(matches!(manners[8].why, Why::Measured { .. }), "it is decided: {}", manners[8]);
}

/// For those who measure, who ask for one or for neither.
#[test]
fn what_nobody_sees_is_drawn_in_the_manner_that_is_asked_for() {
    let Some(display) = display() else { return };
    for surface in [plain(&display), translucent(&display)] {
        for manner in Manner::ALL {
            display.draw_offscreen_by(surface.as_ref(), Some(manner)).unwrap();
            assert_eq!(display.drawn().unwrap().manner, manner);
        }
        display.draw_offscreen(surface.as_ref()).unwrap();
        assert_ne!(display.drawn().unwrap().why, Why::Measuring, "it is settled at once");
    }
}
