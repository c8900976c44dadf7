//! Draws with meaning: encodings, alpha, tone maps, fits, into every kind of target.

use crate::suite::canvas::Canvas;
use crate::suite::colours::{are_as_the_reference, flipped, floats_are_not_cut_off, light_goes_from_a_kernel, surface};
use crate::suite::manner_rules::Board as _;
use crate::suite::{common, engine};
use glow::HasContext as _;
use interop_core::conformance::DrawCase;
use interop_core::display::{Display as _, Surface};
use interop_core::{AlphaMode, Error, ImageAccess, PixelFormat};
use pixelferry_gl::{DrawOptions, GlDisplay, Manner, TargetEncoding, Viewport};
use pixelferry_testing::by_level;

fn draw(display: &GlDisplay, case: &DrawCase, surface: &Surface) -> Vec<u8> {
    let (width, height) = (DrawCase::AREA.width, DrawCase::AREA.height);
    let all = Viewport::full(width, height);
    if case.options.target == TargetEncoding::SrgbFormat {
        let target = Canvas::new(display, (width, height), glow::SRGB8_ALPHA8);
        display.clear(case.before).unwrap();
        display.draw(surface, all, case.options).unwrap();
        return flipped(&target.read(), width as usize * 4);
    }
    let target = display.create_offscreen_target_of(width, height, case.target).unwrap();
    target.bind().unwrap();
    display.clear(case.before).unwrap();
    display.draw(surface, all, case.options).unwrap();
    target.unbind().unwrap();
    target.read_pixels().unwrap()
}

#[test]
fn every_drawing_is_as_the_reference() {
    // The shaders are the same in every version: old ones draw every sixth.
    for (display, step) in common::displays().zip(by_level([44, 88], [1, 6], [1, 6])) {
        let cases = DrawCase::all().into_iter().step_by(step);
        are_as_the_reference(&*display, cases, ImageAccess::Texture, |case, surface, manner| {
            let pixels = draw(&display, case, surface);
            let expected = if display.version() >= (4, 5) { manner } else { Manner::Triangle };
            assert_eq!(display.drawn().unwrap().manner, expected, "{case:?}");
            pixels
        });
    }
}

#[test]
fn linear_memory_is_drawn_alike() {
    let Some(display) = common::headless(None) else { return };
    let cases = DrawCase::all().into_iter().step_by(by_level(99, 3, 3));
    are_as_the_reference(&*display, cases, ImageAccess::Any, |case, surface, _| draw(&display, case, surface));
}

#[test]
fn floats_are_not_cut_off_on_their_way() {
    let Some(display) = common::headless(None) else { return };
    floats_are_not_cut_off(&*display, |case, surface| draw(&display, case, surface));
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let Some(display) = common::headless(None) else { return };
    let case = &DrawCase::all()[0];
    let texture = surface(&*display, case, ImageAccess::Texture);
    let target = display.create_offscreen_target(4, 4).unwrap();
    assert!(target.read_pixels().is_ok());
    target.bind().unwrap();
    let plain = DrawOptions::default();
    let encodes = plain.with_target(TargetEncoding::SrgbFormat);
    for options in [plain.with_exposure(f32::NAN), plain.with_exposure(1.0), encodes] {
        let error = display.draw(&texture, Viewport::full(4, 4), options).unwrap_err();
        assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
    }
    target.unbind().unwrap();
    assert_eq!(target.read_pixels().unwrap(), [0; 64], "nothing was drawn");
}

/// An engine whose own blending differs for each draw buffer finds it as it was.
#[test]
fn blending_of_the_engine_stays() {
    let Some(engine) = engine::Engine::new() else { return };
    let gl = engine.glow();
    let case = DrawCase::all().into_iter().find(|c| c.image.alpha == AlphaMode::Straight).unwrap();
    for limit in [None, Some((3, 3))] {
        let display = engine.pixelferry(limit);
        let texture = surface(&*display, &case, ImageAccess::Texture);
        let states = || {
            let names = [glow::BLEND_SRC_RGB, glow::BLEND_DST_RGB, glow::BLEND_SRC_ALPHA, glow::BLEND_DST_ALPHA];
            // SAFETY: the engine's context is current and of GL 4.
            (0..2).map(|buffer| names.map(|n| unsafe { gl.get_parameter_indexed_i32(n, buffer) })).collect::<Vec<_>>()
        };
        // SAFETY: as above.
        unsafe {
            gl.blend_func_separate(glow::DST_COLOR, glow::ZERO, glow::ONE, glow::SRC_ALPHA);
            if limit.is_none() {
                gl.blend_func_draw_buffer(1, glow::SRC_COLOR, glow::DST_ALPHA);
            }
            gl.blend_equation(glow::FUNC_REVERSE_SUBTRACT);
        }
        let before = states();
        case.check(&draw(&display, &case, &texture)).unwrap();
        assert_eq!(states(), before);
        // SAFETY: as above.
        unsafe {
            assert_eq!(gl.get_parameter_i32(glow::BLEND_EQUATION_RGB) as u32, glow::FUNC_REVERSE_SUBTRACT);
            assert!(!gl.is_enabled(glow::BLEND) && !gl.is_enabled(glow::FRAMEBUFFER_SRGB));
        }
    }
}

#[test]
fn light_goes_from_a_kernel_to_a_target_of_floats() {
    let Some(display) = common::headless(None) else { return };
    light_goes_from_a_kernel(display.clone(), |surface, options| {
        let target = display.create_offscreen_target_of(4, 2, PixelFormat::Rgba16F).unwrap();
        target.bind().unwrap();
        display.draw(surface, Viewport::full(4, 2), options).unwrap();
        target.unbind().unwrap();
        target.read_pixels().unwrap()
    });
}
