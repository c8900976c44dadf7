//! Draws by a compute shader and by a triangle: the same pixels in the same places, and a reason where there is no choice.

use crate::suite::canvas::Canvas;
use crate::suite::common;
use crate::suite::manner_rules::{self, Board as _, both, by, pictures, translucent};
use glow::HasContext as _;
use interop_core::display::Display as _;
use interop_core::draw::{MannerReason, Obstacle};
use pixelferry_gl::{DrawOptions, GlDisplay, Manner, TargetEncoding, Viewport};
use pixelferry_testing::{by_level, has};

const SIDE: i32 = 16;
const SIZE: (u32, u32) = (16, 16);
/// All of the target.
const ALL: manner_rules::PixelRect = (0, 0, 16, 16);

/// A display that has compute shaders; says SKIPPED where the driver has none.
fn display() -> Option<std::sync::Arc<GlDisplay>> {
    let display = common::headless(None)?;
    let version = display.version();
    let found = if version >= (4, 5) { Ok(()) } else { Err(format!("OpenGL {}.{}", version.0, version.1)) };
    has("compute shaders", display.device(), found).map(|()| display)
}

#[test]
fn nothing_is_written_outside_the_viewport() {
    let Some(display) = display() else { return };
    let target = Canvas::new(&display, SIZE, glow::RGBA8);
    manner_rules::nothing_is_written_outside_the_viewport(&target, &pictures(&*display));
}

#[test]
fn levels_layers_and_faces_are_reached() {
    let Some(display) = display() else { return };
    let surface = common::plain(&display);
    let (framebuffer, attachment) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
    // SAFETY: the context is current and the texture bound, in each.
    unsafe {
        let array = Canvas::over(&display, SIZE, glow::TEXTURE_2D_ARRAY, |gl, texture| {
            gl.tex_storage_3d(glow::TEXTURE_2D_ARRAY, 2, glow::RGBA8, 2 * SIDE, 2 * SIDE, 3);
            gl.framebuffer_texture_layer(framebuffer, attachment, Some(texture), 1, 2);
        });
        both(&array, &surface, ALL, DrawOptions::default());
        drop(array);
        let volume = Canvas::over(&display, SIZE, glow::TEXTURE_3D, |gl, texture| {
            gl.tex_storage_3d(glow::TEXTURE_3D, 1, glow::RGBA16F, SIDE, SIDE, 4);
            gl.framebuffer_texture_layer(framebuffer, attachment, Some(texture), 0, 3);
        });
        both(&volume, &surface, ALL, DrawOptions::default());
        drop(volume);
        let cube = Canvas::over(&display, SIZE, glow::TEXTURE_CUBE_MAP, |gl, texture| {
            gl.tex_storage_2d(glow::TEXTURE_CUBE_MAP, 1, glow::SRGB8_ALPHA8, SIDE, SIDE);
            let face = glow::TEXTURE_CUBE_MAP_NEGATIVE_Y;
            gl.framebuffer_texture_2d(framebuffer, attachment, face, Some(texture), 0);
        });
        let encodes = DrawOptions::default().with_target(TargetEncoding::SrgbFormat);
        let light = translucent(&*display);
        for options in [DrawOptions::default(), encodes] {
            both(&cube, &light, ALL, options);
        }
    }
}

#[test]
fn every_storable_format_is_drawn_and_blended_alike() {
    let Some(display) = display() else { return };
    let surfaces = pictures(&*display);
    for format in [
        glow::RGBA8,
        glow::RGBA16F,
        glow::RGBA32F,
        glow::RGB10_A2,
        glow::R11F_G11F_B10F,
        glow::RGBA16,
        glow::RG8,
        glow::RG16,
        glow::RG16F,
        glow::RG32F,
        glow::R8,
        glow::R16,
        glow::R16F,
        glow::R32F,
        glow::SRGB8_ALPHA8,
    ]
    .into_iter()
    .step_by(by_level(7, 1, 1))
    {
        let mut target = Canvas::new(&display, SIZE, format);
        target.steps = match format {
            glow::RGB10_A2 => [0, 0, 0, 85],
            // Six bits, and five of blue: NVIDIA's rasteriser rounds, and its stores cut off.
            glow::R11F_G11F_B10F => [4, 4, 8, 0],
            _ => [0; 4],
        };
        for surface in &surfaces {
            both(&target, surface, (1, 2, 13, 11), DrawOptions::default());
        }
    }
}

#[test]
fn what_cannot_be_stored_to_is_drawn_by_a_triangle_with_a_reason() {
    let Some(display) = display() else { return };
    let surface = common::plain(&display);
    let (framebuffer, attachment, kind) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0, glow::TEXTURE_2D);
    let viewport = Viewport::full(SIDE as u32, SIDE as u32);
    let reason = |target: &Canvas<'_>| {
        display.clear([0.0; 4]).unwrap();
        display.draw(&surface, viewport, by(Manner::Compute)).unwrap();
        let drawn = display.drawn().unwrap();
        assert_eq!(drawn.manner, Manner::Triangle);
        let MannerReason::Only(obstacle) = drawn.why else { panic!("{drawn}") };
        (obstacle, target.read().iter().any(|byte| *byte != 0))
    };
    // SAFETY: the context is current and the texture bound, in each.
    unsafe {
        let renderbuffer = display.gl().create_renderbuffer().unwrap();
        let target = Canvas::over(&display, SIZE, kind, |gl, _| {
            gl.bind_renderbuffer(glow::RENDERBUFFER, Some(renderbuffer));
            gl.renderbuffer_storage(glow::RENDERBUFFER, glow::RGBA8, SIDE, SIDE);
            gl.framebuffer_renderbuffer(framebuffer, attachment, glow::RENDERBUFFER, Some(renderbuffer));
        });
        assert_eq!(reason(&target), (Obstacle::NoTexture, true));
        drop(target);
        display.gl().delete_renderbuffer(renderbuffer);

        let target = Canvas::new(&display, SIZE, glow::RGB565);
        assert_eq!(reason(&target), (Obstacle::Format("the internal format 0x8d62".into()), true));
        drop(target);

        // Filtered by levels that it does not have, as textures are unless told otherwise.
        let target = Canvas::over(&display, SIZE, kind, |gl, texture| {
            let none = glow::PixelUnpackData::Slice(None);
            let format = glow::RGBA8 as i32;
            gl.tex_image_2d(kind, 0, format, SIDE, SIDE, 0, glow::RGBA, glow::UNSIGNED_BYTE, none);
            gl.framebuffer_texture_2d(framebuffer, attachment, kind, Some(texture), 0);
        });
        assert!(matches!(reason(&target), (Obstacle::Texture(why), true) if why.contains("levels")));
        display.gl().bind_texture(kind, Some(target.texture));
        display.gl().tex_parameter_i32(kind, glow::TEXTURE_MIN_FILTER, glow::LINEAR as i32);
        display.gl().bind_texture(kind, None);
        both(&target, &surface, ALL, DrawOptions::default());
        drop(target);

        let samples = glow::TEXTURE_2D_MULTISAMPLE;
        let target = Canvas::over(&display, SIZE, samples, |gl, texture| {
            gl.tex_storage_2d_multisample(samples, 4, glow::RGBA8, SIDE, SIDE, true);
            gl.framebuffer_texture_2d(framebuffer, attachment, samples, Some(texture), 0);
        });
        let resolved = Canvas::new(&display, SIZE, glow::RGBA8);
        display.gl().bind_framebuffer(glow::DRAW_FRAMEBUFFER, Some(target.framebuffer));
        assert!(matches!(reason(&resolved), (Obstacle::Texture(why), _) if why.contains("samples")));
    }
    let Some(old) = common::headless(Some((3, 3))) else { return };
    let surface = common::plain(&old);
    let target = old.create_offscreen_target(4, 4).unwrap();
    target.bind().unwrap();
    old.draw(&surface, Viewport::full(4, 4), by(Manner::Compute)).unwrap();
    assert!(matches!(old.drawn().unwrap().why, MannerReason::Only(Obstacle::NoShader(_))));
}

/// And nothing is left of the measurement.
#[test]
fn the_quicker_manner_is_found_out_by_draws_that_all_look_the_same() {
    let Some(display) = display() else { return };
    let surface = translucent(&*display);
    let target = Canvas::new(&display, (64, 48), glow::RGBA8);
    assert_eq!(display.drawn(), None);
    manner_rules::the_quicker_manner_is_found_out(&target, &surface, 40);
    let before = display.object_counts();
    for manner in Manner::ALL {
        target.draw(&surface, (0, 0, 64, 48), by(manner));
    }
    display.finish().unwrap();
    let after = display.object_counts();
    assert_eq!((before.queries, after), (0, before), "what measured is gone, and draws leave nothing");
}

#[test]
fn what_nobody_sees_is_drawn_in_the_manner_that_is_asked_for() {
    let Some(display) = display() else { return };
    manner_rules::what_nobody_sees_is_drawn_as_it_is_asked_for(&*display);
}
