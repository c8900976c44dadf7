//! Draws into a window's own framebuffer by either manner: the same pixels, and the same state afterwards.

use crate::common;
use crate::engine::Engine;
use crate::state::{make_unusual, unchanged};
use gl_display::{AlphaMode, DrawOptions, Drawn, Encoding, GlDisplay, Manner, TargetEncoding, Viewport};
use glow::HasContext as _;
use interop_core::conformance::Drawing;
use interop_core::display::{Display as _, Part, Surface};
use interop_core::draw::{Obstacle, Why};
use interop_core::{ImageDesc, PixelFormat, SurfaceDesc};
use pixelferry_testing::{Level, by_level, level};

/// Of the framebuffer; larger than what is drawn.
const SIZE: (u32, u32) = (40, 24);

const BEFORE: [f32; 4] = [0.25, 0.5, 0.75, 0.5];

fn surface(display: &GlDisplay, image: ImageDesc, pixels: &[u8]) -> Box<dyn Surface> {
    let desc = SurfaceDesc::Image(image);
    let mut surface = display.create_surface(&desc).unwrap();
    surface.upload(&Part::full(&desc), pixels, &common::tight(&desc)).unwrap();
    surface
}

fn patterned(display: &GlDisplay, image: ImageDesc) -> Box<dyn Surface> {
    surface(display, image, &common::pattern(&common::tight(&SurfaceDesc::Image(image)), 1))
}

/// Two pictures: one that covers, and one that blends.
fn pictures(display: &GlDisplay) -> [Box<dyn Surface>; 2] {
    let plain = ImageDesc::new(5, 3, PixelFormat::Rgba8);
    let light = plain.with_encoding(Encoding::Linear).with_alpha(AlphaMode::Straight);
    [plain, light].map(|image| patterned(display, image))
}

/// A part of the framebuffer, bottom row first.
fn read(gl: &glow::Context, (x, y, width, height): (u32, u32, u32, u32)) -> Vec<u8> {
    let mut bytes = vec![0; (width * height * 4) as usize];
    let data = glow::PixelPackData::Slice(Some(&mut bytes));
    let [x, y, width, height] = [x, y, width, height].map(|v| v as i32);
    // SAFETY: the context is current; rows of 4-byte pixels are aligned as they are tight.
    unsafe { gl.read_pixels(x, y, width, height, glow::RGBA, glow::UNSIGNED_BYTE, data) };
    bytes
}

/// Mesa passes over `glClearBufferfv` in framebuffers of pbuffers, by which a display clears.
fn clear(gl: &glow::Context, [r, g, b, a]: [f32; 4]) {
    // SAFETY: the context is current.
    unsafe {
        gl.clear_color(r, g, b, a);
        gl.clear(glow::COLOR_BUFFER_BIT);
    }
}

fn all(gl: &glow::Context) -> Vec<u8> {
    read(gl, (0, 0, SIZE.0, SIZE.1))
}

/// Fails unless `manner` drew it, where a compute shader can do it.
fn assert_drawn(drawn: Option<Drawn>, manner: Manner) {
    assert_eq!(drawn, Some(Drawn::new(manner, manner == Manner::Compute, Why::Asked)));
}

/// What is drawn into a corner that is not the framebuffer's, upside down as images are.
fn draw_case(display: &GlDisplay, case: &Drawing, manner: Manner) -> Vec<u8> {
    let (width, height) = (Drawing::AREA.width, Drawing::AREA.height);
    let row = |image: &ImageDesc| image.extent.width as usize * image.format.bytes_per_pixel();
    let flipped: Vec<u8> = case.pixels.chunks_exact(row(&case.image)).rev().flatten().copied().collect();
    let surface = surface(display, case.image, &flipped);
    clear(display.gl(), case.before);
    let viewport = Viewport { x: 9, y: 5, width, height };
    display.draw(surface.as_ref(), viewport, case.options.with_manner(manner)).unwrap();
    let found = read(display.gl(), (9, 5, width, height));
    found.chunks_exact(width as usize * 4).rev().flatten().copied().collect()
}

#[test]
fn every_drawing_is_as_the_reference() {
    for (bits, step) in [((8, 0), by_level(16, 1, 1)), ((8, 8), by_level(48, 3, 3))] {
        let Some(engine) = Engine::with_framebuffer(SIZE, bits) else { return };
        let display = engine.pixelferry(None);
        let fits = |case: &Drawing| (case.target, case.options.target) == (PixelFormat::Rgba8, TargetEncoding::Srgb);
        let (mut wrong, mut blended) = (Vec::new(), 0);
        for case in Drawing::all().into_iter().filter(fits).step_by(step) {
            let expected = case.expected().unwrap();
            for manner in Manner::ALL {
                let mut found = draw_case(&display, &case, manner);
                if bits.1 == 0 {
                    // There is none that could be read.
                    found.chunks_exact_mut(4).zip(expected.chunks_exact(4)).for_each(|(found, e)| found[3] = e[3]);
                }
                wrong.extend(case.check(&found).err().map(|e| format!("{manner}: {e}")));
                assert_drawn(display.drawn(), manner);
            }
            blended += usize::from(case.image.alpha.is_translucent() && case.options.background.is_none());
        }
        assert!(wrong.is_empty(), "{} wrong, the first: {}", wrong.len(), wrong[0]);
        assert!(blended > 0 || level() == Level::Short);
    }
}

#[test]
fn nothing_is_written_outside_the_viewport() {
    // Numbers of 10 bits are read as bytes.
    for bits in [(8, 0), (8, 8), (10, 2)] {
        let Some(engine) = Engine::with_framebuffer(SIZE, bits) else { return };
        let display = engine.pixelferry(None);
        let gl = engine.glow();
        let places = [(3, 2, 7, 9), (-4, -5, 30, 8), (31, 17, 400, 300), (0, 0, 40, 24), (39, 23, 1, 1)];
        for (picture, (x, y, width, height)) in pictures(&display).iter().flat_map(|p| places.map(|place| (p, place))) {
            let viewport = Viewport { x, y, width, height };
            clear(&gl, BEFORE);
            let before = all(&gl);
            let [triangle, compute] = Manner::ALL.map(|manner| {
                clear(&gl, BEFORE);
                let options = DrawOptions::default().with_manner(manner);
                display.draw(picture.as_ref(), viewport, options).unwrap();
                assert_drawn(display.drawn(), manner);
                all(&gl)
            });
            assert_ne!(compute, before, "{viewport:?}: nothing was drawn");
            let far = triangle.iter().zip(&compute).position(|(a, b)| a.abs_diff(*b) > 2);
            assert_eq!(far, None, "{viewport:?} of {bits:?} bits: the first byte that differs");
            for (at, (found, before)) in (0..).zip(compute.chunks_exact(4).zip(before.chunks_exact(4))) {
                let (px, py) = (at % SIZE.0 as i32 - x, at / SIZE.0 as i32 - y);
                let inside = (0..width as i32).contains(&px) && (0..height as i32).contains(&py);
                assert!(inside || found == before, "{viewport:?}: {px}, {py} lies outside, and is {found:?}");
            }
        }
        let outside = Viewport { x: 40, y: -20, width: 9, height: 9 };
        for manner in Manner::ALL {
            clear(&gl, BEFORE);
            let before = all(&gl);
            let options = DrawOptions::default().with_manner(manner);
            display.draw(pictures(&display)[1].as_ref(), outside, options).unwrap();
            assert_eq!(all(&gl), before, "{manner}: all of it lies outside");
        }
    }
}

#[test]
fn the_state_stays_whatever_it_is() {
    let Some(engine) = Engine::with_framebuffer(SIZE, (8, 0)) else { return };
    let gl = engine.glow();
    let display = engine.pixelferry(None);
    let pictures = pictures(&display);
    let options = |manner| DrawOptions::default().with_manner(manner);
    let draw = |picture: &dyn Surface, manner| {
        // All is drawn over.
        display.draw(pictures[0].as_ref(), Viewport::full(SIZE.0, SIZE.1), options(Manner::Triangle)).unwrap();
        display.draw(picture, Viewport::full(SIZE.0, SIZE.1), options(manner)).unwrap();
        assert_drawn(display.drawn(), manner);
    };
    let expected = pictures.each_ref().map(|picture| {
        draw(picture.as_ref(), Manner::Triangle);
        all(&gl)
    });
    for on in [true, false] {
        make_unusual(&gl, on, true);
        // SAFETY: the engine's context is current; the framebuffer is complete, and reads from another than it draws to.
        unsafe {
            let (framebuffer, texture) = (gl.create_framebuffer().unwrap(), gl.create_texture().unwrap());
            gl.bind_framebuffer(glow::READ_FRAMEBUFFER, Some(framebuffer));
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA8, 4, 4);
            let attachment = glow::COLOR_ATTACHMENT0;
            gl.framebuffer_texture_2d(glow::READ_FRAMEBUFFER, attachment, glow::TEXTURE_2D, Some(texture), 0);
        }
        for (picture, expected) in pictures.iter().zip(&expected) {
            unchanged(&gl, "a draw into a window", || draw(picture.as_ref(), Manner::Compute));
            // SAFETY: the engine's context is current.
            unsafe {
                let read_from = gl.get_parameter_framebuffer(glow::READ_FRAMEBUFFER_BINDING);
                gl.bind_framebuffer(glow::READ_FRAMEBUFFER, None);
                let packing = [glow::PACK_ROW_LENGTH, glow::PACK_SKIP_ROWS, glow::PACK_SKIP_PIXELS];
                let kept = packing.map(|name| gl.get_parameter_i32(name));
                let swaps = [glow::PACK_SWAP_BYTES, glow::PACK_LSB_FIRST];
                gl.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
                packing.iter().chain(&swaps).for_each(|name| gl.pixel_store_i32(*name, 0));
                let far = all(&gl).iter().zip(expected).any(|(a, b)| a.abs_diff(*b) > 2);
                packing.iter().zip(kept).for_each(|(name, value)| gl.pixel_store_i32(*name, value));
                swaps.iter().for_each(|name| gl.pixel_store_i32(*name, 1));
                gl.bind_framebuffer(glow::READ_FRAMEBUFFER, read_from);
                assert!(!far, "another picture in unusual state");
            }
        }
    }
}

#[test]
fn what_no_picture_is_copied_into_is_drawn_by_a_triangle_with_a_reason() {
    let reason = |display: &GlDisplay, target| {
        let options = DrawOptions::default().with_manner(Manner::Compute).with_target(target);
        display.draw(pictures(display)[0].as_ref(), Viewport::full(SIZE.0, SIZE.1), options).unwrap();
        let drawn = display.drawn().unwrap();
        assert_eq!((drawn.manner, drawn.copies), (Manner::Triangle, false));
        let Why::Only(obstacle) = drawn.why else { panic!("{drawn}") };
        obstacle
    };
    let Some(engine) = Engine::with_framebuffer(SIZE, (8, 8)) else { return };
    let display = engine.pixelferry(None);
    assert_eq!(reason(&display, TargetEncoding::SrgbFormat), Obstacle::Encodes("a window".into()));
    let huge = Viewport { x: -100, y: 0, width: 16384, height: 16384 };
    let options = DrawOptions::default().with_manner(Manner::Compute);
    if display.caps().max_image_side >= 16384 {
        display.draw(pictures(&display)[0].as_ref(), huge, options).unwrap();
        let why = display.drawn().unwrap().why;
        assert!(matches!(why, Why::Only(Obstacle::Window(why)) if why.contains("larger")), "{why}");
    }
    let old = engine.pixelferry(Some((3, 3)));
    assert!(matches!(reason(&old, TargetEncoding::Srgb), Obstacle::NoShader(_)));
    drop((display, old, engine));
    let Some(engine) = Engine::new() else { return };
    let display = engine.pixelferry(None);
    let options = DrawOptions::default().with_manner(Manner::Compute);
    // There is nothing that it could reach.
    let _ = display.draw(pictures(&display)[0].as_ref(), Viewport::full(4, 4), options);
    assert_eq!(display.drawn().unwrap().why, Why::Only(Obstacle::NoTexture));
}

/// Nobody sees that the first draws are measured, and what loses leaves nothing.
#[test]
fn the_quicker_manner_is_found_out_by_draws_that_all_look_the_same() {
    let Some(engine) = Engine::with_framebuffer(SIZE, (8, 0)) else { return };
    let display = engine.pixelferry(None);
    let gl = engine.glow();
    for picture in pictures(&display) {
        let draw = |options| {
            clear(&gl, BEFORE);
            display.draw(picture.as_ref(), Viewport::full(SIZE.0, SIZE.1), options).unwrap();
            display.finish().unwrap();
            all(&gl)
        };
        let expected = draw(DrawOptions::default().with_manner(Manner::Triangle));
        let before = display.object_counts();
        let mut manners = Vec::new();
        for _ in 0..40 {
            let found = draw(DrawOptions::default());
            let far = found.iter().zip(&expected).any(|(a, b)| a.abs_diff(*b) > 2);
            assert!(!far, "a draw that is measured looks different");
            manners.push(display.drawn().unwrap());
        }
        let tried = |manner| manners.iter().any(|drawn| drawn.manner == manner && drawn.why == Why::Measuring);
        assert!(Manner::ALL.into_iter().all(tried), "each was tried");
        let last = manners.last().unwrap();
        assert!(matches!(last.why, Why::Measured { .. }), "it is decided: {last}");
        draw(DrawOptions::default().with_manner(Manner::Triangle));
        assert_eq!(display.object_counts().textures, before.textures, "no texture is left beside the window");
    }
}
