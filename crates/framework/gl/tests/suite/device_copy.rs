//! Uploads from device memory: by a compute shader where rows start at whole pixels, else by `glTexSubImage2D`, to the
//! same bits.

use crate::suite::common::{
    FORMATS, assert_same, expected, headless, image_view, pattern, read_all, stored, supports, tight,
};
use crate::suite::device_memory::external;
use glow::HasContext as _;
use interop_core::describe::format::ChannelKind;
use interop_core::display::{Display, Surface, SurfacePart};
use interop_core::{Error, ImageDesc, ImageView, PixelFormat, Region, Support, SurfaceDesc, View};
use pixelferry_gl::{DrawOptions, GlDisplay, Viewport};
use pixelferry_testing::{Child, by_level};

/// Every bit pattern sooner or later: denormals, infinities and NaNs among them.
fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// The floats that drivers are known to change.
fn delicate(format: PixelFormat) -> &'static [u8] {
    match format.channel_kind() {
        // The least and the greatest denormal, negative zero, infinity, a quiet and a signalling NaN.
        ChannelKind::Float16 => &[1, 0, 0xff, 3, 0, 0x80, 0, 0x7c, 1, 0x7e, 1, 0x7d],
        ChannelKind::Float32 => &[
            1, 0, 0, 0, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0x80, 0, 0, 0x80, 0x7f, 1, 0, 0xc0, 0x7f, 1, 0, 0x80,
            0x7f, //
        ],
        _ => &[],
    }
}

/// Returns what the texture holds, by `glGetTexImage`, which unlike a draw converts nothing.
fn bits(display: &GlDisplay, surface: &Surface) -> Vec<u8> {
    let SurfaceDesc::Image(ImageDesc { extent, format, .. }) = *surface.desc() else { panic!("no image") };
    let (channels, ty) = stored(format);
    let mut bytes = vec![0; extent.width as usize * extent.height as usize * format.bytes_per_pixel()];
    let gl = display.gl();
    // SAFETY: the context is current; the texture is of it, and tight rows of it fit into `bytes`.
    unsafe {
        gl.pixel_store_i32(glow::PACK_ALIGNMENT, 1);
        gl.bind_texture(glow::TEXTURE_2D, Some(display.surface_texture(surface).unwrap().name));
        gl.get_tex_image(glow::TEXTURE_2D, 0, channels, ty, glow::PixelPackData::Slice(Some(&mut bytes)));
        gl.bind_texture(glow::TEXTURE_2D, None);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
    }
    bytes
}

/// Programs that a copy makes: one where there are compute shaders.
fn copying_programs(display: &GlDisplay) -> usize {
    let listed = display.gl().supported_extensions().contains("GL_ARB_compute_shader");
    usize::from(display.version() >= (4, 3) || (display.version() == (4, 2) && listed))
}

#[test]
fn the_shader_copies_the_same_bits() {
    let Some(display) = headless(None) else { return };
    let Some((mut memory, mut staging)) = external(&display, 110_003) else { return };
    let regions = [
        Region::new(0, 0, 61, 37),
        Region::new(0, 0, 1, 1),
        Region::new(60, 36, 1, 1),
        Region::new(3, 5, 33, 9),
        Region::new(7, 0, 1, 37),
        Region::new(0, 36, 61, 1),
        Region::new(29, 8, 32, 8),
    ];
    assert_eq!(display.object_counts().programs, 0);
    let mut seed = 0;
    for format in FORMATS.into_iter().step_by(by_level(3, 1, 1)) {
        let bpp = format.bytes_per_pixel();
        let desc = SurfaceDesc::image(61, 37, format);
        let whole = tight(&desc);
        let mut by_shader = display.create_surface(&desc).unwrap();
        let mut by_gl = display.create_surface(&desc).unwrap();
        let before = noise(whole.payload_len(), 999);
        for surface in [&mut by_shader, &mut by_gl] {
            surface.upload(&SurfacePart::full(&desc), &before, &whole).unwrap();
        }
        for region in regions {
            let row = region.width as usize * bpp;
            // Tight; from an odd pixel on; padded; both; over 2^16 bytes into the block.
            for (offset, pitch) in [(0, row), (3 * bpp, row), (0, row + bpp), (5 * bpp, row + 7 * bpp), (65_552, row)] {
                seed += 1;
                let view = image_view(region.width, region.height, format, offset, pitch);
                let mut bytes = noise(view.checked_span().unwrap().end, seed);
                let delicate = delicate(format);
                let first = delicate.len().min(row);
                bytes[offset..offset + first].copy_from_slice(&delicate[..first]);
                staging.wait().unwrap();
                memory.write(&bytes);
                let part = SurfacePart::Image(region);
                by_shader.upload_staged(&part, &mut staging, &view).unwrap();
                by_gl.upload(&part, &bytes, &view).unwrap();
                let what = format!("{format} {region} offset {offset} pitch {pitch}");
                assert_same(&what, &bits(&display, &by_gl), &bits(&display, &by_shader));
            }
        }
    }
    let programs = display.object_counts().programs;
    assert_eq!(programs, copying_programs(&display), "one program for all formats, and nothing was drawn");
    println!("OpenGL {:?}, {programs} programs", display.version());
    drop((staging, memory));
    let counts = display.object_counts();
    assert_eq!((counts.textures, counts.buffers, counts.memory_objects), (0, 0, 0));
}

/// Mesa plays older drivers: OpenGL 4.2 with and without the extension.
#[test]
fn older_drivers_copy_the_same_bits() {
    let Some(display) = headless(None) else { return };
    if external(&display, 4096).is_none() {
        return;
    }
    // SAFETY: the context is current.
    let is_mesa = unsafe { display.gl().get_parameter_string(glow::VERSION) }.contains("Mesa");
    let poses = if is_mesa { Support::Yes } else { Support::No("only Mesa does".into()) };
    if !supports(&display, "to pose as an older driver", poses) {
        return;
    }
    drop(display);
    let version = [("MESA_GL_VERSION_OVERRIDE", "4.2"), ("MESA_GLSL_VERSION_OVERRIDE", "420")];
    for (extensions, programs) in [("-GL_ARB_compute_shader", 0), ("", 1)].into_iter().take(by_level(1, 2, 2)) {
        let child = Child::of("suite::device_copy::the_shader_copies_the_same_bits").unwrap().envs(&version);
        let text = child.env("MESA_EXTENSION_OVERRIDE", extensions).run().unwrap().passed();
        assert!(text.contains(&format!("OpenGL (4, 2), {programs} programs")), "{text}");
    }
}

#[test]
fn rows_between_pixels_go_the_other_way() {
    let Some(display) = headless(None) else { return };
    let Some((mut memory, mut staging)) = external(&display, 1 << 16) else { return };
    for format in FORMATS.into_iter().filter(|f| f.channel_kind().bytes() < f.bytes_per_pixel()) {
        let (bpp, channel) = (format.bytes_per_pixel(), format.channel_kind().bytes());
        let desc = SurfaceDesc::image(21, 9, format);
        let mut surface = display.create_surface(&desc).unwrap();
        for (nonce, (offset, pitch)) in (1..).zip([(channel, 21 * bpp), (0, 21 * bpp + channel)]) {
            let view = image_view(21, 9, format, offset, pitch);
            let bytes = noise(view.checked_span().unwrap().end, nonce);
            staging.wait().unwrap();
            memory.write(&bytes);
            surface.upload_staged(&SurfacePart::full(&desc), &mut staging, &view).unwrap();
            let rows = (0..9).flat_map(|y| &bytes[offset + y * pitch..][..21 * bpp]).copied().collect::<Vec<_>>();
            assert_same(&format!("{format} offset {offset}"), &rows, &bits(&display, &surface));
        }
    }
    assert_eq!(display.object_counts().programs, 0, "no shader copies these");
}

#[test]
fn texels_past_the_limit_go_the_other_way() {
    let Some(display) = headless(None) else { return };
    // SAFETY: the context is current; the limit is one integer.
    let limit = unsafe { display.gl().get_parameter_i32(glow::MAX_TEXTURE_BUFFER_SIZE) } as usize;
    let few =
        if limit <= 1 << 28 { Support::Yes } else { Support::No(format!("it holds {limit}, too many for a test")) };
    if !supports(&display, "a buffer texture of few texels", few) {
        return;
    }
    let Some((mut memory, mut staging)) = external(&display, limit + 64) else { return };
    let desc = SurfaceDesc::image(8, 4, PixelFormat::R8);
    let mut surface = display.create_surface(&desc).unwrap();
    let mut bytes = vec![0; limit + 64];
    let end = noise(96, 7);
    bytes[limit - 32..].copy_from_slice(&end);
    memory.write(&bytes);
    for (offset, programs) in [(limit - 31, 0), (limit - 32, copying_programs(&display))] {
        let view = image_view(8, 4, PixelFormat::R8, offset, 8);
        surface.upload_staged(&SurfacePart::full(&desc), &mut staging, &view).unwrap();
        let start = offset + 32 - limit;
        assert_same("past", &end[start..start + 32], &bits(&display, &surface));
        assert_eq!(display.object_counts().programs, programs, "byte {offset}");
    }
}

#[test]
fn uploads_draws_and_reads_keep_their_order() {
    let Some(display) = headless(None) else { return };
    let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
    let view = tight(&desc);
    let Some((mut memory, mut staging)) = external(&display, 64 * 64 * 4 + 16) else { return };
    let mut surface = display.create_surface(&desc).unwrap();
    let target = display.create_offscreen_target(64, 64).unwrap();
    target.bind().unwrap();
    for nonce in 0..20 {
        staging.wait().unwrap();
        memory.write(&expected(&view, nonce));
        surface.upload_staged(&SurfacePart::full(&desc), &mut staging, &view).unwrap();
        display.draw(&surface, Viewport::full(64, 64), DrawOptions::default()).unwrap();
        // The draw above must not see this one, nor the shader the host's next write.
        surface.upload(&SurfacePart::full(&desc), &pattern(&view, 100 + nonce), &view).unwrap();
        staging.fence().unwrap();
        // The target's top row comes first.
        let drawn: Vec<u8> = target.read_pixels().unwrap().rchunks(64 * 4).flatten().copied().collect();
        assert_same("drawn", &expected(&view, nonce), &drawn);
        assert_same("kept", &expected(&view, 100 + nonce), &read_all(&mut surface));
    }
    target.unbind().unwrap();
}

#[test]
fn rows_in_reverse_are_refused() {
    let Some(display) = headless(None) else { return };
    let Some((_memory, mut staging)) = external(&display, 4096) else { return };
    let desc = SurfaceDesc::image(8, 8, PixelFormat::Rgba8);
    let mut surface = display.create_surface(&desc).unwrap();
    let View::Image(view) = tight(&desc) else { panic!("no image") };
    let reversed = View::Image(ImageView { offset: 7 * 32, row_pitch: -32, ..view });
    let refused = surface.upload_staged(&SurfacePart::full(&desc), &mut staging, &reversed);
    assert!(matches!(refused, Err(Error::InvalidInput { .. })), "{refused:?}");
    assert!(read_all(&mut surface).iter().all(|b| *b == 0));
}
