//! Textures in memory that another API opens too, or that it gave.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests may panic as tests may

mod common;
#[path = "common/engine.rs"]
mod engine;
#[path = "common/vulkan.rs"]
mod vulkan;

use common::{FORMATS, assert_same, expected, headless, read_all, tight};
use engine::Engine;
use gl_display::{DrawOptions, GlDisplay, ObjectCounts, Viewport};
use interop_core::display::{Display, Part, Staging, StagingKind};
use interop_core::{
    Error, HandleType, ImageDesc, MemoryShape, PixelFormat, Region, SharedHandle, Support, SurfaceDesc, View,
};
use std::fs::File;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard};
use vulkan::{Image, Vulkan};

const SIZES: [(u32, u32); 5] = [(1, 1), (100, 60), (33, 17), (257, 3), (3, 200)];

/// One test at a time: open descriptors are counted.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// A display that opens images and makes them to be opened, and Vulkan on the same device.
fn both() -> Option<(Rc<GlDisplay>, Rc<Vulkan>)> {
    let display = headless(None)?;
    let caps = display.caps();
    let imports = caps.can_import(HandleType::OpaqueFd, MemoryShape::Image);
    if let Support::No(reason) = imports.and(|| caps.can_export(HandleType::OpaqueFd, MemoryShape::Image)) {
        common::skip("opengl-memory-object-fd", &reason);
        return None;
    }
    let vulkan = Vulkan::new(display.device()).map_err(|reason| common::skip("vulkan", &reason)).ok()?;
    Some((display, vulkan))
}

fn image(desc: &SurfaceDesc) -> ImageDesc {
    match desc {
        SurfaceDesc::Image(image) => *image,
        SurfaceDesc::Buffer(_) => panic!("a buffer"),
    }
}

fn open(display: &GlDisplay, handle: SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn Staging>, Error> {
    display.create_staging(StagingKind::ExternalImage(handle, image(desc)), desc.byte_len("test")?)
}

fn make(display: &GlDisplay, desc: &SurfaceDesc) -> Result<Box<dyn Staging>, Error> {
    display.create_staging(StagingKind::ExportedImage(image(desc)), desc.byte_len("test")?)
}

/// Whatever Vulkan writes is what GL shows, at once and after the first time.
fn check_shown(display: &GlDisplay, memory: &mut Image, mut staging: Box<dyn Staging>, desc: &SurfaceDesc) {
    let (view, full) = (tight(desc), Part::full(desc));
    assert_eq!((staging.len(), staging.host_block().is_none()), (desc.byte_len("test").unwrap(), true));
    assert!(matches!(staging.fill(&mut |_| Ok(())), Err(Error::Unsupported { .. })));
    let mut surface = display.create_in_place_surface(desc).unwrap();
    assert!(matches!(surface.read_back(&full), Err(Error::NothingShown)));
    for nonce in 1..3 {
        staging.wait().unwrap();
        memory.write(&expected(&view, nonce));
        surface.read_in_place(staging.as_ref(), &view).unwrap();
        assert_same(&format!("{desc}"), &expected(&view, nonce), &read_all(surface.as_mut()));
        display.draw_unseen(surface.as_ref()).unwrap();
        staging.fence().unwrap();
    }
    display.finish().unwrap();
    let texture = display.surface_texture(surface.as_ref()).unwrap();
    assert_eq!((texture.target, texture.first_texel, texture.row_texels), (glow::TEXTURE_2D, 0, 0));
    let mut own = display.create_surface(desc).unwrap();
    assert!(matches!(own.upload_staged(&full, staging.as_mut(), &view), Err(Error::InvalidInput { .. })));
    // What is shown outlives the block.
    drop(staging);
    assert_same("afterwards", &expected(&view, 2), &read_all(surface.as_mut()));
}

#[test]
fn images_of_the_compute_device_are_textures() {
    let _alone = alone();
    let Some((display, vulkan)) = both() else { return };
    for format in FORMATS {
        for (width, height) in SIZES {
            let desc = SurfaceDesc::image(width, height, format);
            let mut memory = Image::allocate(&vulkan, &image(&desc)).unwrap();
            let staging = open(&display, memory.handle(), &desc).unwrap();
            assert!(matches!(staging.export(HandleType::OpaqueFd), Err(Error::Unsupported { .. })));
            check_shown(&display, &mut memory, staging, &desc);
        }
    }
}

#[test]
fn textures_made_to_be_shared_show_what_others_write() {
    let _alone = alone();
    let Some((display, vulkan)) = both() else { return };
    for format in FORMATS {
        for (width, height) in SIZES {
            let desc = SurfaceDesc::image(width, height, format);
            let staging = make(&display, &desc).unwrap();
            assert!(matches!(staging.export(HandleType::GlObject), Err(Error::Unsupported { .. })));
            // More than one may open it.
            drop(staging.export(HandleType::OpaqueFd).unwrap());
            let handle = staging.export(HandleType::OpaqueFd).unwrap();
            let mut memory = Image::open(&vulkan, &image(&desc), handle).unwrap();
            check_shown(&display, &mut memory, staging, &desc);
        }
    }
}

#[test]
fn shared_textures_are_drawn_and_read_in_part() {
    let _alone = alone();
    let Some((display, vulkan)) = both() else { return };
    let desc = SurfaceDesc::image(40, 30, PixelFormat::Rgba8);
    let (view, bpp) = (tight(&desc), 4);
    let staging = make(&display, &desc).unwrap();
    let handle = staging.export(HandleType::OpaqueFd).unwrap();
    Image::open(&vulkan, &image(&desc), handle).unwrap().write(&expected(&view, 5));
    let mut surface = display.create_in_place_surface(&desc).unwrap();
    surface.read_in_place(staging.as_ref(), &view).unwrap();
    let all = expected(&view, 5);
    let region = Region::new(7, 3, 11, 9);
    let part: Vec<u8> = (3..12).flat_map(|y| &all[(y * 40 + 7) * bpp..(y * 40 + 18) * bpp]).copied().collect();
    assert_same("part", &part, &surface.read_back(&Part::Image(region)).unwrap());
    let target = display.create_offscreen_target(40, 30).unwrap();
    target.bind().unwrap();
    display.draw(surface.as_ref(), Viewport::full(40, 30), DrawOptions::default()).unwrap();
    target.unbind().unwrap();
    let upside_down: Vec<u8> = all.chunks(40 * bpp).rev().flatten().copied().collect();
    assert_same("drawn", &upside_down, &target.read_rgba8().unwrap());
}

#[test]
fn wrong_sizes_and_formats_are_refused() {
    let _alone = alone();
    let Some((display, vulkan)) = both() else { return };
    let desc = SurfaceDesc::image(32, 16, PixelFormat::Rgba8);
    let memory = Image::allocate(&vulkan, &image(&desc)).unwrap();
    let before = (display.object_counts(), open_descriptors());
    let blocks = [open(&display, memory.handle(), &desc).unwrap(), make(&display, &desc).unwrap()];
    for staging in &blocks {
        let others = [
            SurfaceDesc::image(16, 32, PixelFormat::Rgba8),
            SurfaceDesc::image(31, 16, PixelFormat::Rgba8),
            SurfaceDesc::image(32, 16, PixelFormat::R32F),
            SurfaceDesc::buffer(64),
        ];
        for other in others {
            let mut surface = display.create_in_place_surface(&other).unwrap();
            let refused = surface.read_in_place(staging.as_ref(), &tight(&other));
            assert!(matches!(refused, Err(Error::InvalidInput { .. })), "{other}: {refused:?}");
        }
        let mut buffer = display.create_surface(&SurfaceDesc::buffer(64)).unwrap();
        let view = tight(&SurfaceDesc::buffer(64));
        let mut own = make(&display, &desc).unwrap();
        let refused = buffer.upload_staged(&Part::Buffer(0..64), own.as_mut(), &view);
        assert!(matches!(refused, Err(Error::InvalidInput { .. })), "{refused:?}");
    }
    drop(blocks);
    // More than the memory has, nothing, and more than textures can have.
    let huge = display.caps().max_image_side + 1;
    for (width, height) in [(4096, 4096), (0, 16), (16, 0), (huge, 1), (1, huge), (u32::MAX, u32::MAX)] {
        let other = ImageDesc::new(width, height, PixelFormat::Rgba8);
        for kind in [StagingKind::ExternalImage(memory.handle(), other), StagingKind::ExportedImage(other)] {
            if matches!(kind, StagingKind::ExportedImage(_)) && width == 4096 {
                continue;
            }
            let refused = display.create_staging(kind, 64).map(|_| ());
            let right = matches!(refused, Err(Error::InvalidInput { .. } | Error::Unsupported { .. }));
            assert!(right, "{width}x{height}: {refused:?}");
        }
    }
    assert_eq!((display.object_counts(), open_descriptors()), before);
}

#[test]
fn bad_descriptors_are_errors_and_nothing_leaks() {
    let _alone = alone();
    let Some((display, _)) = both() else { return };
    let desc = SurfaceDesc::image(32, 16, PixelFormat::Rgba8);
    let before = (display.object_counts(), open_descriptors());
    for _ in 0..20 {
        for path in ["/dev/null", "/proc/self/exe"] {
            let handle =
                SharedHandle::OpaqueFd { fd: File::open(path).unwrap().into(), bytes: 1 << 20, dedicated: true };
            let refused = open(&display, handle, &desc).map(|_| ());
            assert!(matches!(refused, Err(Error::Driver(_))), "{path}: {refused:?}");
        }
    }
    assert_eq!((display.object_counts(), open_descriptors()), before);
    let name = SharedHandle::GlTexture { name: 1, target: glow::TEXTURE_2D };
    assert!(matches!(open(&display, name, &desc).map(|_| ()), Err(Error::Unsupported { .. })));
}

#[test]
fn displays_without_the_extension_say_so() {
    let _alone = alone();
    let Some(display) = headless(Some((3, 3))) else { return };
    let desc = SurfaceDesc::image(32, 16, PixelFormat::Rgba8);
    let reason = make(&display, &desc).map(|_| ()).unwrap_err().to_string();
    assert!(reason.contains("GL_EXT_memory_object_fd"), "{reason}");
    let fd = File::open("/dev/null").unwrap().into();
    let handle = SharedHandle::OpaqueFd { fd, bytes: 1 << 20, dedicated: true };
    let reason = open(&display, handle, &desc).map(|_| ()).unwrap_err().to_string();
    assert!(reason.contains("GL_EXT_memory_object_fd"), "{reason}");
}

#[test]
fn rings_come_and_go_and_nothing_leaks() {
    let _alone = alone();
    let Some((display, vulkan)) = both() else { return };
    let desc = SurfaceDesc::image(65, 33, PixelFormat::Rgba8);
    let view: View = tight(&desc);
    let mut surface = display.create_in_place_surface(&desc).unwrap();
    let mut before = None;
    for round in 0..12u32 {
        let mut ring: Vec<_> = (0..3).map(|_| make(&display, &desc).unwrap()).collect();
        let mut memory: Vec<_> = ring
            .iter()
            .map(|s| Image::open(&vulkan, &image(&desc), s.export(HandleType::OpaqueFd).unwrap()).unwrap())
            .collect();
        for nonce in 0..6 {
            let slot = nonce as usize % 3;
            ring[slot].wait().unwrap();
            memory[slot].write(&expected(&view, round * 6 + nonce));
            surface.read_in_place(ring[slot].as_ref(), &view).unwrap();
            assert_same("frame", &expected(&view, round * 6 + nonce), &read_all(surface.as_mut()));
            ring[slot].fence().unwrap();
        }
        drop((ring, memory));
        let now = (display.object_counts(), open_descriptors());
        assert_eq!(*before.get_or_insert(now), now);
    }
}

#[test]
fn names_are_deleted_in_the_right_context() {
    let _alone = alone();
    let Some(engine) = Engine::new() else { return common::skip("opengl", "EGL lists no device") };
    let display = engine.pixelferry(None);
    if let Support::No(reason) = display.caps().can_export(HandleType::OpaqueFd, MemoryShape::Image) {
        return common::skip("opengl-memory-object-fd", &reason);
    }
    let desc = SurfaceDesc::image(32, 16, PixelFormat::Rgba8);
    let descriptors = open_descriptors();
    let staging = make(&display, &desc).unwrap();
    let stranger = headless(None).unwrap();
    assert!(matches!(make(&display, &desc).map(|_| ()), Err(Error::WrongContext { .. })));
    drop(staging);
    let counts = display.object_counts();
    assert_eq!((counts.textures, counts.memory_objects, counts.awaiting_context), (1, 1, 2));
    drop(stranger);
    engine.make_current();
    display.clear([0.0; 4]).unwrap();
    assert_eq!(display.object_counts(), ObjectCounts::default());
    // A block that outlives the display it came from, as users may drop them.
    let staging = make(&display, &desc).unwrap();
    drop(display);
    drop(staging);
    assert!(open_descriptors() <= descriptors + 1, "{} were {descriptors}", open_descriptors());
}
