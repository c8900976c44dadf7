//! In an engine's context every call leaves the state as it found it: state is set to unusual values, compared before
//! and after each operation.

use crate::suite::common;
#[cfg(unix)]
use crate::suite::device_memory;
use crate::suite::engine::Engine;
use crate::suite::state::{engine_framebuffers, make_unusual, snapshot, unchanged};
use glow::HasContext as _;
use glutin::prelude::{GlDisplay as _, PossiblyCurrentGlContext as _};
use interop_core::conformance::{fill, stored};
use interop_core::display::{Display, StagingKind, SurfacePart};
use interop_core::{BufferView, HostBlock, ImageDesc, PixelFormat, Region, SurfaceDesc, View};
use pixelferry_gl::{
    AlphaMode, DrawOptions, Encoding, EngineOptions, Filter, Fit, GlDisplay, Manner, ToneMap, Viewport,
};
use pixelferry_testing::{Need, by_level, need, pass_in_child};
use std::sync::Arc;

fn exercise(gl: &glow::Context, display: &GlDisplay, format: PixelFormat) {
    let desc = SurfaceDesc::image(21, 9, format);
    let view = common::tight(&desc);
    let padded = common::image_view(21, 9, format, 0, 24 * format.bytes_per_pixel());
    let full = SurfacePart::full(&desc);
    let mut surface = unchanged(gl, "create_surface", || display.create_surface(&desc).unwrap());
    unchanged(gl, "upload", || surface.upload(&full, &common::pattern(&view, 1), &view).unwrap());
    unchanged(gl, "upload padded", || surface.upload(&full, &common::pattern(&padded, 2), &padded).unwrap());
    let back = unchanged(gl, "read_back", || surface.read_back(&full).unwrap());
    common::assert_same("read_back", &common::expected(&padded, 2), &back);

    let bytes = 24 * 9 * 16 + 7;
    let kinds =
        [StagingKind::Orphaned, StagingKind::Persistent, StagingKind::Imported(HostBlock::allocate(bytes).unwrap())];
    for (nonce, kind) in (3..).zip(kinds) {
        let name = format!("{kind:?}");
        if matches!(kind, StagingKind::Persistent) && !display.caps().persistent_staging.is_yes()
            || matches!(kind, StagingKind::Imported(_))
                && !display
                    .caps()
                    .can_import(interop_core::HandleType::HostPointer, interop_core::MemoryShape::Linear)
                    .is_yes()
        {
            continue;
        }
        let mut staging = unchanged(gl, &name, || display.create_staging(kind, bytes).unwrap());
        let pattern = common::pattern(&padded, nonce);
        unchanged(gl, "fill", || fill(&mut staging, &pattern).unwrap());
        unchanged(gl, "upload_staged", || surface.upload_staged(&full, &mut staging, &padded).unwrap());
        unchanged(gl, "fence", || staging.fence().unwrap());
        unchanged(gl, "wait", || staging.wait().unwrap());
        let back = surface.read_back(&full).unwrap();
        common::assert_same("staged", &common::expected(&padded, nonce), &back);

        let mut in_place = unchanged(gl, "create in place", || display.create_in_place_surface(&desc).unwrap());
        if !display.caps().in_place_images.is_yes() {
            let refused = unchanged(gl, "read_in_place", || in_place.read_in_place(&staging, &padded));
            assert!(matches!(refused, Err(interop_core::Error::Unsupported { .. })));
            unchanged(gl, "drop", || drop((in_place, staging)));
            continue;
        }
        unchanged(gl, "read_in_place", || in_place.read_in_place(&staging, &padded).unwrap());
        let back = unchanged(gl, "read_back in place", || in_place.read_back(&full).unwrap());
        common::assert_same("in place", &common::expected(&padded, nonce), &back);
        unchanged(gl, "draw in place", || {
            display.draw(&in_place, Viewport::full(40, 30), DrawOptions::default()).unwrap();
        });

        for _ in 0..2 {
            unchanged(gl, "draw_offscreen in place", || display.draw_offscreen(&in_place).unwrap());
        }

        let buffer_desc = SurfaceDesc::buffer(100);
        let mut buffer = unchanged(gl, "create buffer", || display.create_surface(&buffer_desc).unwrap());
        let view = View::Buffer(BufferView { offset: 3, len: 100 });
        unchanged(gl, "upload buffer", || buffer.upload(&SurfacePart::Buffer(0..100), &[1; 103], &view).unwrap());
        unchanged(gl, "copy buffer", || {
            buffer.upload_staged(&SurfacePart::Buffer(0..100), &mut staging, &view).unwrap()
        });
        for _ in 0..2 {
            unchanged(gl, "read buffer offscreen", || display.draw_offscreen(&buffer).unwrap());
        }
        unchanged(gl, "read buffer", || buffer.read_back(&SurfacePart::Buffer(1..50)).unwrap());
        unchanged(gl, "drop", || drop((in_place, buffer, staging)));
    }
    #[cfg(unix)]
    unchanged(gl, "no memory to open", || {
        let fd = std::fs::File::open("/dev/null").unwrap().into();
        // SAFETY: it is no memory, which the driver finds out.
        let memory = unsafe { interop_core::MemoryHandle::new(fd, 4096, false) };
        let handle = interop_core::SharedHandle::Memory(memory);
        assert!(display.create_staging(StagingKind::External(handle), 64).is_err());
    });
    exercise_exported(gl, display, format);
    let part = SurfacePart::Image(Region::new(3, 2, 5, 4));
    unchanged(gl, "read part", || surface.read_back(&part).unwrap());
    for filter in [Filter::Nearest, Filter::Linear] {
        let options = DrawOptions::default().with_filter(filter).with_fit(Fit::Contain);
        unchanged(gl, "draw", || display.draw(&surface, Viewport::full(64, 64), options).unwrap());
    }
    let light = ImageDesc::new(9, 5, format).with_encoding(Encoding::Linear).with_alpha(AlphaMode::Straight);
    let light = display.create_surface(&SurfaceDesc::Image(light)).unwrap();
    for background in [None, Some([0.5; 3])] {
        let options =
            DrawOptions::default().with_background(background).with_fit(Fit::Contain).with_tone_map(ToneMap::AcesHill);
        unchanged(gl, "draw light", || display.draw(&light, Viewport::full(64, 64), options).unwrap());
    }
    unchanged(gl, "drop light", || drop(light));
    for _ in 0..2 {
        unchanged(gl, "draw_offscreen", || display.draw_offscreen(&surface).unwrap());
    }
    unchanged(gl, "clear", || display.clear([0.5; 4]).unwrap());
    let target = unchanged(gl, "offscreen", || display.create_offscreen_target(8, 8).unwrap());
    unchanged(gl, "offscreen use", || {
        target.bind().unwrap();
        display.clear([1.0, 0.0, 0.0, 1.0]).unwrap();
        target.unbind().unwrap();
    });
    let pixels = unchanged(gl, "offscreen read", || target.read_pixels().unwrap());
    assert_eq!(pixels, [255, 0, 0, 255].repeat(64));
    unchanged(gl, "names", || display.surface_texture(&surface).unwrap());
    unchanged(gl, "drop surface", || drop((surface, target)));
}

/// Draws in either manner, blended and not, and those by which the quicker one is found out.
fn exercise_manners(gl: &glow::Context, display: &GlDisplay, format: PixelFormat, stores: bool) {
    let desc = ImageDesc::new(9, 5, format).with_encoding(Encoding::Srgb).with_alpha(AlphaMode::Premultiplied);
    let surface = display.create_surface(&SurfaceDesc::Image(desc)).unwrap();
    let draw = |options| display.draw(&surface, Viewport { x: -3, y: 7, width: 30, height: 90 }, options).unwrap();
    for manner in Manner::ALL {
        for background in [None, Some([0.5; 3])] {
            let options = DrawOptions::default().with_background(background).with_manner(manner);
            unchanged(gl, manner.name(), || draw(options));
        }
        unchanged(gl, "draw_offscreen_by", || display.draw_offscreen_by(&surface, Some(manner)).unwrap());
        let expected = if stores { manner } else { Manner::Triangle };
        assert_eq!(display.drawn().unwrap().manner, expected);
    }
    for _ in 0..10 {
        unchanged(gl, "measured draw", || draw(DrawOptions::default()));
    }
    unchanged(gl, "drop drawn", || drop(surface));
}

/// Uploads from memory of another API: by the shader, and by `glTexSubImage2D` where rows start between pixels.
#[cfg(unix)]
fn exercise_device_memory(gl: &glow::Context, display: &GlDisplay) {
    let Some((mut memory, mut staging)) = device_memory::external(display, 1 << 14) else { return };
    let mut programs = 0;
    for format in common::FORMATS.into_iter().step_by(by_level(4, 1, 1)) {
        let (bpp, channel) = (format.bytes_per_pixel(), format.channel_kind().bytes());
        let desc = SurfaceDesc::image(21, 9, format);
        let mut surface = display.create_surface(&desc).unwrap();
        for (nonce, offset) in (20..).zip([2 * bpp, channel]) {
            let view = common::image_view(21, 9, format, offset, 24 * bpp);
            unchanged(gl, "wait", || staging.wait().unwrap());
            memory.write(&common::pattern(&view, nonce));
            let full = SurfacePart::full(&desc);
            let before = display.object_counts().programs;
            unchanged(gl, "device copy", || surface.upload_staged(&full, &mut staging, &view).unwrap());
            programs += display.object_counts().programs - before;
            common::assert_same("copied", &common::expected(&view, nonce), &surface.read_back(&full).unwrap());
            unchanged(gl, "fence", || staging.fence().unwrap());
        }
    }
    assert_eq!(programs, 1, "the shader copied");
    unchanged(gl, "drop device memory", || drop(staging));
}

/// A texture made for others, where the context can.
fn exercise_exported(gl: &glow::Context, display: &GlDisplay, format: PixelFormat) {
    let (opaque, shape) = (interop_core::HandleType::OpaqueFd, interop_core::MemoryShape::Image);
    let desc = SurfaceDesc::image(21, 9, format);
    let SurfaceDesc::Image(image) = desc else { return };
    let make = || display.create_staging(StagingKind::ExportedImage(image), 1);
    if !display.caps().can_export(opaque, shape).is_yes() {
        unchanged(gl, "no texture to export", || assert!(make().is_err()));
        return;
    }
    let Some(staging) = need(Need::Lavapipe, unchanged(gl, "exported texture", make)) else { return };
    unchanged(gl, "export", || drop(staging.export(opaque).unwrap()));
    let mut surface = display.create_in_place_surface(&desc).unwrap();
    unchanged(gl, "show exported", || surface.read_in_place(&staging, &common::tight(&desc)).unwrap());
    unchanged(gl, "draw exported offscreen", || display.draw_offscreen(&surface).unwrap());
    unchanged(gl, "drop exported", || drop((surface, staging)));
}

/// All operations of a display in an engine's context, in formats so far apart.
fn all_leave_the_state(engine: &Engine, on: bool, limit: Option<(u32, u32)>, step: usize) {
    let gl = engine.glow();
    engine_framebuffers(&gl);
    // A driver of GL 3.3 has one viewport.
    make_unusual(&gl, on, limit.is_none());
    let display = unchanged(&gl, "from_loader", || engine.pixelferry(limit));
    let stores = limit.is_none() && !display.is_es();
    for format in display.caps().image_formats.iter().copied().step_by(step) {
        exercise(&gl, &display, format);
        exercise_manners(&gl, &display, format, stores);
    }
    // The extension is in no version's core.
    #[cfg(unix)]
    if stores {
        exercise_device_memory(&gl, &display);
        // An engine that has bound no image.
        // SAFETY: the context is current.
        unsafe { gl.bind_image_texture(0, None, 0, false, 0, glow::READ_ONLY, glow::R8) };
        exercise_device_memory(&gl, &engine.pixelferry(None));
    }
    unchanged(&gl, "drop display", || drop(display));
}

#[test]
fn every_operation_leaves_the_state_as_it_was() {
    let Some(engine) = Engine::new() else { return };
    for on in by_level(&[true][..], &[true, false], &[true, false]) {
        for limit in [None, Some((3, 3))] {
            all_leave_the_state(&engine, *on, limit, by_level(12, 1, 1));
        }
    }
}

/// Below 3.2 by the extensions of each version.
#[test]
fn every_operation_leaves_the_state_of_opengl_es_as_it_was() {
    for version in ["3.0", "3.2", "3.1"].into_iter().take(by_level(1, 3, 3)) {
        pass_in_child("suite::engine_state::child_es", None, &[("MESA_GLES_VERSION_OVERRIDE", version)], &["RAN ON"]);
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_es() {
    let Some(engine) = Engine::es() else { return };
    println!("RAN ON {:?}", engine.glow().version());
    let ways = [(true, None), (true, Some((3, 0))), (false, None)];
    for (on, limit) in ways.into_iter().take(by_level(1, 3, 3)) {
        all_leave_the_state(&engine, on, limit, by_level(9, 3, 3));
    }
}

#[test]
fn the_snapshot_sees_changes_in_opengl_es() {
    let Some(engine) = Engine::es() else { return };
    let all = sees_changes(&engine.glow());
    assert!(all > 60, "{all} values are too few");
}

#[test]
fn the_snapshot_sees_changes() {
    let Some(engine) = Engine::new() else { return };
    sees_changes(&engine.glow());
}

/// Fails unless nearly all values of the snapshot change with the state; how many there are.
fn sees_changes(gl: &glow::Context) -> usize {
    let before = snapshot(gl);
    engine_framebuffers(gl);
    make_unusual(gl, true, true);
    let after = snapshot(gl);
    let same: Vec<_> = before.iter().filter(|(name, value)| after[*name] == **value).map(|(n, _)| n).collect();
    // Set through the other attachments only, or not settable in a surfaceless context.
    assert!(same.len() < 10, "these never change, so the comparison proves nothing: {same:?}");
    before.len()
}

#[test]
fn a_draw_reaches_the_engines_framebuffer_whatever_the_state() {
    let Some(engine) = Engine::new() else { return };
    let gl = engine.glow();
    let draw = engine_framebuffers(&gl);
    make_unusual(&gl, true, true);
    let display = engine.pixelferry(None);
    let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
    let view = common::tight(&desc);
    let surface = stored(&*display, &desc, &common::expected(&view, 5)).unwrap();
    display.draw(&surface, Viewport::full(64, 64), DrawOptions::default()).unwrap();
    let mut found = vec![0; 64 * 64 * 4];
    // SAFETY: the engine's context is current; pack state is set for tight rows first.
    unsafe {
        gl.bind_framebuffer(glow::READ_FRAMEBUFFER, Some(draw));
        gl.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
        for parameter in [glow::PACK_ROW_LENGTH, glow::PACK_SKIP_ROWS, glow::PACK_SKIP_PIXELS, glow::PACK_SWAP_BYTES] {
            gl.pixel_store_i32(parameter, 0);
        }
        let data = glow::PixelPackData::Slice(Some(&mut found));
        gl.read_pixels(0, 0, 64, 64, glow::RGBA, glow::UNSIGNED_BYTE, data);
    }
    common::assert_same("drawn", &common::expected(&view, 5), &found);
}

#[test]
fn errors_of_the_engine_are_not_ours() {
    let Some(engine) = Engine::new() else { return };
    let gl = engine.glow();
    let display = engine.pixelferry(None);
    // SAFETY: an invalid enum does nothing but leave an error.
    unsafe { gl.enable(0xFFFF) };
    display.create_surface(&SurfaceDesc::image(4, 4, PixelFormat::Rgba8)).unwrap();
}

#[test]
fn works_by_the_engines_own_glow() {
    let Some(engine) = Engine::new() else { return };
    let gl = engine.glow();
    engine_framebuffers(&gl);
    // SAFETY: the context is current and outlives the display.
    let display = unsafe { GlDisplay::from_engine(gl.clone(), engine.options(None)) }.unwrap();
    exercise(&gl, &display, PixelFormat::Rgba8);
    assert!(display.make_current().is_err());
    drop(display);
    assert_eq!(Arc::strong_count(&gl), 1);
}

/// eframe and three-d hold their glow in an `Arc`.
#[test]
fn works_by_a_glow_that_the_engine_shares() {
    let Some(engine) = Engine::new() else { return };
    let load = |name: &std::ffi::CStr| engine.display.get_proc_address(name);
    // SAFETY: the context is current and the loader is its own.
    let gl = Arc::new(unsafe { glow::Context::from_loader_function_cstr(load) });
    // SAFETY: the context is current and outlives the display.
    let display = unsafe { GlDisplay::from_engine(Arc::clone(&gl), EngineOptions::default()) }.unwrap();
    let mut surface = display.create_surface(&SurfaceDesc::image(4, 4, PixelFormat::Rgba8)).unwrap();
    surface.read_back(&SurfacePart::full(&SurfaceDesc::image(4, 4, PixelFormat::Rgba8))).unwrap();
    drop((surface, display));
    assert_eq!(Arc::strong_count(&gl), 1);
}

#[test]
fn a_loader_without_a_context_is_an_error() {
    let Some(engine) = Engine::new() else { return };
    engine.context.make_not_current_in_place().unwrap();
    // SAFETY: nothing but glGetString is called where it returns null.
    let made = unsafe { GlDisplay::from_loader(|s| engine.display.get_proc_address(s), engine.options(None)) };
    assert!(matches!(made, Err(interop_core::Error::Unavailable { .. })), "{made:?}");
    // SAFETY: nothing is called.
    let made = unsafe { GlDisplay::from_loader(|_| std::ptr::null(), engine.options(None)) };
    assert!(matches!(made, Err(interop_core::Error::Unavailable { .. })), "{made:?}");
}
