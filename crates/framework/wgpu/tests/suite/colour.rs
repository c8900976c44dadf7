//! Draws with meaning: encodings, alpha, tone maps, fits, into every kind of target.

use crate::colours::{are_as_the_reference, by, floats_are_not_cut_off, light_goes_from_a_kernel, surface};
use crate::common::{self, wgpu};
use interop_core::conformance::{DrawCase, stored};
use interop_core::describe::color::Curve;
use interop_core::draw::{MannerReason, Obstacle};
use interop_core::{Display as _, Error, ImageAccess, ImageDesc, PixelFormat, Surface, SurfaceDesc};
use pixelferry_testing::by_level;
use pixelferry_wgpu::{DrawOptions, Encoding, Manner, OffscreenTarget, TargetEncoding, Viewport, WgpuDisplay};
use std::collections::BTreeMap;

fn clear_color(case: &DrawCase) -> wgpu::Color {
    let [r, g, b, a] = case.before.map(f64::from);
    wgpu::Color { r, g, b, a }
}

const SIZE: wgpu::Extent3d =
    wgpu::Extent3d { width: DrawCase::AREA.width, height: DrawCase::AREA.height, depth_or_array_layers: 1 };
const ALL: Viewport = Viewport::full(DrawCase::AREA.width, DrawCase::AREA.height);

/// A texture of which a view encodes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum EncodedTexture {
    /// It encodes itself, and is drawn to only.
    Drawn,
    /// It encodes itself, is drawn to, and is copied into and from.
    Copied,
    /// Its own format does not encode, and is stored to.
    Stored,
}

/// Into a texture whose format encodes; its numbers.
fn encoded(display: &WgpuDisplay, case: &DrawCase, surface: &Surface) -> Vec<u8> {
    into(EncodedTexture::Drawn, display, case, surface)
}

fn into(kind: EncodedTexture, display: &WgpuDisplay, case: &DrawCase, surface: &Surface) -> Vec<u8> {
    use wgpu::TextureUsages as Usages;
    let (device, queue) = (display.wgpu_device(), display.wgpu_queue());
    // OpenGL has no views of other formats.
    let other_views = !common::is_opengl();
    let (format, plain) = (wgpu::TextureFormat::Rgba8UnormSrgb, wgpu::TextureFormat::Rgba8Unorm);
    let usage = Usages::RENDER_ATTACHMENT
        | Usages::COPY_SRC
        | match kind {
            EncodedTexture::Drawn => Usages::empty(),
            EncodedTexture::Copied => Usages::COPY_DST,
            EncodedTexture::Stored => Usages::STORAGE_BINDING,
        };
    let (own, views) = if kind == EncodedTexture::Stored { (plain, [format]) } else { (format, [plain]) };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: SIZE,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: own,
        usage,
        view_formats: if other_views { &views } else { &[] },
    });
    let view = |format| {
        texture.create_view(&wgpu::TextureViewDescriptor {
            format: Some(format),
            // One that encodes takes no stores.
            usage: Some(Usages::RENDER_ATTACHMENT),
            ..wgpu::TextureViewDescriptor::default()
        })
    };
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    // By the plain view the numbers are those that are cleared to; by the other they are encoded.
    let (first, before) = match (other_views, clear_color(case)) {
        (true, numbers) => (plain, numbers),
        (false, wgpu::Color { r, g, b, a }) => {
            let [r, g, b] = [r, g, b].map(|v| f64::from(Curve::Srgb.decode(v as f32)));
            (format, wgpu::Color { r, g, b, a })
        }
    };
    drop(common::pass(&mut encoder, &view(first), wgpu::LoadOp::Clear(before)));
    queue.submit([encoder.finish()]);
    display.draw_to(surface, &view(format), format, None, ALL, case.options).unwrap();
    common::read(display, &texture, 0, 0)
}

fn draw(display: &WgpuDisplay, case: &DrawCase, surface: &Surface) -> Vec<u8> {
    if case.options.target == TargetEncoding::SrgbFormat {
        return encoded(display, case, surface);
    }
    let target = display.create_offscreen_target_of(SIZE.width, SIZE.height, case.target).unwrap();
    let (format, clear) = (target.draw_target().format, Some(clear_color(case)));
    display.draw_to(surface, target.view(), format, clear, ALL, case.options).unwrap();
    target.read_pixels().unwrap()
}

#[test]
fn every_drawing_is_as_the_reference() {
    let Some(display) = common::display() else { return };
    let mut done = BTreeMap::new();
    // wgpu takes an OpenGL without GL_ARB_color_buffer_float, as core profiles are, for one without such targets.
    let floats = display.create_offscreen_target_of(4, 4, PixelFormat::Rgba32F).is_ok();
    assert!(floats || common::is_opengl());
    // The programs are the same; OpenGL is to show that its driver runs them.
    let every = if common::is_opengl() { by_level(96, 4, 4) } else { by_level(48, 1, 1) };
    let cases = DrawCase::all().into_iter().step_by(every);
    let cases = cases.filter(|case| floats || case.target != PixelFormat::Rgba32F);
    are_as_the_reference(&*display, cases, ImageAccess::Texture, |case, surface, manner| {
        let pixels = draw(&display, case, surface);
        let drawn = display.drawn().unwrap();
        *done.entry(drawn.to_string()).or_insert(0) += 1;
        let encodes = case.options.target == TargetEncoding::SrgbFormat;
        let reads = matches!(&drawn.why, MannerReason::Only(Obstacle::Blends(_)));
        let expected = if encodes || reads { Manner::Triangle } else { manner };
        assert_eq!(drawn.manner, expected, "{drawn}: {case:?}");
        pixels
    });
    println!("{done:?}");
}

/// Shaders encode what they store: to the hardware's numbers, but for a step of 8 bits.
#[test]
fn formats_that_encode_are_stored_to_by_other_views_and_by_copies() {
    let Some(display) = common::display() else { return };
    let kinds = if common::is_opengl() {
        &[EncodedTexture::Copied][..]
    } else {
        &[EncodedTexture::Copied, EncodedTexture::Stored]
    };
    let (mut far, mut blended) = ([0_u32; 2], 0);
    let cases = || DrawCase::all().into_iter().filter(|c| c.options.target == TargetEncoding::SrgbFormat);
    let cases = || cases().step_by(by_level(18, 1, 1));
    for (case, kind) in cases().flat_map(|case| kinds.iter().map(move |kind| (case.clone(), *kind))) {
        let texture = surface(&*display, &case, ImageAccess::Texture);
        let [triangle, compute] = Manner::ALL.map(|manner| {
            let found = into(kind, &display, &by(manner, &case), &texture);
            case.check(&found).unwrap();
            let drawn = display.drawn().unwrap();
            let blends = matches!(&drawn.why, MannerReason::Only(Obstacle::Blends(_)));
            if common::is_opengl() && manner == Manner::Compute {
                assert!(blends || matches!(&drawn.why, MannerReason::Only(Obstacle::Encodes(_))), "{drawn}");
            } else {
                let copies = (manner, kind) == (Manner::Compute, EncodedTexture::Copied);
                assert_eq!(
                    (drawn.manner, drawn.copies, drawn.why),
                    (manner, copies, MannerReason::Asked),
                    "{kind:?}: {case:?}"
                );
            }
            found
        });
        blended += u32::from(case.image.alpha.is_translucent() && case.options.background.is_none());
        for (a, b) in triangle.iter().zip(&compute) {
            far[0] += u32::from(a != b);
            far[1] = far[1].max(a.abs_diff(*b).into());
        }
    }
    println!("{far:?}: how many bytes differ from the hardware's, and by how much");
    assert!(far[1] <= 1 && blended > 0, "{far:?}");
}

/// Every step of the hardware's curve, from light that lies between.
#[test]
fn the_shaders_curve_is_the_hardwares_within_a_step() {
    let Some(display) = common::display() else { return };
    if common::is_opengl() {
        return;
    }
    const SIDE: u32 = 64;
    let image = ImageDesc::new(SIDE, SIDE, PixelFormat::Rgba32F).with_encoding(Encoding::Linear);
    let desc = SurfaceDesc::Image(image);
    let light = (0..SIDE * SIDE).map(|at| at as f32 / (SIDE * SIDE - 1) as f32);
    let bytes: Vec<u8> = light.flat_map(|v| [v, v * v, v * v * v, 1.0]).flat_map(f32::to_ne_bytes).collect();
    let surface = stored(&*display, &desc, &bytes).unwrap();
    let target = display.create_offscreen_target(SIDE, SIDE).unwrap();
    let format = target.texture().format().add_srgb_suffix();
    let usage = Some(wgpu::TextureUsages::RENDER_ATTACHMENT);
    let descriptor =
        wgpu::TextureViewDescriptor { format: Some(format), usage, ..wgpu::TextureViewDescriptor::default() };
    let encoding = target.texture().create_view(&descriptor);
    let [triangle, compute] = Manner::ALL.map(|manner| {
        let options = DrawOptions::default().with_manner(manner);
        display.draw_to(&surface, &encoding, format, None, Viewport::full(SIDE, SIDE), options).unwrap();
        let drawn = display.drawn().unwrap();
        assert_eq!((drawn.manner, drawn.copies), (manner, false), "{drawn}");
        target.read_pixels().unwrap()
    });
    let differ = triangle.iter().zip(&compute).filter(|(a, b)| a != b).count();
    let most = triangle.iter().zip(&compute).map(|(a, b)| a.abs_diff(*b)).max();
    println!("{differ} of {} numbers differ, by {most:?} at most", 3 * SIDE * SIDE);
    assert!(most <= Some(1) && triangle.contains(&1) && triangle.contains(&254), "{most:?}");
}

#[test]
fn linear_memory_is_drawn_alike() {
    let Some(display) = common::display() else { return };
    let cases = DrawCase::all().into_iter().step_by(by_level(96, 8, 8));
    are_as_the_reference(&*display, cases, ImageAccess::Any, |case, surface, _| draw(&display, case, surface));
}

#[test]
fn floats_are_not_cut_off_on_their_way() {
    let Some(display) = common::display() else { return };
    floats_are_not_cut_off(&*display, |case, surface| draw(&display, case, surface));
}

#[test]
fn a_format_that_encodes_is_known_by_its_name() {
    let Some(display) = common::display() else { return };
    let mut cases = DrawCase::all();
    cases.retain(|c| c.options.target == TargetEncoding::SrgbFormat && c.image.encoding == Encoding::Srgb);
    assert!(!cases.is_empty());
    for case in cases.iter().step_by(by_level(16, 4, 4)) {
        let texture = surface(&*display, case, ImageAccess::Texture);
        let mut default = case.clone();
        default.options.target = TargetEncoding::Srgb;
        case.check(&encoded(&display, &default, &texture)).unwrap();
    }
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let Some(display) = common::display() else { return };
    let case = &DrawCase::all()[0];
    let texture = surface(&*display, case, ImageAccess::Texture);
    let target = display.create_offscreen_target(4, 4).unwrap();
    let plain = DrawOptions::default();
    let encodes = plain.with_target(TargetEncoding::SrgbFormat);
    for options in [plain.with_exposure(f32::NAN), plain.with_exposure(1.0), encodes] {
        let format = OffscreenTarget::FORMAT.format;
        let all = Viewport::full(4, 4);
        let error = display.draw_to(&texture, target.view(), format, None, all, options).unwrap_err();
        assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
    }
    assert_eq!(target.read_pixels().unwrap(), [0; 64], "nothing was drawn");
}

#[test]
fn light_goes_from_a_kernel_to_a_target_of_floats() {
    let Some(display) = common::display() else { return };
    light_goes_from_a_kernel(display.clone(), |surface, options| {
        let target = display.create_offscreen_target_of(4, 2, PixelFormat::Rgba16F).unwrap();
        let format = target.draw_target().format;
        display.draw_to(surface, target.view(), format, None, Viewport::full(4, 2), options).unwrap();
        target.read_pixels().unwrap()
    });
}
