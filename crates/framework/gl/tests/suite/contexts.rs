//! Wrong contexts, strangers' objects, and objects that die at the wrong time.

use crate::suite::common;
use crate::suite::common::{FORMATS, headless};
use crate::suite::engine::Engine;
use glow::HasContext as _;
use glutin::prelude::{GlDisplay as _, PossiblyCurrentGlContext as _};
use interop_core::conformance::stored;
use interop_core::describe::PlainMutex;
use interop_core::display::{Display, StagingKind, SurfacePart};
use interop_core::{DisplayCaps, Error, HandleType, HostBlock, PixelFormat, SharedHandle, SurfaceDesc};
use pixelferry_gl::{DrawOptions, EngineOptions, GlDisplay, HeadlessOptions, ObjectCounts, Viewport, headless_devices};
use pixelferry_testing::{Need, by_level, need};
use std::rc::Rc;
use std::sync::Arc;

const DESC: SurfaceDesc = SurfaceDesc::image(16, 8, PixelFormat::Rgba8);

fn is_wrong<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::WrongContext { .. }))
}

#[test]
fn calls_in_another_context_are_refused() {
    let Some(first) = headless(None) else { return };
    let view = common::tight(&DESC);
    let mut surface = first.create_surface(&DESC).unwrap();
    let mut in_place = first.create_in_place_surface(&DESC).unwrap();
    let mut buffer = first.create_surface(&SurfaceDesc::buffer(16)).unwrap();
    let mut staging = first.create_staging(StagingKind::Persistent, 600).unwrap();
    let mut orphaned = first.create_staging(StagingKind::Orphaned, 600).unwrap();
    let target = first.create_offscreen_target(4, 4).unwrap();
    staging.fence().unwrap();
    let bytes = common::pattern(&view, 1);
    surface.upload(&SurfacePart::full(&DESC), &bytes, &view).unwrap();

    let second = headless(None).unwrap();
    assert!(second.is_current() && !first.is_current());
    let full = SurfacePart::full(&DESC);
    assert!(is_wrong(first.create_surface(&DESC)));
    assert!(is_wrong(first.create_in_place_surface(&DESC)));
    assert!(is_wrong(first.create_staging(StagingKind::Orphaned, 4)));
    assert!(is_wrong(first.create_offscreen_target(4, 4)));
    assert!(is_wrong(surface.upload(&full, &bytes, &view)));
    assert!(is_wrong(surface.upload_staged(&full, &mut staging, &view)));
    assert!(is_wrong(in_place.read_in_place(&staging, &view)));
    assert!(is_wrong(surface.read_back(&full)));
    assert!(is_wrong(surface.export(HandleType::GlObject)));
    assert!(is_wrong(buffer.read_back(&SurfacePart::Buffer(0..1))));
    assert!(is_wrong(staging.fence()) && is_wrong(staging.wait()));
    assert!(is_wrong(orphaned.map_write(&mut |_| Ok(()))));
    assert!(is_wrong(first.draw(&surface, Viewport::full(1, 1), DrawOptions::default())));
    assert!(is_wrong(first.surface_texture(&surface)));
    assert!(is_wrong(first.surface_buffer(&buffer)));
    assert!(is_wrong(first.clear([0.0; 4])));
    assert!(is_wrong(target.bind()) && is_wrong(target.read_pixels()));

    // Nothing was lost.
    first.make_current().unwrap();
    common::assert_same("after", &common::expected(&view, 1), &surface.read_back(&full).unwrap());
    staging.wait().unwrap();
}

#[test]
fn the_current_context_is_found_without_a_loader() {
    let none = || {
        // SAFETY: nothing is made where no context is current.
        let result = unsafe { GlDisplay::from_current(EngineOptions::default()) };
        matches!(result, Err(Error::Unavailable { reason, .. }) if reason.contains("no context that is current"))
    };
    assert!(none());
    let Some(engine) = Engine::new() else { return };
    // SAFETY: the engine's context is current, and goes after the display.
    let display = unsafe { GlDisplay::from_current(EngineOptions::default()) }.unwrap();
    let by_loader = engine.pixelferry(None);
    assert_eq!(display.device(), by_loader.device());
    assert_eq!(display.version(), by_loader.version());
    // The queue's number is each display's own.
    let (found, loaded) = (display.caps(), by_loader.caps());
    let exports = |caps: &DisplayCaps| {
        let others = caps.exports.iter().filter(|cap| !matches!(cap.handle, HandleType::QueueBuffer(_)));
        (others.cloned().collect::<Vec<_>>(), caps.exports.len())
    };
    assert_eq!((exports(found), found.imports.len()), (exports(loaded), loaded.imports.len()));
    assert_eq!((&found.semaphores, &found.persistent_staging), (&loaded.semaphores, &loaded.persistent_staging));
    let view = common::tight(&DESC);
    let mut surface = stored(&*display, &DESC, &common::expected(&view, 1)).unwrap();
    common::assert_same("found", &common::expected(&view, 1), &surface.read_back(&SurfacePart::full(&DESC)).unwrap());
    let texture = display.surface_texture(&surface).unwrap();
    assert_eq!(texture.id(), texture.name.0.get());

    let stranger = headless(None).unwrap();
    assert!(is_wrong(surface.read_back(&SurfacePart::full(&DESC))) && is_wrong(display.create_surface(&DESC)));
    drop(stranger);
    assert!(none(), "the context of a display that is gone");
    engine.make_current();
    surface.read_back(&SurfacePart::full(&DESC)).unwrap();
}

/// It goes when another is used, so that it cannot be put back.
#[test]
fn a_program_that_was_deleted_in_use_is_no_error() {
    const TEXT: [(u32, &str); 2] = [
        (glow::VERTEX_SHADER, "#version 330\nvoid main() { gl_Position = vec4(0.0); }"),
        (glow::FRAGMENT_SHADER, "#version 330\nvoid main() {}"),
    ];
    let Some(engine) = Engine::new() else { return };
    let (display, gl) = (engine.pixelferry(None), engine.glow());
    let surface = stored(&*display, &DESC, &common::expected(&common::tight(&DESC), 1)).unwrap();
    let target = display.create_offscreen_target(16, 8).unwrap();
    target.bind().unwrap();
    // SAFETY: the engine's context is current; names are made, used and deleted here.
    unsafe {
        let program = gl.create_program().unwrap();
        for (kind, text) in TEXT {
            let shader = gl.create_shader(kind).unwrap();
            gl.shader_source(shader, text);
            gl.compile_shader(shader);
            gl.attach_shader(program, shader);
            gl.delete_shader(shader);
        }
        gl.link_program(program);
        gl.use_program(Some(program));
        gl.delete_program(program);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
    }
    display.draw(&surface, Viewport::full(16, 8), DrawOptions::default()).unwrap();
    // SAFETY: the engine's context is current.
    assert_eq!(unsafe { gl.get_error() }, glow::NO_ERROR);
    assert_eq!(target.read_pixels().unwrap().len(), 16 * 8 * 4);
}

#[test]
fn objects_of_another_display_are_refused() {
    let Some(first) = headless(None) else { return };
    let view = common::tight(&DESC);
    let mut surface = first.create_surface(&DESC).unwrap();
    let buffer = first.create_surface(&SurfaceDesc::buffer(16)).unwrap();
    let mut staging = first.create_staging(StagingKind::Orphaned, 600).unwrap();
    let second = headless(None).unwrap();
    let mut other = second.create_surface(&DESC).unwrap();
    let mut other_in_place = second.create_in_place_surface(&DESC).unwrap();
    let foreign = |r: Result<(), Error>| assert!(matches!(r, Err(Error::Foreign { .. })), "{r:?}");
    foreign(second.draw(&surface, Viewport::full(1, 1), DrawOptions::default()));
    foreign(second.surface_texture(&surface).map(drop));
    foreign(second.surface_buffer(&buffer).map(drop));
    foreign(other.upload_staged(&SurfacePart::full(&DESC), &mut staging, &view));
    foreign(other_in_place.read_in_place(&staging, &view));
    first.make_current().unwrap();
    surface.upload_staged(&SurfacePart::full(&DESC), &mut staging, &view).unwrap();
    // The wrong kind is another mistake.
    assert!(matches!(first.surface_buffer(&surface), Err(Error::InvalidInput { .. })));
    assert!(matches!(first.surface_texture(&buffer), Err(Error::InvalidInput { .. })));
}

#[test]
fn names_are_never_deleted_in_a_strangers_context() {
    let Some(engine) = Engine::new() else { return };
    let display = engine.pixelferry(None);
    let mut surface = display.create_surface(&DESC).unwrap();
    surface.read_back(&SurfacePart::full(&DESC)).unwrap();
    let staging = display.create_staging(StagingKind::Orphaned, 64).unwrap();
    let pages = HostBlock::allocate(4096).unwrap();
    let imported = display.create_staging(StagingKind::Imported(pages), 64).ok();
    let texture = display.surface_texture(&surface).unwrap().name;
    let before = display.object_counts();
    assert_eq!(before.awaiting_context, 0);

    let stranger = headless(None).unwrap();
    // Names are small numbers in every context: the stranger has a texture of the same name.
    let mine: Vec<_> = (0..20).map(|_| stranger.create_surface(&DESC).unwrap()).collect();
    assert!(mine.iter().any(|s| stranger.surface_texture(s).unwrap().name == texture));
    drop((surface, staging, imported));
    for s in &mine {
        let name = stranger.surface_texture(s).unwrap().name;
        // SAFETY: the stranger's context is current.
        assert!(unsafe { stranger.gl().is_texture(name) });
    }
    assert!(display.object_counts().awaiting_context >= 2);
    assert_eq!(display.object_counts().textures, before.textures);

    engine.make_current();
    // SAFETY: the engine's context is current.
    assert!(unsafe { display.gl().is_texture(texture) });
    let target = display.create_offscreen_target(1, 1).unwrap();
    // SAFETY: as above. The name was deleted, and may have been given out again to the target.
    assert!(unsafe { !display.gl().is_texture(texture) } || target.texture() == texture);
    drop(target);
    let after = display.object_counts();
    assert_eq!(
        (after.textures, after.buffers, after.awaiting_context),
        (before.textures - 1, before.buffers - 1 - usize::from(before.buffers > 1), 0)
    );
}

#[test]
fn nothing_is_left_after_the_last_drop() {
    let Some(engine) = Engine::new() else { return };
    let gl = engine.glow();
    let names = |gl: &glow::Context| {
        // SAFETY: the engine's context is current.
        (1..200u32)
            .filter(|n| unsafe {
                let n = std::num::NonZeroU32::new(*n).unwrap();
                gl.is_texture(glow::NativeTexture(n))
                    || gl.is_buffer(glow::NativeBuffer(n))
                    || gl.is_framebuffer(glow::NativeFramebuffer(n))
                    || gl.is_program(glow::NativeProgram(n))
            })
            .count()
    };
    let before = names(&gl);
    let display = engine.pixelferry(None);
    for round in 0..3 {
        for format in FORMATS.into_iter().step_by(by_level(4, 1, 1)) {
            let desc = SurfaceDesc::image(9, 5, format);
            let view = common::tight(&desc);
            let mut surface = display.create_surface(&desc).unwrap();
            surface.read_back(&SurfacePart::full(&desc)).unwrap();
            let mut in_place = display.create_in_place_surface(&desc).unwrap();
            let mut staging = display.create_staging(StagingKind::Persistent, 1000).unwrap();
            in_place.read_in_place(&staging, &view).unwrap();
            in_place.read_back(&SurfacePart::full(&desc)).unwrap();
            staging.fence().unwrap();
            // In any order.
            if round == 0 { drop((staging, in_place)) } else { drop((in_place, staging)) }
        }
    }
    assert!(names(&gl) > before, "the quad is there, so the count counts");
    drop(display);
    assert_eq!(names(&gl), before);
}

#[test]
fn a_lost_context_is_an_error_and_keeps_nothing() {
    let Some(engine) = Engine::new() else { return };
    let Engine { context, display: egl, .. } = engine;
    let current = Rc::downgrade(&context);
    let is_current: Box<dyn Fn() -> bool> = Box::new(move || current.upgrade().is_some_and(|c| c.is_current()));
    let options = pixelferry_gl::EngineOptions::default().with_is_current(is_current);
    // SAFETY: the context is current, and the display is told when it goes.
    let display = unsafe { GlDisplay::from_loader(|name| egl.get_proc_address(name), options) }.unwrap();
    let mut surface = display.create_surface(&DESC).unwrap();
    let pages = HostBlock::allocate(4096).unwrap();
    let imported = display.create_staging(StagingKind::Imported(pages), 64).ok();
    let staging = display.create_staging(StagingKind::Orphaned, 64).unwrap();
    let mut mapped = display.create_staging(StagingKind::Persistent, 64).unwrap();
    let early = display.create_surface(&SurfaceDesc::buffer(16)).unwrap();
    assert!(surface.read_back(&SurfacePart::full(&DESC)).is_ok());
    context.make_not_current_in_place().unwrap();
    drop(early);
    assert_eq!(display.object_counts().awaiting_context, 1);
    // The last of it.
    assert_eq!(Rc::strong_count(&context), 1);
    drop(context);
    // SAFETY: the context was destroyed with its last owner, and nothing computes in its memory.
    unsafe { display.context_lost() };
    assert_eq!(display.object_counts().awaiting_context, 0);

    let lost = |e: Error| matches!(&e, Error::Driver(d) if d.code == i64::from(glow::CONTEXT_LOST) && d.hint.contains("new display"));
    assert!(!display.is_current());
    assert!(lost(display.create_surface(&DESC).map(drop).unwrap_err()));
    assert!(lost(surface.read_back(&SurfacePart::full(&DESC)).unwrap_err()));
    assert!(lost(display.finish().unwrap_err()));
    // The mapping is gone with the context.
    assert!(lost(mapped.wait().unwrap_err()));
    assert!(lost(mapped.map_write(&mut |_| panic!("memory of a context that is gone")).unwrap_err()));
    drop((surface, imported, staging, mapped));
    let left = display.object_counts();
    // Objects that the display draws with stay until it goes itself.
    assert!(left.textures <= 1 && (left.buffers, left.awaiting_context) == (0, 0), "{left:?}");
}

#[test]
fn mapped_memory_outlives_everything_else() {
    let Some(display) = headless(None) else { return };
    let staging = display.create_staging(StagingKind::Persistent, 4096).unwrap();
    let host = staging.host_block().unwrap();
    drop(staging);
    drop(display);
    // SAFETY: the block keeps buffer and context alive; nobody else writes.
    unsafe {
        host.address().write_bytes(7, host.len());
        assert_eq!(*host.address().as_ptr().add(4095), 7);
    }
    let other = headless(None).unwrap();
    drop(host);
    assert!(other.is_current());
    other.create_surface(&DESC).unwrap();
}

#[test]
fn objects_of_the_compute_side_are_dropped_in_the_right_context() {
    struct Witness(Arc<GlDisplay>, Arc<PlainMutex<Option<bool>>>);
    impl Drop for Witness {
        fn drop(&mut self) {
            self.1.set(Some(self.0.is_current()));
        }
    }
    let Some(first) = headless(None) else { return };
    let seen = Arc::new(PlainMutex::new(None));
    first.drop_in_context(Box::new(Witness(Arc::clone(&first), Arc::clone(&seen))));
    assert_eq!(seen.take(), Some(true));
    let second = headless(None).unwrap();
    first.drop_in_context(Box::new(Witness(Arc::clone(&first), Arc::clone(&seen))));
    assert_eq!(seen.take(), None, "it waits");
    second.clear([0.0; 4]).unwrap_or(());
    first.make_current().unwrap();
    first.create_surface(&DESC).unwrap();
    assert_eq!(seen.take(), Some(true));
}

#[test]
fn exported_names_are_those_of_the_surface() {
    let Some(display) = headless(None) else { return };
    let surface = display.create_surface(&DESC).unwrap();
    let name = display.surface_texture(&surface).unwrap().name.0.get();
    match surface.export(HandleType::GlObject).unwrap() {
        SharedHandle::GlTexture { name: n, target } => assert_eq!((n, target), (name, glow::TEXTURE_2D)),
        other => panic!("{other:?}"),
    }
    assert!(matches!(surface.export(HandleType::OpaqueFd), Err(Error::Unsupported { .. })));
}

#[test]
fn sizes_that_are_refused_leave_nothing_and_the_largest_works() {
    let Some(display) = headless(None) else { return };
    let max = display.caps().max_image_side;
    assert!(display.create_staging(StagingKind::Orphaned, 1 << 31).is_err());
    assert!(display.create_offscreen_target(0, 1).is_err());
    assert!(display.create_offscreen_target(max + 1, 1).is_err());
    assert!(display.create_surface(&SurfaceDesc::image(max + 1, 1, PixelFormat::R8)).is_err());
    assert_eq!(display.object_counts(), ObjectCounts::default());
    let mut long = display.create_surface(&SurfaceDesc::image(max, 1, PixelFormat::R8)).unwrap();
    assert_eq!(common::read_all(&mut long).len(), max as usize);
    let odd = common::image_view(16, 4, PixelFormat::Rgba8, 1, 64);
    let staging = display.create_staging(StagingKind::Orphaned, 511).unwrap();
    let mut in_place = display.create_in_place_surface(&SurfaceDesc::image(16, 4, PixelFormat::Rgba8)).unwrap();
    assert!(matches!(in_place.read_in_place(&staging, &odd), Err(Error::InvalidInput { .. })));
    let empty = Viewport::full(0, 4);
    assert!(display.draw(&long, empty, DrawOptions::default()).is_err());
}

#[test]
fn devices_are_picked_by_number() {
    let Some(devices) = need(Need::Egl, headless_devices()) else { return };
    for device in &devices {
        let options = HeadlessOptions::default().with_device(device.index);
        let made = GlDisplay::headless(options);
        println!("{device:?}: {made:?}");
        if device.software {
            let display = made.unwrap();
            assert!(display.device().software);
            assert_eq!(display.device().memory, interop_core::MemoryKind::Host);
        }
    }
    let options = HeadlessOptions::default().with_device(devices.len());
    assert!(matches!(GlDisplay::headless(options), Err(Error::InvalidInput { .. })));
}

#[test]
fn a_limit_hides_what_is_above() {
    let Some(display) = headless(Some((3, 3))) else { return };
    assert_eq!(display.version(), (3, 3));
    assert!(!display.caps().persistent_staging.is_yes());
    assert!(matches!(display.create_staging(StagingKind::Persistent, 16), Err(Error::Unsupported { .. })));
    println!("{:#?} {:#?}", display.device(), display.caps());
}
