//! Draws by a compute shader and by a triangle: the same pixels in the same places, and a reason where there is no choice.

use crate::common::{self, read, wgpu};
use crate::manner_rules::{self, Board, PixelRect, by, pictures, plain, translucent};
use interop_core::draw::{MannerReason, Obstacle};
use interop_core::{Display, Surface};
use pixelferry_testing::{by_level, has};
use pixelferry_wgpu::{DrawOptions, DrawTarget, Manner, OffscreenTarget, Viewport, WgpuDisplay};
use std::sync::Arc;

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const SIDE: u32 = 16;
const ALL: Viewport = Viewport::full(SIDE, SIDE);
const BOTH: wgpu::TextureUsages = wgpu::TextureUsages::RENDER_ATTACHMENT
    .union(wgpu::TextureUsages::STORAGE_BINDING)
    .union(wgpu::TextureUsages::COPY_SRC);

const GREY: wgpu::Color = wgpu::Color { r: 0.2, g: 0.4, b: 0.6, a: 0.8 };

/// Takes no stores, but copies.
const COPIED: wgpu::TextureUsages =
    wgpu::TextureUsages::RENDER_ATTACHMENT.union(wgpu::TextureUsages::COPY_DST).union(wgpu::TextureUsages::COPY_SRC);

/// A display that has compute shaders; says SKIPPED where the driver has none.
fn display() -> Option<Arc<WgpuDisplay>> {
    let display = common::display()?;
    let target = display.create_offscreen_target(1, 1).unwrap();
    let stores = target.texture().usage().contains(wgpu::TextureUsages::STORAGE_BINDING);
    let found = if stores { Ok(()) } else { Err("no shader stores to RGBA8") };
    has("compute shaders", common::described(&display), found).map(|()| display)
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

/// A texture that takes stores or, with other usages, copies.
struct Target<'a> {
    display: &'a WgpuDisplay,
    usage: wgpu::TextureUsages,
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    /// The draw itself clears.
    clears: bool,
}

impl<'a> Target<'a> {
    fn new(display: &'a WgpuDisplay, usage: wgpu::TextureUsages, clears: bool) -> Self {
        let (texture, view) = texture(display, usage, (1, 1), None);
        Self { display, usage, texture, view, clears }
    }
}

impl Board for Target<'_> {
    fn display(&self) -> &dyn Display {
        self.display
    }

    fn size(&self) -> (u32, u32) {
        (SIDE, SIDE)
    }

    fn draw(&self, surface: &Surface, (x, y, width, height): PixelRect, options: DrawOptions) {
        let color = self.clears.then_some(GREY);
        if color.is_none() {
            self.clear();
        }
        self.display.draw_to(surface, &self.view, FORMAT, color, Viewport { x, y, width, height }, options).unwrap();
    }

    fn clear(&self) {
        let mut encoder = self.display.wgpu_device().create_command_encoder(&Default::default());
        drop(common::pass(&mut encoder, &self.view, wgpu::LoadOp::Clear(GREY)));
        self.display.wgpu_queue().submit([encoder.finish()]);
    }

    fn read(&self) -> Vec<u8> {
        read(self.display, &self.texture, 0, 0)
    }

    fn copies(&self) -> bool {
        !self.usage.contains(wgpu::TextureUsages::STORAGE_BINDING)
    }
}

#[test]
fn nothing_is_written_outside_the_viewport() {
    let Some(display) = display() else { return };
    let pictures = pictures(&*display);
    let targets = [(BOTH, true), (COPIED, false), (BOTH, false), (COPIED, true)];
    for (usage, clears) in targets.into_iter().take(by_level(2, 4, 4)) {
        let target = Target::new(&display, usage, clears);
        manner_rules::nothing_is_written_outside_the_viewport(&target, &pictures[by_level(1..2, 0..3, 0..3)]);
    }
}

#[test]
fn a_level_of_a_layer_is_reached_and_no_other() {
    let Some(display) = display() else { return };
    let surface = plain(&*display);
    let (texture, view) = texture(&display, BOTH, (2, 3), Some(wgpu::TextureViewDimension::D2));
    let drawn = Manner::ALL.map(|manner| {
        let clear = Some(wgpu::Color::BLACK);
        display.draw_to(&surface, &view, FORMAT, clear, ALL, by(manner)).unwrap();
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
    let surface = plain(&*display);
    let expected = {
        let target = display.create_offscreen_target(SIDE, SIDE).unwrap();
        display.draw_to(&surface, target.view(), FORMAT, None, ALL, by(Manner::Triangle)).unwrap();
        target.read_pixels().unwrap()
    };
    let reason = |texture: &wgpu::Texture, view: &wgpu::TextureView| {
        display.draw_to(&surface, view, FORMAT, None, ALL, by(Manner::Compute)).unwrap();
        let drawn = display.drawn().unwrap();
        assert_eq!((drawn.manner, read(&display, texture, 0, 0) == expected), (Manner::Triangle, true), "{drawn}");
        let MannerReason::Only(obstacle) = drawn.why else { panic!("{drawn}") };
        obstacle
    };
    let (attached, view) = texture(&display, BOTH - wgpu::TextureUsages::STORAGE_BINDING, (1, 1), None);
    let found = reason(&attached, &view);
    assert!(matches!(found, Obstacle::Texture(why) if why.contains("STORAGE_BINDING")), "{found}");
    let (layered, view) = texture(&display, COPIED, (1, 2), Some(wgpu::TextureViewDimension::D2));
    display.draw_to(&surface, &view, FORMAT, None, ALL, by(Manner::Compute)).unwrap();
    let why = display.drawn().unwrap().why;
    assert!(matches!(why, MannerReason::Only(Obstacle::Texture(why)) if why.contains("layers")), "{why}");
    assert_eq!(read(&display, &layered, 0, 1), expected);
    let written = COPIED - wgpu::TextureUsages::COPY_SRC;
    let (_, view) = texture(&display, written, (1, 1), None);
    for (picture, copies) in [(plain(&*display), true), (translucent(&*display), false)] {
        display.draw_to(&picture, &view, FORMAT, None, ALL, by(Manner::Compute)).unwrap();
        let drawn = display.drawn().unwrap();
        assert_eq!(
            (drawn.copies, matches!(drawn.why, MannerReason::Asked)),
            (copies, copies),
            "what blends is read: {drawn}"
        );
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
    display.draw_to(&surface, &whole, FORMAT, None, ALL, by(Manner::Compute)).unwrap();
    assert_eq!(display.drawn().unwrap().manner, Manner::Compute);
    assert_eq!(read(&display, &both, 0, 0), expected);
    // In a pass of the caller's nothing else can be.
    let target = display.create_offscreen_target(SIDE, SIDE).unwrap();
    let mut encoder = display.wgpu_device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = common::pass(&mut encoder, target.view(), wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT));
        let kind: DrawTarget = OffscreenTarget::FORMAT;
        display.draw(&surface, &mut pass, kind, ALL, by(Manner::Compute)).unwrap();
    }
    display.wgpu_queue().submit([encoder.finish()]);
    assert_eq!(display.drawn().unwrap().why, MannerReason::Only(Obstacle::InPass));
    assert_eq!(target.read_pixels().unwrap(), expected);
}

/// A device with the least that wgpu promises: stores, but no blending by them.
#[test]
fn what_a_device_does_not_promise_is_not_tried() {
    let Some(own) = display() else { return };
    let adapter = common::adapter_of(&own);
    let with = |limits| {
        let descriptor = wgpu::DeviceDescriptor { required_limits: limits, ..wgpu::DeviceDescriptor::default() };
        let (device, queue) = common::ready(adapter.request_device(&descriptor)).unwrap();
        WgpuDisplay::from_engine(&adapter, device, queue).unwrap()
    };
    let why = |display: &WgpuDisplay, surface: &Surface| {
        let target = display.create_offscreen_target(SIDE, SIDE).unwrap();
        display.draw_to(surface, target.view(), FORMAT, None, ALL, by(Manner::Compute)).unwrap();
        assert!(target.read_pixels().unwrap().iter().any(|byte| *byte != 0));
        display.drawn().unwrap().why
    };
    let least = with(wgpu::Limits::default());
    assert_eq!(why(&least, &plain(&*least)), MannerReason::Asked);
    let blends = why(&least, &translucent(&*least));
    assert_eq!(blends, MannerReason::Only(Obstacle::Blends("Rgba8Unorm".into())));
    let none = with(wgpu::Limits::downlevel_webgl2_defaults());
    assert!(matches!(why(&none, &plain(&*none)), MannerReason::Only(Obstacle::NoShader(_))));
}

#[test]
fn the_quicker_manner_is_found_out_by_draws_that_all_look_the_same() {
    let Some(display) = display() else { return };
    let surface = translucent(&*display);
    assert_eq!(display.drawn(), None);
    let target = Target::new(&display, BOTH, true);
    let draws = manner_rules::the_quicker_manner_is_found_out(&target, &surface, 9);
    let of =
        |manner| draws.iter().filter(|drawn| drawn.manner == manner && drawn.why == MannerReason::Measuring).count();
    assert_eq!(Manner::ALL.map(of), [4, 4]);
}

#[test]
fn what_nobody_sees_is_drawn_in_the_manner_that_is_asked_for() {
    let Some(display) = display() else { return };
    manner_rules::what_nobody_sees_is_drawn_as_it_is_asked_for(&*display);
}
