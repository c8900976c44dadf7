//! Surfaces over an engine's own textures and buffers: all kinds of storage get the pixels, and storage that changed is refused.

use crate::suite::common::{assert_same, headless, pattern, tight};
use crate::suite::device_memory::external;
use glow::{HasContext as _, PixelUnpackData::Slice};
use interop_core::conformance::fill;
use interop_core::display::{Display as _, StagingKind, Surface, SurfacePart};
use interop_core::{Error, Extent, HandleType, PixelFormat, Result};
use pixelferry_gl::{EngineTexture, GlDisplay};

const SIDE: u32 = 16;

/// A texture of the engine's, with the storage that `give` makes.
fn texture(display: &GlDisplay, give: impl FnOnce(&glow::Context)) -> glow::Texture {
    // SAFETY: the context is current.
    unsafe {
        let name = display.gl().create_texture().unwrap();
        respecify(display, name, give);
        name
    }
}

fn respecify(display: &GlDisplay, name: glow::Texture, give: impl FnOnce(&glow::Context)) {
    let gl = display.gl();
    // SAFETY: the context is current and the name of it.
    unsafe {
        gl.bind_texture(glow::TEXTURE_2D, Some(name));
        give(gl);
        gl.bind_texture(glow::TEXTURE_2D, None);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
    }
}

fn immutable(format: u32) -> impl Fn(&glow::Context) {
    // SAFETY: the context is current, and a texture is bound.
    move |gl| unsafe { gl.tex_storage_2d(glow::TEXTURE_2D, 1, format, SIDE as i32, SIDE as i32) }
}

fn mutable(format: u32, side: u32) -> impl Fn(&glow::Context) {
    let side = side as i32;
    move |gl| {
        // SAFETY: the context is current, and a texture is bound.
        unsafe {
            gl.tex_image_2d(
                glow::TEXTURE_2D,
                0,
                format as i32,
                side,
                side,
                0,
                glow::RGBA,
                glow::UNSIGNED_BYTE,
                Slice(None),
            );
        }
    }
}

fn surface(display: &GlDisplay, name: glow::Texture) -> Surface {
    let named = EngineTexture::new(name.0.get(), Extent::new(SIDE, SIDE));
    // SAFETY: the texture is the test's own, which goes with the context.
    unsafe { display.engine_image(named, PixelFormat::Rgba8) }.unwrap()
}

/// Returns what the display does with a surface, all of it.
fn all_calls(display: &GlDisplay, surface: &mut Surface) -> Vec<(&'static str, Result<()>)> {
    let (all, view) = (SurfacePart::full(surface.desc()), tight(surface.desc()));
    let bytes = pattern(&view, 7);
    let mut staging = display.create_staging(StagingKind::Orphaned, bytes.len()).unwrap();
    fill(&mut staging, &bytes).unwrap();
    vec![
        ("upload", surface.upload(&all, &bytes, &view)),
        ("upload_staged", surface.upload_staged(&all, &mut staging, &view)),
        ("download", surface.download(&all, &mut staging, &view)),
        ("read_back", surface.read_back(&all).map(drop)),
        ("export", surface.export(HandleType::GlObject).map(drop)),
    ]
}

#[test]
fn device_memory_reaches_every_kind_of_storage() {
    let Some(display) = headless(None) else { return };
    let Some((mut memory, mut staging)) = external(&display, (SIDE * SIDE * 4) as usize) else { return };
    for (what, name) in [
        ("immutable", texture(&display, immutable(glow::RGBA8))),
        ("encoding", texture(&display, immutable(glow::SRGB8_ALPHA8))),
        ("one level, filtered by levels", texture(&display, mutable(glow::RGBA8, SIDE))),
        ("encoding, one level", texture(&display, mutable(glow::SRGB8_ALPHA8, SIDE))),
    ] {
        let mut surface = surface(&display, name);
        let (all, view) = (SurfacePart::full(surface.desc()), tight(surface.desc()));
        for nonce in [3, 4] {
            let bytes = &pattern(&view, nonce)[..view.payload_len()];
            staging.wait().unwrap();
            memory.write(bytes);
            surface.upload_staged(&all, &mut staging, &view).unwrap();
            assert_same(what, bytes, &surface.read_back(&all).unwrap());
        }
    }
}

#[test]
fn storage_that_changed_is_refused_until_it_is_as_before() {
    let Some(display) = headless(None) else { return };
    let name = texture(&display, mutable(glow::RGBA8, SIDE));
    let mut image = surface(&display, name);
    for other in [mutable(glow::RGBA8, SIDE * 2), mutable(glow::RGBA8, SIDE / 2), mutable(glow::RGBA16F, SIDE)] {
        respecify(&display, name, other);
        for (call, result) in all_calls(&display, &mut image) {
            assert!(matches!(result, Err(Error::InvalidInput { .. })), "{call}: {result:?}");
        }
        respecify(&display, name, mutable(glow::RGBA8, SIDE));
        for (call, result) in all_calls(&display, &mut image) {
            result.unwrap_or_else(|error| panic!("{call}: {error}"));
        }
    }
    let gl = display.gl();
    let resize = |buffer, bytes: usize| {
        // SAFETY: the context is current and the name of it.
        unsafe {
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(buffer));
            gl.buffer_data_size(glow::ARRAY_BUFFER, bytes as i32, glow::DYNAMIC_DRAW);
            gl.bind_buffer(glow::ARRAY_BUFFER, None);
        }
    };
    // SAFETY: the context is current; the buffer is the test's own.
    let (buffer, mut vertices) = unsafe {
        let buffer = gl.create_buffer().unwrap();
        resize(buffer, 100);
        (buffer, display.engine_buffer(buffer.0.get(), 100).unwrap())
    };
    resize(buffer, 60);
    for (call, result) in all_calls(&display, &mut vertices) {
        assert!(matches!(result, Err(Error::InvalidInput { .. })), "{call}: {result:?}");
    }
    resize(buffer, 200);
    for (call, result) in all_calls(&display, &mut vertices) {
        result.unwrap_or_else(|error| panic!("{call}: {error}"));
    }
    // SAFETY: the context is current; the surfaces are only refused from now on.
    unsafe {
        gl.delete_buffer(buffer);
        gl.delete_texture(name);
        // Some drivers give a deleted name to the next object at once, which could be one of the display's own. A name that was
        // given out and never bound is the name of none.
        for _ in 0..64 {
            gl.create_buffer().unwrap();
            gl.create_texture().unwrap();
        }
    }
    for surface in [&mut image, &mut vertices] {
        for (call, result) in all_calls(&display, surface) {
            assert!(matches!(result, Err(Error::InvalidInput { .. })), "{call}: {result:?}");
        }
    }
}
