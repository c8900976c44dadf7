//! Draws into textures of an engine's: the pixels of a draw into a framebuffer, what is refused, and that nothing stays behind.

use crate::suite::common;
use crate::suite::engine::Engine;
use crate::suite::state::{engine_framebuffers, make_unusual, unchanged};
use glow::HasContext as _;
use glutin::context::GlProfile;
use interop_core::conformance;
use interop_core::display::{Display as _, StagingKind, Surface};
use interop_core::{Error, Extent, ImageDesc, PixelFormat, Result, SurfaceDesc};
use pixelferry_gl::{
    AlphaMode, DrawOptions, Encoding, EngineTexture, Filter, Fit, GlDisplay, Manner, TargetEncoding, ToneMap, Viewport,
};
use pixelferry_testing::by_level;

const SIDE: u32 = 16;

/// Format and type of pixels that the engine reads into client memory, and their bytes.
type ClientPixels = (u32, u32, usize);

/// Internal formats that are drawn into, each with how it is read.
const FORMATS: [(u32, ClientPixels); 10] = [
    (glow::RGBA8, (glow::RGBA, glow::UNSIGNED_BYTE, 4)),
    (glow::SRGB8_ALPHA8, (glow::RGBA, glow::UNSIGNED_BYTE, 4)),
    (glow::RGBA16F, (glow::RGBA, glow::HALF_FLOAT, 8)),
    (glow::RGBA32F, (glow::RGBA, glow::FLOAT, 16)),
    (glow::R32F, (glow::RED, glow::FLOAT, 4)),
    (glow::RG16F, (glow::RG, glow::HALF_FLOAT, 4)),
    (glow::R8, (glow::RED, glow::UNSIGNED_BYTE, 1)),
    (glow::RGB10_A2, (glow::RGBA, glow::UNSIGNED_INT_2_10_10_10_REV, 4)),
    (glow::R11F_G11F_B10F, (glow::RGB, glow::UNSIGNED_INT_10F_11F_11F_REV, 4)),
    // No image unit takes it.
    (glow::RGB565, (glow::RGB, glow::UNSIGNED_BYTE, 3)),
];

/// A texture of the engine's, which leaves its bindings as they were.
struct Texture<'a> {
    gl: &'a glow::Context,
    name: glow::Texture,
}

impl<'a> Texture<'a> {
    fn with(gl: &'a glow::Context, give_storage: impl FnOnce()) -> Self {
        // SAFETY: the context is current; the name is made here.
        unsafe {
            let name = gl.create_texture().unwrap();
            let before = gl.get_parameter_texture(glow::TEXTURE_BINDING_2D);
            gl.bind_texture(glow::TEXTURE_2D, Some(name));
            give_storage();
            gl.bind_texture(glow::TEXTURE_2D, before);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
            Self { gl, name }
        }
    }

    /// Immutable, with level 0 as large as `side` says.
    fn new(gl: &'a glow::Context, format: u32, levels: i32, side: u32) -> Self {
        // SAFETY: the context is current and the texture bound.
        Self::with(gl, || unsafe { gl.tex_storage_2d(glow::TEXTURE_2D, levels, format, side as i32, side as i32) })
    }

    fn level(&self, level: u32, side: u32) -> EngineTexture {
        EngineTexture::new(self.name.0.get(), Extent::new(0, 0)).with_level(level, Extent::new(side, side))
    }

    /// A framebuffer over a level, bound until `f` is done.
    fn bound<R>(&self, level: u32, f: impl FnOnce() -> R) -> R {
        let gl = self.gl;
        // SAFETY: the context is current and all names are of it.
        unsafe {
            let framebuffer = gl.create_framebuffer().unwrap();
            let (draw, read) = (glow::DRAW_FRAMEBUFFER_BINDING, glow::READ_FRAMEBUFFER_BINDING);
            let before = [draw, read].map(|binding| gl.get_parameter_framebuffer(binding));
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let (at, name) = (glow::COLOR_ATTACHMENT0, Some(self.name));
            gl.framebuffer_texture_2d(glow::FRAMEBUFFER, at, glow::TEXTURE_2D, name, level as i32);
            assert_eq!(gl.check_framebuffer_status(glow::FRAMEBUFFER), glow::FRAMEBUFFER_COMPLETE);
            let result = f();
            gl.bind_framebuffer(glow::DRAW_FRAMEBUFFER, before[0]);
            gl.bind_framebuffer(glow::READ_FRAMEBUFFER, before[1]);
            gl.delete_framebuffer(framebuffer);
            result
        }
    }

    fn read(&self, level: u32, side: u32, (format, ty, bytes): ClientPixels) -> Vec<u8> {
        let mut pixels = vec![0; side as usize * side as usize * bytes];
        self.bound(level, || {
            let data = glow::PixelPackData::Slice(Some(&mut pixels));
            // SAFETY: the context is current with the framebuffer bound; rows are packed tight into memory for all of them.
            unsafe {
                self.gl.pixel_store_i32(glow::PACK_ALIGNMENT, 1);
                self.gl.read_pixels(0, 0, side as i32, side as i32, format, ty, data);
                assert_eq!(self.gl.get_error(), glow::NO_ERROR);
            }
        });
        pixels
    }
}

impl Drop for Texture<'_> {
    fn drop(&mut self) {
        // SAFETY: the context is current and the name is of it.
        unsafe { self.gl.delete_texture(self.name) }
    }
}

fn draw(display: &GlDisplay, shown: &Surface, to: EngineTexture, options: DrawOptions) -> Result<()> {
    // SAFETY: the tests own what they name, and no other API has it.
    unsafe { display.draw_to_texture(shown, to, to.viewport(), options) }
}

fn light(display: &GlDisplay) -> Surface {
    let image = ImageDesc::new(9, 5, PixelFormat::Rgba16F);
    common::patterned(display, image.with_encoding(Encoding::Linear).with_alpha(AlphaMode::Straight))
}

/// An image that lies in linear memory and is shown in place.
fn in_place(display: &GlDisplay) -> Surface {
    let desc = SurfaceDesc::image(5, 3, PixelFormat::Rgba8);
    conformance::in_place(display, &desc, &common::expected(&common::tight(&desc), 2)).unwrap()
}

#[test]
fn a_texture_gets_the_pixels_of_a_draw_into_a_framebuffer() {
    for display in common::displays() {
        let gl = display.gl();
        let plain_options = [
            DrawOptions::default(),
            DrawOptions::default().with_fit(Fit::Contain).with_filter(Filter::Linear).with_background([0.1, 0.5, 0.9]),
            DrawOptions::default().with_fit(Fit::Contain),
        ];
        let lit = DrawOptions::default().with_exposure(0.75).with_tone_map(ToneMap::AcesHill);
        let shown = [
            (common::plain(&display), plain_options.to_vec()),
            (light(&display), vec![lit, lit.with_fit(Fit::Contain)]),
        ];
        for (format, reading) in FORMATS.into_iter().step_by(by_level(10, 1, 1)) {
            for (level, side) in [(0, SIDE), (1, SIDE / 2)] {
                let [ours, theirs] = [(); 2].map(|()| Texture::new(gl, format, 3, SIDE));
                let mut options: Vec<_> = shown.iter().flat_map(|(s, all)| all.iter().map(move |o| (s, *o))).collect();
                if format == glow::SRGB8_ALPHA8 {
                    options.extend(shown.iter().map(|(s, all)| (s, all[0].with_target(TargetEncoding::SrgbFormat))));
                }
                for ((shown, options), manner) in options.into_iter().flat_map(|o| Manner::ALL.map(|m| (o, m))) {
                    let options = options.with_manner(manner);
                    let clear = || display.clear([0.25, 0.5, 0.75, 0.5]).unwrap();
                    theirs.bound(level, || {
                        clear();
                        display.draw(shown, Viewport::full(side, side), options).unwrap();
                    });
                    let by = display.drawn().unwrap().manner;
                    ours.bound(level, clear);
                    let before = ours.read(level, side, reading);
                    draw(&display, shown, ours.level(level, side), options).unwrap();
                    assert_eq!(display.drawn().unwrap().manner, by);
                    let stores = display.version() >= (4, 5) && format != glow::RGB565;
                    assert_eq!(by, if stores { manner } else { Manner::Triangle }, "{format:#x}");
                    let [found, expected] = [&ours, &theirs].map(|t| t.read(level, side, reading));
                    assert_ne!(found, before, "{format:#x}, level {level}: nothing was drawn");
                    common::assert_same(&format!("{format:#x}, level {level}, {options:?}"), &expected, &found);
                }
            }
        }
    }
}

/// miniquad makes such contexts. Mesa does not say there what kind a texture is.
#[test]
fn contexts_of_the_compatibility_profile_are_drawn_in() {
    let mut pictures = Vec::new();
    for profile in [GlProfile::Compatibility, GlProfile::Core] {
        let Some(engine) = Engine::of(profile) else { return };
        let (gl, display) = (engine.glow(), engine.pixelferry(None));
        let texture = Texture::new(&gl, glow::RGBA8, 1, SIDE);
        let shown = common::plain(&display);
        for _ in 0..2 {
            draw(&display, &shown, texture.level(0, SIDE), DrawOptions::default()).unwrap();
            // SAFETY: the context is current.
            assert_eq!(unsafe { gl.get_error() }, glow::NO_ERROR, "{profile:?}");
        }
        pictures.push(texture.read(0, SIDE, FORMATS[0].1));
    }
    assert_eq!(pictures[0], pictures[1]);
}

/// Around the viewport, and on the levels beside it.
#[test]
fn nothing_else_of_the_texture_changes() {
    for display in common::displays() {
        let (texture, shown) = (Texture::new(display.gl(), glow::RGBA8, 3, SIDE), common::plain(&display));
        let levels = [(0, SIDE), (1, SIDE / 2), (2, SIDE / 4)];
        for (manner, linear) in Manner::ALL.into_iter().flat_map(|manner| [(manner, false), (manner, true)]) {
            levels.iter().for_each(|(level, _)| texture.bound(*level, || display.clear([0.0; 4]).unwrap()));
            let memory = linear.then(|| in_place(&display));
            let shown = memory.as_ref().unwrap_or(&shown);
            let viewport = Viewport { x: 2, y: -1, width: 3, height: 5 };
            let (to, options) = (texture.level(1, SIDE / 2), DrawOptions::default().with_manner(manner));
            // SAFETY: as in `draw`.
            unsafe { display.draw_to_texture(shown, to, viewport, options) }.unwrap();
            for (level, side) in levels {
                let pixels = texture.read(level, side, FORMATS[0].1);
                for (at, pixel) in (0..).zip(pixels.chunks_exact(4)) {
                    let inside = level == 1 && (2..5).contains(&(at % side)) && at / side < 4;
                    assert_eq!(pixel != [0; 4], inside, "level {level}: {}, {}", at % side, at / side);
                }
            }
        }
    }
}

#[test]
fn the_engines_state_stays() {
    let Some(engine) = Engine::new() else { return };
    let gl = engine.glow();
    let ways = [(true, None), (false, None), (true, Some((3, 3)))];
    for (on, limit) in ways.into_iter().take(by_level(1, 3, 3)) {
        engine_framebuffers(&gl);
        make_unusual(&gl, on, limit.is_none());
        let display = engine.pixelferry(limit);
        let shown = [common::plain(&display), light(&display), in_place(&display)];
        let encodes = DrawOptions::default().with_target(TargetEncoding::SrgbFormat);
        for (format, options) in [
            (glow::RGBA8, DrawOptions::default().with_background([0.5; 3])),
            (glow::SRGB8_ALPHA8, encodes),
            (glow::R32F, DrawOptions::default()),
        ]
        .into_iter()
        .take(by_level(2, 3, 3))
        {
            let texture = Texture::new(&gl, format, 2, SIDE);
            let to = texture.level(1, SIDE / 2);
            for (shown, manner) in shown.iter().flat_map(|shown| Manner::ALL.map(|manner| (shown, manner))) {
                let options = options.with_manner(manner);
                unchanged(&gl, "draw_to_texture", || draw(&display, shown, to, options).unwrap());
            }
            unchanged(&gl, "draw to no level", || draw(&display, &shown[0], texture.level(5, 1), options).unwrap_err());
            unchanged(&gl, "draw what means nothing", || {
                draw(&display, &shown[0], to, options.with_exposure(f32::NAN)).unwrap_err()
            });
        }
        let integers = Texture::new(&gl, glow::RGBA8UI, 1, SIDE);
        let depth = Texture::new(&gl, glow::DEPTH_COMPONENT24, 1, SIDE);
        for refused in [integers, depth] {
            let to = refused.level(0, SIDE);
            unchanged(&gl, "draw refused", || {
                draw(&display, &shown[0], to, DrawOptions::default()).unwrap_err();
            });
        }
        unchanged(&gl, "drop display", || drop((shown, display)));
    }
}

#[test]
fn what_is_no_target_is_refused_with_its_reason() {
    for display in common::displays() {
        let gl = display.gl();
        let shown = common::plain(&display);
        let refused = |to: EngineTexture, why: &str| {
            let error = draw(&display, &shown, to, DrawOptions::default()).unwrap_err();
            assert!(matches!(error, Error::InvalidInput { .. }), "{error:?}");
            assert!(error.to_string().contains(why), "{error}");
            // SAFETY: the context is current.
            assert_eq!(unsafe { gl.get_error() }, glow::NO_ERROR, "{error}");
        };
        let texture = Texture::new(gl, glow::RGBA8, 2, SIDE);
        let named = |id| EngineTexture::new(id, Extent::new(SIDE, SIDE));
        let (good, id) = (texture.level(0, SIDE), texture.name.0.get());
        refused(named(0), "no texture");
        refused(named(1 << 20), "no texture");
        // SAFETY: the context is current, in each.
        unsafe {
            let never_bound = gl.create_texture().unwrap();
            refused(named(never_bound.0.get()), "no texture");
            assert!(!gl.is_texture(never_bound), "it became one");
            gl.delete_texture(never_bound);

            let array = gl.create_texture().unwrap();
            gl.bind_texture(glow::TEXTURE_2D_ARRAY, Some(array));
            let none = glow::PixelUnpackData::Slice(None);
            let (kind, rgba, ty) = (glow::TEXTURE_2D_ARRAY, glow::RGBA, glow::UNSIGNED_BYTE);
            gl.tex_image_3d(kind, 0, glow::RGBA8 as i32, SIDE as i32, SIDE as i32, 1, 0, rgba, ty, none);
            refused(named(array.0.get()), "not a TEXTURE_2D");
            gl.delete_texture(array);
        }
        refused(texture.level(0, 0), "invalid size 0x0");
        refused(good.with_level(0, Extent::new(SIDE, SIDE + 1)), "it has 16x16 pixels, not 16x17");
        refused(texture.level(1, SIDE), "it has 8x8 pixels, not 16x16");
        for level in [2, 9, 14, 15, 30, 31, 32, u32::MAX] {
            refused(texture.level(level, 4), "no level");
        }
        for (format, why) in [
            (glow::RGBA8UI, "integers"),
            (glow::R32I, "integers"),
            (glow::DEPTH_COMPONENT24, "cannot draw into it"),
            (glow::DEPTH24_STENCIL8, "cannot draw into it"),
            (glow::RGB9_E5, "cannot draw into it"),
            (glow::COMPRESSED_RED_RGTC1, "cannot draw into it"),
        ] {
            refused(Texture::new(gl, format, 1, SIDE).level(0, SIDE), why);
        }
        // Without storage; and with levels that do not fit each other, of which one is asked for that is not the first.
        refused(Texture::with(gl, || ()).level(0, SIDE), "no level");
        let image = |level: i32, side: i32| {
            let none = glow::PixelUnpackData::Slice(None);
            let (kind, rgba, ty) = (glow::TEXTURE_2D, glow::RGBA, glow::UNSIGNED_BYTE);
            // SAFETY: the context is current and the texture bound.
            unsafe { gl.tex_image_2d(kind, level, glow::RGBA8 as i32, side, side, 0, rgba, ty, none) }
        };
        let gappy = Texture::with(gl, || [(0, 16), (2, 4)].into_iter().for_each(|(level, side)| image(level, side)));
        refused(gappy.level(1, 8), "no level");
        // The shown texture, under its own name and size.
        let own = display.surface_texture(&shown).unwrap().id();
        refused(EngineTexture::new(own, Extent::new(5, 3)), "it is the shown texture");

        // After all that, the good one is drawn into; and so is a mutable one.
        draw(&display, &shown, good, DrawOptions::default()).unwrap();
        let mutable = Texture::with(gl, || image(0, SIDE as i32));
        draw(&display, &shown, mutable.level(0, SIDE), DrawOptions::default()).unwrap();
        common::assert_same(
            "a mutable one",
            &texture.read(0, SIDE, FORMATS[0].1),
            &mutable.read(0, SIDE, FORMATS[0].1),
        );

        // As of `draw`.
        let wide = Viewport::full(1 << 30, 1);
        // SAFETY: as in `draw`.
        let error = unsafe { display.draw_to_texture(&shown, good, wide, DrawOptions::default()) };
        assert!(matches!(error, Err(Error::InvalidInput { .. })));
        let encodes = DrawOptions::default().with_target(TargetEncoding::SrgbFormat);
        let error = draw(&display, &shown, good, encodes).unwrap_err();
        assert!(error.to_string().contains("does not encode"), "{error}");
        let buffer = display.create_surface(&SurfaceDesc::buffer(16)).unwrap();
        assert!(matches!(draw(&display, &buffer, good, encodes), Err(Error::InvalidInput { .. })));
        let empty = display.create_in_place_surface(&SurfaceDesc::image(5, 3, PixelFormat::Rgba8)).unwrap();
        assert!(matches!(draw(&display, &empty, good, encodes), Err(Error::NothingShown)));
        drop(texture);
        refused(named(id), "no texture");
    }
}

#[test]
fn another_display_and_another_context_are_refused() {
    let Some(engine) = Engine::new() else { return };
    let gl = engine.glow();
    let (display, other) = (engine.pixelferry(None), engine.pixelferry(None));
    let texture = Texture::new(&gl, glow::RGBA8, 1, SIDE);
    let (shown, to) = (common::plain(&display), texture.level(0, SIDE));
    draw(&display, &shown, to, DrawOptions::default()).unwrap();
    let before = texture.read(0, SIDE, FORMATS[0].1);
    let error = draw(&other, &shown, to, DrawOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Foreign { .. }), "{error}");
    engine.pretend_elsewhere.set(true);
    let error = draw(&display, &shown, to, DrawOptions::default()).unwrap_err();
    assert!(matches!(error, Error::WrongContext { operation: "GlDisplay::draw_to_texture", .. }), "{error}");
    assert_eq!(texture.read(0, SIDE, FORMATS[0].1), before);
}

/// Framebuffers of the context.
fn framebuffers(gl: &glow::Context) -> Vec<glow::Framebuffer> {
    let names = (1..200).filter_map(std::num::NonZeroU32::new).map(glow::NativeFramebuffer);
    // SAFETY: the context is current, and any number may be asked for.
    names.filter(|name| unsafe { gl.is_framebuffer(*name) }).collect()
}

#[test]
fn hundreds_of_draws_leave_nothing_behind() {
    let Some(engine) = Engine::new() else { return };
    let gl = engine.glow();
    let display = engine.pixelferry(None);
    let shown = [common::plain(&display), light(&display)];
    let formats = [glow::RGBA8, glow::SRGB8_ALPHA8];
    let round = |n: u32| {
        let side = 8 + n % 8;
        let texture = Texture::new(&gl, formats[n as usize % 2], 1, side);
        let to = texture.level(0, side);
        for (shown, manner) in shown.iter().flat_map(|shown| Manner::ALL.map(|manner| (shown, manner))) {
            draw(&display, shown, to, DrawOptions::default().with_manner(manner)).unwrap();
        }
        draw(&display, &shown[0], texture.level(1, side), DrawOptions::default()).unwrap_err();
    };
    (0..4).for_each(round);
    let (before, names) = (display.object_counts(), framebuffers(&gl));
    assert_eq!((before.framebuffers, names.len()), (1, 1));
    (0..by_level(10, 50, 50)).for_each(round);
    assert_eq!((display.object_counts(), framebuffers(&gl)), (before, names.clone()));
    // An engine's texture that it deletes is gone.
    // SAFETY: the context is current, and the framebuffer of it.
    let attached = unsafe {
        gl.bind_framebuffer(glow::FRAMEBUFFER, Some(names[0]));
        let (target, at) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
        let kind = gl.get_framebuffer_attachment_parameter_i32(target, at, glow::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE);
        gl.bind_framebuffer(glow::FRAMEBUFFER, None);
        kind as u32
    };
    assert_eq!(attached, glow::NONE);

    // Dropped elsewhere, the framebuffer waits for its context, as all else does.
    let mut staging = display.create_staging(StagingKind::Orphaned, 4).unwrap();
    engine.pretend_elsewhere.set(true);
    drop((shown, display));
    assert_eq!(framebuffers(&gl), names);
    engine.pretend_elsewhere.set(false);
    staging.fence().unwrap();
    assert_eq!(framebuffers(&gl), []);
}
