//! Draws with meaning: encodings, alpha, tone maps, fits, into every kind of target.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests may panic as tests may

mod common;
#[path = "common/engine.rs"]
mod engine;

use cpu_fallback::{CpuBackend, CpuKernelExt as _};
use gl_display::{DrawOptions, Encoding, GlDisplay, Manner, TargetEncoding, Viewport};
use glow::HasContext as _;
use half::f16;
use interop_core::conformance::Drawing;
use interop_core::display::{Display, Part, StagingKind, Surface};
use interop_core::{
    AlphaMode, ComputeBackend, Error, ImageAccess, ImageDesc, KernelSource, Link, LinkOptions, PixelFormat, SurfaceDesc,
};
use std::rc::Rc;
use std::sync::Arc;

/// Rows the other way round: row 0 of a texture is the bottom row.
fn flipped(pixels: &[u8], row: usize) -> Vec<u8> {
    pixels.chunks_exact(row).rev().flatten().copied().collect()
}

/// The image as a texture, or where its memory lies.
fn surface(display: &GlDisplay, case: &Drawing, access: ImageAccess) -> Box<dyn Surface> {
    let desc = SurfaceDesc::Image(case.image.with_access(access));
    let view = common::tight(&desc);
    let row = case.image.extent.width as usize * case.image.format.bytes_per_pixel();
    let pixels = flipped(&case.pixels, row);
    if access == ImageAccess::Texture {
        let mut surface = display.create_surface(&desc).unwrap();
        surface.upload(&Part::full(&desc), &pixels, &view).unwrap();
        return surface;
    }
    let mut staging = display.create_staging(StagingKind::Orphaned, pixels.len()).unwrap();
    staging
        .map_write(&mut |to| {
            to.copy_from_slice(&pixels);
            Ok(())
        })
        .unwrap();
    let mut surface = display.create_in_place_surface(&desc).unwrap();
    surface.read_in_place(staging.as_ref(), &view).unwrap();
    surface
}

/// A target whose format encodes.
struct Encoding8<'a> {
    gl: &'a glow::Context,
    framebuffer: glow::Framebuffer,
    texture: glow::Texture,
}

impl<'a> Encoding8<'a> {
    fn new(gl: &'a glow::Context, width: u32, height: u32) -> Self {
        // SAFETY: the context is current; the names are made and used here.
        unsafe {
            let (framebuffer, texture) = (gl.create_framebuffer().unwrap(), gl.create_texture().unwrap());
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::SRGB8_ALPHA8, width as i32, height as i32);
            gl.bind_texture(glow::TEXTURE_2D, None);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let attachment = glow::COLOR_ATTACHMENT0;
            gl.framebuffer_texture_2d(glow::FRAMEBUFFER, attachment, glow::TEXTURE_2D, Some(texture), 0);
            Self { gl, framebuffer, texture }
        }
    }

    fn read(&self, (width, height): (u32, u32)) -> Vec<u8> {
        let row = width as usize * 4;
        let mut bytes = vec![0; row * height as usize];
        let data = glow::PixelPackData::Slice(Some(&mut bytes));
        // SAFETY: the context is current with the framebuffer bound; rows of 4-byte pixels are aligned as they are tight.
        unsafe { self.gl.read_pixels(0, 0, width as i32, height as i32, glow::RGBA, glow::UNSIGNED_BYTE, data) };
        flipped(&bytes, row)
    }
}

impl Drop for Encoding8<'_> {
    fn drop(&mut self) {
        // SAFETY: the context is current and the names are of it.
        unsafe {
            self.gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            self.gl.delete_framebuffer(self.framebuffer);
            self.gl.delete_texture(self.texture);
        }
    }
}

fn draw(display: &GlDisplay, case: &Drawing, surface: &dyn Surface) -> Vec<u8> {
    let size @ (width, height) = (Drawing::AREA.width, Drawing::AREA.height);
    let all = Viewport::full(width, height);
    if case.options.target == TargetEncoding::SrgbFormat {
        let target = Encoding8::new(display.gl(), width, height);
        display.clear(case.before).unwrap();
        display.draw(surface, all, case.options).unwrap();
        return target.read(size);
    }
    let target = display.create_offscreen_target_of(width, height, case.target).unwrap();
    target.bind().unwrap();
    display.clear(case.before).unwrap();
    display.draw(surface, all, case.options).unwrap();
    target.unbind().unwrap();
    target.read_pixels().unwrap()
}

/// `case`, drawn by `manner`.
fn by(manner: Manner, case: &Drawing) -> Drawing {
    Drawing { options: case.options.with_manner(manner), ..case.clone() }
}

#[test]
fn every_drawing_is_as_the_reference() {
    // The shaders are the same in every version: old ones draw every sixth.
    for (display, step) in common::displays().zip([1, 6]) {
        let mut wrong = Vec::new();
        for case in Drawing::all().into_iter().step_by(step) {
            let texture = surface(&display, &case, ImageAccess::Texture);
            for manner in Manner::ALL {
                wrong.extend(case.check(&draw(&display, &by(manner, &case), texture.as_ref())).err());
                let expected = if display.version() >= (4, 5) { manner } else { Manner::Triangle };
                assert_eq!(display.drawn().unwrap().manner, expected, "{case:?}");
            }
        }
        assert!(wrong.is_empty(), "{} wrong, the first: {}", wrong.len(), wrong[0]);
    }
}

#[test]
fn linear_memory_is_drawn_alike() {
    let Some(display) = common::headless(None) else { return };
    for case in Drawing::all().iter().step_by(3) {
        let in_place = surface(&display, case, ImageAccess::Any);
        for manner in Manner::ALL {
            case.check(&draw(&display, &by(manner, case), in_place.as_ref())).unwrap();
        }
    }
}

#[test]
fn floats_are_not_cut_off_on_their_way() {
    let Some(display) = common::headless(None) else { return };
    let case = Drawing::all()
        .into_iter()
        .find(|c| c.target == PixelFormat::Rgba16F && c.image.encoding == Encoding::Linear && c.options.exposure == 3.0)
        .unwrap();
    let texture = surface(&display, &case, ImageAccess::Texture);
    let brightest = draw(&display, &case, texture.as_ref())
        .chunks_exact(8)
        .map(|pixel| interop_core::describe::color::load(PixelFormat::Rgba16F, pixel)[0])
        .fold(0.0, f32::max);
    assert!(brightest > 20.0, "{brightest}");
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let Some(display) = common::headless(None) else { return };
    let case = &Drawing::all()[0];
    let texture = surface(&display, case, ImageAccess::Texture);
    let target = display.create_offscreen_target(4, 4).unwrap();
    assert!(target.read_rgba8().is_ok());
    target.bind().unwrap();
    let plain = DrawOptions::default();
    let encodes = plain.with_target(TargetEncoding::SrgbFormat);
    for options in [plain.with_exposure(f32::NAN), plain.with_exposure(1.0), encodes] {
        let error = display.draw(texture.as_ref(), Viewport::full(4, 4), options).unwrap_err();
        assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
    }
    target.unbind().unwrap();
    assert_eq!(target.read_pixels().unwrap(), [0; 64], "nothing was drawn");
    let floats = display.create_offscreen_target_of(4, 4, PixelFormat::Rgba16F).unwrap();
    assert!(matches!(floats.read_rgba8(), Err(Error::InvalidInput { .. })));
}

/// An engine whose own blending differs for each draw buffer finds it as it was.
#[test]
fn blending_of_the_engine_stays() {
    let Some(engine) = engine::Engine::new() else { return };
    let gl = engine.glow();
    let case = Drawing::all().into_iter().find(|c| c.image.alpha == AlphaMode::Straight).unwrap();
    for limit in [None, Some((3, 3))] {
        let display = engine.pixelferry(limit);
        let texture = surface(&display, &case, ImageAccess::Texture);
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
        case.check(&draw(&display, &case, texture.as_ref())).unwrap();
        assert_eq!(states(), before);
        // SAFETY: as above.
        unsafe {
            assert_eq!(gl.get_parameter_i32(glow::BLEND_EQUATION_RGB) as u32, glow::FUNC_REVERSE_SUBTRACT);
            assert!(!gl.is_enabled(glow::BLEND) && !gl.is_enabled(glow::FRAMEBUFFER_SRGB));
        }
    }
}

/// A frame that a kernel computes, by a link, into a target that keeps what is brighter than white.
#[test]
fn light_goes_from_a_kernel_to_a_target_of_floats() {
    let Some(display) = common::headless(None) else { return };
    let image =
        ImageDesc::new(4, 2, PixelFormat::Rgba16F).with_encoding(Encoding::Linear).with_alpha(AlphaMode::Opaque);
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let kernel = backend
        .build(&KernelSource::new("light").cpu_image(|out, _| {
            out.par_pixels(|x, y| [x as f32 * 4.0, y as f32 * -0.5, 0.25, 0.0].map(f16::from_f32))
        }));
    let kernel = kernel.unwrap();
    let shown: Rc<dyn Display> = display.clone();
    let mut link = Link::open(backend, shown, SurfaceDesc::Image(image), LinkOptions::default()).unwrap();
    link.frame(|frame| frame.launch(kernel.as_ref(), &[])).unwrap();
    let target = display.create_offscreen_target_of(4, 2, PixelFormat::Rgba16F).unwrap();
    let options = DrawOptions::default().with_target(TargetEncoding::Linear);
    target.bind().unwrap();
    display.draw(link.shown().unwrap().surface(), Viewport::full(4, 2), options).unwrap();
    target.unbind().unwrap();
    let found: Vec<f32> =
        target.read_pixels().unwrap().chunks_exact(2).map(|b| f16::from_ne_bytes([b[0], b[1]]).to_f32()).collect();
    let expected = (0..8).flat_map(|at| [(at % 4) as f32 * 4.0, (at / 4) as f32 * -0.5, 0.25, 1.0]).collect::<Vec<_>>();
    assert_eq!(found, expected);
}
