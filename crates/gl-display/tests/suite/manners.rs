//! Draws by a compute shader and by a triangle: the same pixels in the same places, and a reason where there is no choice.

use crate::common;
use gl_display::{AlphaMode, DrawOptions, Encoding, Fit, GlDisplay, Manner, TargetEncoding, Viewport};
use glow::HasContext as _;
use interop_core::display::{Display as _, Part, Surface};
use interop_core::draw::{Obstacle, Why};
use interop_core::{ImageDesc, PixelFormat, SurfaceDesc};
use pixelferry_testing::{by_level, has};

const SIDE: i32 = 16;

fn by(manner: Manner) -> DrawOptions {
    DrawOptions::default().with_manner(manner)
}

/// A display that has compute shaders; says SKIPPED where the driver has none.
fn display() -> Option<std::rc::Rc<GlDisplay>> {
    let display = common::headless(None)?;
    let version = display.version();
    let found = if version >= (4, 5) { Ok(()) } else { Err(format!("OpenGL {}.{}", version.0, version.1)) };
    has("compute shaders", display.device(), found).map(|()| display)
}

/// What a framebuffer over a texture or renderbuffer that `attach` makes shows after a draw by each manner over a grey.
struct Target<'a> {
    gl: &'a glow::Context,
    framebuffer: glow::Framebuffer,
    texture: glow::Texture,
    /// Between two numbers that red, green, blue and alpha can be, in bytes; 0 where those are finer.
    steps: [u8; 4],
}

impl<'a> Target<'a> {
    /// `attach` gives storage and attaches it; the texture is of `kind` and bound.
    fn new(display: &'a GlDisplay, kind: u32, attach: impl FnOnce(&glow::Context, glow::Texture)) -> Self {
        let gl: &glow::Context = display.gl();
        // SAFETY: the context is current; names are made and used here.
        unsafe {
            let (framebuffer, texture) = (gl.create_framebuffer().unwrap(), gl.create_texture().unwrap());
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            gl.bind_texture(kind, Some(texture));
            attach(gl, texture);
            gl.bind_texture(kind, None);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
            assert_eq!(gl.check_framebuffer_status(glow::FRAMEBUFFER), glow::FRAMEBUFFER_COMPLETE);
            Self { gl, framebuffer, texture, steps: [0; 4] }
        }
    }

    fn read(&self, side: i32) -> Vec<u8> {
        let mut bytes = vec![0; (side * side * 4) as usize];
        let data = glow::PixelPackData::Slice(Some(&mut bytes));
        // SAFETY: the context is current with the framebuffer bound; rows of 4-byte pixels are aligned as they are tight.
        unsafe { self.gl.read_pixels(0, 0, side, side, glow::RGBA, glow::UNSIGNED_BYTE, data) };
        bytes
    }
}

impl Drop for Target<'_> {
    fn drop(&mut self) {
        // SAFETY: the context is current and the names are of it.
        unsafe {
            self.gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            self.gl.delete_framebuffer(self.framebuffer);
            self.gl.delete_texture(self.texture);
        }
    }
}

fn storage(gl: &glow::Context, texture: glow::Texture, format: u32) {
    // SAFETY: the context is current and the texture bound.
    unsafe {
        gl.tex_storage_2d(glow::TEXTURE_2D, 1, format, SIDE, SIDE);
        gl.framebuffer_texture_2d(glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0, glow::TEXTURE_2D, Some(texture), 0);
    }
}

/// Where two pictures differ by more than the rounding of each, whose numbers may have fewer steps than bytes have.
fn far(a: &[u8], b: &[u8], steps: [u8; 4]) -> Option<usize> {
    let steps = steps.map(|step| step.max(2)).into_iter().cycle();
    a.iter().zip(b).zip(steps).position(|((a, b), step)| a.abs_diff(*b) > step)
}

/// Every pixel after a draw by each manner.
fn both(display: &GlDisplay, target: &Target<'_>, surface: &dyn Surface, viewport: Viewport, options: DrawOptions) {
    let [triangle, compute] = Manner::ALL.map(|manner| {
        display.clear([0.25, 0.5, 0.75, 0.5]).unwrap();
        display.draw(surface, viewport, options.with_manner(manner)).unwrap();
        assert_eq!(display.drawn().unwrap().manner, manner);
        target.read(SIDE)
    });
    let far = far(&triangle, &compute, target.steps);
    assert_eq!(far, None, "{viewport:?}: the first byte that differs");
    let before = {
        display.clear([0.25, 0.5, 0.75, 0.5]).unwrap();
        target.read(SIDE)
    };
    assert_ne!(compute, before, "{viewport:?}: nothing was drawn");
    let pixels = compute.chunks_exact(4).zip(before.chunks_exact(4)).enumerate();
    for (at, (found, before)) in pixels {
        let (x, y) = (at as i32 % SIDE - viewport.x, at as i32 / SIDE - viewport.y);
        let inside = (0..viewport.width as i32).contains(&x) && (0..viewport.height as i32).contains(&y);
        assert!(inside || found == before, "{viewport:?}: {x}, {y} lies outside, and is {found:?}");
    }
}

#[test]
fn nothing_is_written_outside_the_viewport() {
    let Some(display) = display() else { return };
    let surface = common::plain(&display);
    let target = Target::new(&display, glow::TEXTURE_2D, |gl, texture| storage(gl, texture, glow::RGBA8));
    for (x, y, width, height) in [(3, 2, 7, 9), (-4, -5, 9, 8), (11, 13, 40, 40), (0, 0, 16, 16), (15, 15, 1, 1)] {
        let viewport = Viewport { x, y, width, height };
        for (fit, background) in [(Fit::Stretch, None), (Fit::Contain, None), (Fit::Contain, Some([0.1; 3]))] {
            if fit == Fit::Contain && (x, y) == (11, 13) && background.is_none() {
                // The picture lies in the middle, which is outside.
                continue;
            }
            let options = DrawOptions::default().with_fit(fit).with_background(background);
            both(&display, &target, surface.as_ref(), viewport, options);
        }
    }
    for manner in Manner::ALL {
        display.clear([0.0; 4]).unwrap();
        display.draw(surface.as_ref(), Viewport { x: 16, y: -20, width: 9, height: 9 }, by(manner)).unwrap();
        assert!(target.read(SIDE).iter().all(|byte| *byte == 0), "{manner}: all of it lies outside");
    }
}

#[test]
fn levels_layers_and_faces_are_reached() {
    let Some(display) = display() else { return };
    let surface = common::plain(&display);
    let (framebuffer, attachment) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
    let viewport = Viewport::full(SIDE as u32, SIDE as u32);
    // SAFETY: the context is current and the texture bound, in each.
    unsafe {
        let array = Target::new(&display, glow::TEXTURE_2D_ARRAY, |gl, texture| {
            gl.tex_storage_3d(glow::TEXTURE_2D_ARRAY, 2, glow::RGBA8, 2 * SIDE, 2 * SIDE, 3);
            gl.framebuffer_texture_layer(framebuffer, attachment, Some(texture), 1, 2);
        });
        both(&display, &array, surface.as_ref(), viewport, DrawOptions::default());
        drop(array);
        let volume = Target::new(&display, glow::TEXTURE_3D, |gl, texture| {
            gl.tex_storage_3d(glow::TEXTURE_3D, 1, glow::RGBA16F, SIDE, SIDE, 4);
            gl.framebuffer_texture_layer(framebuffer, attachment, Some(texture), 0, 3);
        });
        both(&display, &volume, surface.as_ref(), viewport, DrawOptions::default());
        drop(volume);
        let cube = Target::new(&display, glow::TEXTURE_CUBE_MAP, |gl, texture| {
            gl.tex_storage_2d(glow::TEXTURE_CUBE_MAP, 1, glow::SRGB8_ALPHA8, SIDE, SIDE);
            let face = glow::TEXTURE_CUBE_MAP_NEGATIVE_Y;
            gl.framebuffer_texture_2d(framebuffer, attachment, face, Some(texture), 0);
        });
        let encodes = DrawOptions::default().with_target(TargetEncoding::SrgbFormat);
        let light = translucent(&display);
        for options in [DrawOptions::default(), encodes] {
            both(&display, &cube, light.as_ref(), viewport, options);
        }
    }
}

fn translucent(display: &GlDisplay) -> Box<dyn Surface> {
    let image = ImageDesc::new(5, 3, PixelFormat::Rgba8);
    common::patterned(display, image.with_encoding(Encoding::Linear).with_alpha(AlphaMode::Straight))
}

/// Numbers outside 0 and 1, which targets of bytes cut off before they blend.
fn outside(display: &GlDisplay) -> Box<dyn Surface> {
    let image = ImageDesc::new(4, 1, PixelFormat::Rgba32F).with_alpha(AlphaMode::Premultiplied);
    let desc = SurfaceDesc::Image(image);
    let numbers = [-1.0, 0.25, 3.0, 0.25, 0.5, -0.5, 0.1, 2.0, 0.2, 0.4, 0.6, -0.5, 2.0, -2.0, 0.5, 0.0_f32];
    let bytes: Vec<u8> = numbers.iter().flat_map(|v| v.to_ne_bytes()).collect();
    let mut surface = display.create_surface(&desc).unwrap();
    surface.upload(&Part::full(&desc), &bytes, &common::tight(&desc)).unwrap();
    surface
}

#[test]
fn every_storable_format_is_drawn_and_blended_alike() {
    let Some(display) = display() else { return };
    let surfaces = [common::plain(&display), translucent(&display), outside(&display)];
    let viewport = Viewport { x: 1, y: 2, width: 13, height: 11 };
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
    .step_by(by_level(4, 1, 1))
    {
        let mut target = Target::new(&display, glow::TEXTURE_2D, |gl, texture| storage(gl, texture, format));
        target.steps = match format {
            glow::RGB10_A2 => [0, 0, 0, 85],
            // Six bits, and five of blue: NVIDIA's rasteriser rounds, and its stores cut off.
            glow::R11F_G11F_B10F => [4, 4, 8, 0],
            _ => [0; 4],
        };
        for surface in &surfaces {
            both(&display, &target, surface.as_ref(), viewport, DrawOptions::default());
        }
    }
}

#[test]
fn what_cannot_be_stored_to_is_drawn_by_a_triangle_with_a_reason() {
    let Some(display) = display() else { return };
    let surface = common::plain(&display);
    let (framebuffer, attachment, kind) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0, glow::TEXTURE_2D);
    let viewport = Viewport::full(SIDE as u32, SIDE as u32);
    let reason = |target: &Target<'_>| {
        display.clear([0.0; 4]).unwrap();
        display.draw(surface.as_ref(), viewport, by(Manner::Compute)).unwrap();
        let drawn = display.drawn().unwrap();
        assert_eq!(drawn.manner, Manner::Triangle);
        let Why::Only(obstacle) = drawn.why else { panic!("{drawn}") };
        (obstacle, target.read(SIDE).iter().any(|byte| *byte != 0))
    };
    // SAFETY: the context is current and the texture bound, in each.
    unsafe {
        let renderbuffer = display.gl().create_renderbuffer().unwrap();
        let target = Target::new(&display, kind, |gl, _| {
            gl.bind_renderbuffer(glow::RENDERBUFFER, Some(renderbuffer));
            gl.renderbuffer_storage(glow::RENDERBUFFER, glow::RGBA8, SIDE, SIDE);
            gl.framebuffer_renderbuffer(framebuffer, attachment, glow::RENDERBUFFER, Some(renderbuffer));
        });
        assert_eq!(reason(&target), (Obstacle::NoTexture, true));
        drop(target);
        display.gl().delete_renderbuffer(renderbuffer);

        let target = Target::new(&display, kind, |gl, texture| storage(gl, texture, glow::RGB565));
        assert_eq!(reason(&target), (Obstacle::Format("the internal format 0x8d62".into()), true));
        drop(target);

        // Filtered by levels that it does not have, as textures are unless told otherwise.
        let target = Target::new(&display, kind, |gl, texture| {
            let none = glow::PixelUnpackData::Slice(None);
            let format = glow::RGBA8 as i32;
            gl.tex_image_2d(kind, 0, format, SIDE, SIDE, 0, glow::RGBA, glow::UNSIGNED_BYTE, none);
            gl.framebuffer_texture_2d(framebuffer, attachment, kind, Some(texture), 0);
        });
        assert!(matches!(reason(&target), (Obstacle::Texture(why), true) if why.contains("levels")));
        display.gl().bind_texture(kind, Some(target.texture));
        display.gl().tex_parameter_i32(kind, glow::TEXTURE_MIN_FILTER, glow::LINEAR as i32);
        display.gl().bind_texture(kind, None);
        both(&display, &target, surface.as_ref(), viewport, DrawOptions::default());
        drop(target);

        let samples = glow::TEXTURE_2D_MULTISAMPLE;
        let target = Target::new(&display, samples, |gl, texture| {
            gl.tex_storage_2d_multisample(samples, 4, glow::RGBA8, SIDE, SIDE, true);
            gl.framebuffer_texture_2d(framebuffer, attachment, samples, Some(texture), 0);
        });
        let resolved = Target::new(&display, kind, |gl, texture| storage(gl, texture, glow::RGBA8));
        display.gl().bind_framebuffer(glow::DRAW_FRAMEBUFFER, Some(target.framebuffer));
        assert!(matches!(reason(&resolved), (Obstacle::Texture(why), _) if why.contains("samples")));
    }
    let Some(old) = common::headless(Some((3, 3))) else { return };
    let surface = common::plain(&old);
    let target = old.create_offscreen_target(4, 4).unwrap();
    target.bind().unwrap();
    old.draw(surface.as_ref(), Viewport::full(4, 4), by(Manner::Compute)).unwrap();
    assert!(matches!(old.drawn().unwrap().why, Why::Only(Obstacle::NoShader(_))));
}

/// Nobody sees that the first draws are measured, and nothing is left of it.
#[test]
fn the_quicker_manner_is_found_out_by_draws_that_all_look_the_same() {
    let Some(display) = display() else { return };
    let surface = translucent(&display);
    let target = display.create_offscreen_target(64, 48).unwrap();
    target.bind().unwrap();
    let draw = |options| {
        display.clear([0.5; 4]).unwrap();
        display.draw(surface.as_ref(), Viewport::full(64, 48), options).unwrap();
        display.finish().unwrap();
        target.read_pixels().unwrap()
    };
    assert_eq!(display.drawn(), None);
    let expected = draw(by(Manner::Triangle));
    let mut manners = Vec::new();
    for _ in 0..40 {
        let found = draw(DrawOptions::default());
        assert_eq!(far(&found, &expected, [0; 4]), None, "a draw that is measured looks different");
        manners.push(display.drawn().unwrap());
    }
    let measured = |manner| manners.iter().any(|drawn| drawn.manner == manner && drawn.why == Why::Measuring);
    assert!(Manner::ALL.into_iter().all(measured), "each was tried");
    let last = manners.last().unwrap();
    assert!(matches!(last.why, Why::Measured { .. }), "it is decided: {last}");
    let before = display.object_counts();
    for manner in Manner::ALL {
        draw(by(manner));
    }
    assert_eq!(
        (before.queries, display.object_counts()),
        (0, before),
        "what measured is gone, and draws leave nothing"
    );
}

/// For those who measure, who ask for one or for neither.
#[test]
fn what_nobody_sees_is_drawn_in_the_manner_that_is_asked_for() {
    let Some(display) = display() else { return };
    for surface in [common::plain(&display), translucent(&display)] {
        for manner in Manner::ALL {
            display.draw_offscreen_by(surface.as_ref(), Some(manner)).unwrap();
            assert_eq!(display.drawn().unwrap().manner, manner);
        }
        display.draw_offscreen(surface.as_ref()).unwrap();
        assert_ne!(display.drawn().unwrap().why, Why::Measuring, "it is settled at once");
    }
}
