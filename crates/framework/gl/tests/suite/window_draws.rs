//! Draws into a window's own framebuffer by either manner: the same pixels, and the same state afterwards.

use crate::suite::canvas::read;
use crate::suite::colours::{flipped, surface};
use crate::suite::engine::Engine;
use crate::suite::manner_rules::{self, Board, PixelRect, by, pictures, plain, translucent};
use crate::suite::state::{make_unusual, unchanged};
use glow::HasContext as _;
use interop_core::conformance::DrawCase;
use interop_core::display::{Display, Surface};
use interop_core::draw::{MannerReason, Obstacle};
use interop_core::{ImageAccess, PixelFormat};
use pixelferry_gl::{DrawOptions, DrawReport, GlDisplay, Manner, TargetEncoding, Viewport};
use pixelferry_testing::{Level, by_level, level};

/// Size of the framebuffer, which is larger than the drawn part.
const SIZE: (u32, u32) = (40, 24);
const ALL: PixelRect = (0, 0, 40, 24);

/// Mesa passes over `glClearBufferfv` in framebuffers of pbuffers, by which a display clears.
fn clear(gl: &glow::Context, [r, g, b, a]: [f32; 4]) {
    // SAFETY: the context is current.
    unsafe {
        gl.clear_color(r, g, b, a);
        gl.clear(glow::COLOR_BUFFER_BIT);
    }
}

/// The framebuffer that is bound.
struct Window<'a>(&'a GlDisplay);

impl Board for Window<'_> {
    fn display(&self) -> &dyn Display {
        self.0
    }

    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw(&self, surface: &Surface, (x, y, width, height): PixelRect, options: DrawOptions) {
        self.clear();
        self.0.draw(surface, Viewport { x, y, width, height }, options).unwrap();
    }

    fn clear(&self) {
        clear(self.0.gl(), [0.25, 0.5, 0.75, 0.5]);
    }

    fn read(&self) -> Vec<u8> {
        read(self.0.gl(), ALL)
    }

    fn copies(&self) -> bool {
        true
    }
}

/// Fails unless `manner` drew it, where a compute shader can do it.
fn assert_drawn(drawn: Option<DrawReport>, manner: Manner) {
    assert_eq!(drawn, Some(DrawReport::new(manner, manner == Manner::Compute, MannerReason::Asked)));
}

/// Returns what is drawn into a corner that is not the framebuffer's, upside down as images are.
fn draw_case(display: &GlDisplay, case: &DrawCase, manner: Manner) -> Vec<u8> {
    let (width, height) = (DrawCase::AREA.width, DrawCase::AREA.height);
    let surface = surface(display, case, ImageAccess::Texture);
    clear(display.gl(), case.before);
    let viewport = Viewport { x: 9, y: 5, width, height };
    display.draw(&surface, viewport, case.options.with_manner(manner)).unwrap();
    let found = read(display.gl(), (9, 5, width, height));
    flipped(&found, width as usize * 4)
}

#[test]
fn every_drawing_is_as_the_reference() {
    let windows = [((8, 0), by_level(64, 1, 1)), ((8, 8), 3)];
    for (bits, step) in windows.into_iter().take(by_level(1, 2, 2)) {
        let Some(engine) = Engine::with_framebuffer(SIZE, bits) else { return };
        let display = engine.pixelferry(None);
        let fits = |case: &DrawCase| (case.target, case.options.target) == (PixelFormat::Rgba8, TargetEncoding::Srgb);
        let (mut wrong, mut blended) = (Vec::new(), 0);
        for case in DrawCase::all().into_iter().filter(fits).step_by(step) {
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
    for bits in [(8, 0), (8, 8), (10, 2)].into_iter().take(by_level(1, 3, 3)) {
        let Some(engine) = Engine::with_framebuffer(SIZE, bits) else { return };
        let display = engine.pixelferry(None);
        let pictures = pictures(&*display);
        manner_rules::nothing_is_written_outside_the_viewport(&Window(&display), &pictures[..2]);
    }
}

#[test]
fn the_state_stays_whatever_it_is() {
    let Some(engine) = Engine::with_framebuffer(SIZE, (8, 0)) else { return };
    let gl = engine.glow();
    let display = engine.pixelferry(None);
    let pictures = [plain(&*display), translucent(&*display)];
    let draw = |picture: &Surface, manner| {
        // All is drawn over.
        display.draw(&pictures[0], Viewport::full(SIZE.0, SIZE.1), by(Manner::Triangle)).unwrap();
        display.draw(picture, Viewport::full(SIZE.0, SIZE.1), by(manner)).unwrap();
        assert_drawn(display.drawn(), manner);
    };
    let expected = pictures.each_ref().map(|picture| {
        draw(picture, Manner::Triangle);
        read(&gl, ALL)
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
            unchanged(&gl, "a draw into a window", || draw(picture, Manner::Compute));
            // SAFETY: the engine's context is current.
            unsafe {
                let read_from = gl.get_parameter_framebuffer(glow::READ_FRAMEBUFFER_BINDING);
                gl.bind_framebuffer(glow::READ_FRAMEBUFFER, None);
                let packing = [glow::PACK_ROW_LENGTH, glow::PACK_SKIP_ROWS, glow::PACK_SKIP_PIXELS];
                let kept = packing.map(|name| gl.get_parameter_i32(name));
                let swaps = [glow::PACK_SWAP_BYTES, glow::PACK_LSB_FIRST];
                gl.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
                packing.iter().chain(&swaps).for_each(|name| gl.pixel_store_i32(*name, 0));
                let far = read(&gl, ALL).iter().zip(expected).any(|(a, b)| a.abs_diff(*b) > 2);
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
        let options = by(Manner::Compute).with_target(target);
        display.draw(&plain(display), Viewport::full(SIZE.0, SIZE.1), options).unwrap();
        let drawn = display.drawn().unwrap();
        assert_eq!((drawn.manner, drawn.copies), (Manner::Triangle, false));
        let MannerReason::Only(obstacle) = drawn.why else { panic!("{drawn}") };
        obstacle
    };
    let Some(engine) = Engine::with_framebuffer(SIZE, (8, 8)) else { return };
    let display = engine.pixelferry(None);
    assert_eq!(reason(&display, TargetEncoding::SrgbFormat), Obstacle::Encodes("a window".into()));
    let huge = Viewport { x: -100, y: 0, width: 16384, height: 16384 };
    if display.caps().max_image_side >= 16384 {
        display.draw(&plain(&*display), huge, by(Manner::Compute)).unwrap();
        let why = display.drawn().unwrap().why;
        assert!(matches!(why, MannerReason::Only(Obstacle::Window(why)) if why.contains("larger")), "{why}");
    }
    let old = engine.pixelferry(Some((3, 3)));
    assert!(matches!(reason(&old, TargetEncoding::Srgb), Obstacle::NoShader(_)));
    drop((display, old, engine));
    let Some(engine) = Engine::new() else { return };
    let display = engine.pixelferry(None);
    // There is nothing that it could reach.
    let drawn = display.draw(&plain(&*display), Viewport::full(4, 4), by(Manner::Compute));
    assert!(drawn.unwrap_err().to_string().contains("GL_FRAMEBUFFER_UNDEFINED"));
}

/// Mesa (22.3) keeps the place of the framebuffer before in `gl_FragCoord` where an engine clears between.
#[test]
fn a_window_is_drawn_upright_after_a_draw_into_another_framebuffer() {
    let Some(engine) = Engine::with_framebuffer(SIZE, (8, 8)) else { return };
    let display = engine.pixelferry(None);
    let (gl, picture) = (display.gl(), plain(&*display));
    let draw = |into, (width, height)| {
        // SAFETY: the engine's context is current; the framebuffer is of it, or the window's own.
        unsafe { gl.bind_framebuffer(glow::FRAMEBUFFER, into) };
        if into.is_none() {
            clear(gl, [0.25, 0.5, 0.75, 0.5]);
        }
        display.draw(&picture, Viewport::full(width, height), by(Manner::Triangle)).unwrap();
    };
    draw(None, SIZE);
    let expected = read(gl, ALL);
    assert_ne!(expected, flipped(&expected, SIZE.0 as usize * 4));
    for size in [SIZE, (SIZE.0, 3 * SIZE.1)] {
        // SAFETY: the engine's context is current.
        let (framebuffer, texture) = unsafe {
            let (framebuffer, texture) = (gl.create_framebuffer().unwrap(), gl.create_texture().unwrap());
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA8, size.0 as i32, size.1 as i32);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let attachment = glow::COLOR_ATTACHMENT0;
            gl.framebuffer_texture_2d(glow::FRAMEBUFFER, attachment, glow::TEXTURE_2D, Some(texture), 0);
            (framebuffer, texture)
        };
        for _ in 0..3 {
            draw(Some(framebuffer), size);
            draw(None, SIZE);
            assert_eq!(read(gl, ALL), expected, "after a draw into {size:?}");
        }
        // SAFETY: as above; both are of the context.
        unsafe {
            gl.delete_framebuffer(framebuffer);
            gl.delete_texture(texture);
        }
    }
}

/// If the triangle is quicker, no texture is left beside the window.
#[test]
fn the_quicker_manner_is_found_out_by_draws_that_all_look_the_same() {
    let Some(engine) = Engine::with_framebuffer(SIZE, (8, 0)) else { return };
    for picture in [plain, translucent] {
        let display = engine.pixelferry(None);
        let (window, picture) = (Window(&display), picture(&*display));
        window.draw(&picture, ALL, by(Manner::Triangle));
        let before = display.object_counts().textures;
        let draws = manner_rules::the_quicker_manner_is_found_out(&window, &picture, 40);
        let beside = usize::from(draws.last().unwrap().manner == Manner::Compute);
        assert_eq!(display.object_counts().textures, before + beside);
    }
}
