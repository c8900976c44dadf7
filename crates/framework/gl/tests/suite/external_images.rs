//! Textures in memory of another API, and textures made for other APIs to open.

use crate::suite::common::{
    FORMATS, assert_same, expected, headless, image_view, is_software, pattern, read_all, supports, tight,
};
use crate::suite::paint;
use crate::suite::vulkan::ExportedMemory;
use interop_core::display::{Display, Staging, StagingKind, SurfacePart};
use interop_core::{
    Error, HandleType, ImageDesc, MemoryHandle, MemoryShape, PixelFormat, SharedHandle, Support, SurfaceDesc,
};
use pixelferry_gl::{DrawOptions, GlDisplay, Viewport};
use pixelferry_testing::{Child, Need, Usage, by_level, need};
use std::fs::File;
use std::sync::Arc;

/// llvmpipe starts rows at multiples of a cache line.
const ROW_ALIGNMENT: usize = 64;

fn image(width: u32, height: u32, format: PixelFormat) -> (SurfaceDesc, ImageDesc) {
    let desc = SurfaceDesc::image(width, height, format);
    let SurfaceDesc::Image(image) = desc else { panic!("{desc}") };
    (desc, image)
}

/// A display that can do it.
fn display(support: impl Fn(&GlDisplay) -> Support) -> Option<Arc<GlDisplay>> {
    let display = headless(None)?;
    let supported = support(&display);
    supports(&display, "textures by descriptor", supported).then_some(display)
}

fn importer() -> Option<Arc<GlDisplay>> {
    display(|d| d.caps().can_import(HandleType::OpaqueFd, MemoryShape::Image))
}

fn exporter() -> Option<Arc<GlDisplay>> {
    display(|d| d.caps().can_export(HandleType::OpaqueFd, MemoryShape::Image))
}

/// Memory whose rows the host can write: that of the CPU's own Vulkan.
fn exported(display: &GlDisplay, bytes: usize) -> Option<ExportedMemory> {
    if !is_software(display, "memory that the host writes") {
        return None;
    }
    need(Need::Lavapipe, ExportedMemory::new(bytes))
}

fn open(display: &GlDisplay, handle: SharedHandle, image: ImageDesc) -> Result<Staging, Error> {
    display.create_staging(StagingKind::ExternalImage(handle, image), 1)
}

/// A texture to be shared; nothing where the driver makes none.
fn make(display: &GlDisplay, image: ImageDesc) -> Option<Staging> {
    match display.create_staging(StagingKind::ExportedImage(image), 1) {
        Err(e) if !matches!(e, Error::Unsupported { .. }) => panic!("{e}"),
        made => need(Need::Lavapipe, made),
    }
}

#[test]
#[ignore = "run by `counted`, in a process of its own"]
fn a_texture_shows_what_the_other_api_writes() {
    let Some(display) = importer() else { return };
    display.finish().unwrap();
    let counts = display.object_counts();
    for format in FORMATS {
        for (width, height) in [(33, 17), (1, 1), (100, 33)].into_iter().take(by_level(1, 3, 3)) {
            let (desc, image) = image(width, height, format);
            let pitch = (width as usize * format.bytes_per_pixel()).next_multiple_of(ROW_ALIGNMENT);
            let Some(mut memory) = exported(&display, pitch * height.next_multiple_of(4) as usize) else { return };
            let descriptors = Usage::here().unwrap().descriptors;
            let mut staging = open(&display, memory.handle(), image).unwrap();
            assert!(
                Usage::here().unwrap().descriptors <= descriptors,
                "the driver keeps no descriptor open, and neither do we"
            );
            let tight = tight(&desc);
            assert_eq!((staging.len(), staging.host_block().is_none()), (tight.payload_len(), true));
            let mut surface = display.create_in_place_surface(&desc).unwrap();
            assert!(matches!(surface.read_back(&SurfacePart::full(&desc)), Err(Error::NothingShown)));
            surface.read_in_place(&staging, &tight).unwrap();
            let view = image_view(width, height, format, 0, pitch);
            for nonce in 1..4 {
                staging.wait().unwrap();
                memory.write(&pattern(&view, nonce));
                assert_same("texture", &expected(&view, nonce), &read_all(&mut surface));
                display.draw_offscreen(&surface).unwrap();
                staging.fence().unwrap();
            }
            if format == PixelFormat::Rgba8 {
                let target = display.create_offscreen_target(width, height).unwrap();
                target.bind().unwrap();
                display.draw(&surface, Viewport::full(width, height), DrawOptions::default()).unwrap();
                target.unbind().unwrap();
                let drawn = target.read_pixels().unwrap();
                let rows = drawn.chunks_exact(4 * width as usize).rev().flatten().copied().collect::<Vec<_>>();
                assert_same("drawn", &expected(&view, 3), &rows);
            }
            // The shown surface outlives both ends.
            drop((staging, memory));
            assert_same("afterwards", &expected(&view, 3), &read_all(&mut surface));
            assert_eq!(display.object_counts().memory_objects, 1);
        }
    }
    let after = display.object_counts();
    let ours = |c: pixelferry_gl::ObjectCounts| (c.memory_objects, c.buffers, c.awaiting_context);
    assert_eq!(ours(after), ours(counts));
}

#[test]
fn a_texture_is_neither_copied_from_nor_written_by_the_host() {
    let Some(display) = importer() else { return };
    let Some(memory) = exported(&display, 1 << 16) else { return };
    let (desc, image) = image(16, 16, PixelFormat::Rgba8);
    let mut staging = open(&display, memory.handle(), image).unwrap();
    let mut texture = display.create_surface(&desc).unwrap();
    let refused = texture.upload_staged(&SurfacePart::full(&desc), &mut staging, &tight(&desc)).unwrap_err();
    assert!(matches!(&refused, Error::InvalidInput { problem, .. } if problem.contains("in place")), "{refused}");
    let bytes = SurfaceDesc::buffer(64);
    let mut buffer = display.create_in_place_surface(&bytes).unwrap();
    assert!(matches!(buffer.read_in_place(&staging, &tight(&bytes)), Err(Error::InvalidInput { .. })));
    assert!(matches!(staging.map_write(&mut |_| Ok(())), Err(Error::Unsupported { .. })));
    assert!(matches!(staging.export(HandleType::OpaqueFd), Err(Error::Unsupported { .. })));
    // Refusals change nothing.
    let mut surface = display.create_in_place_surface(&desc).unwrap();
    surface.read_in_place(&staging, &tight(&desc)).unwrap();
    assert_same("texture", &[0; 16 * 16 * 4], &read_all(&mut surface));
}

#[test]
#[ignore = "run by `counted`, in a process of its own"]
fn wrong_sizes_and_formats_are_refused_and_nothing_leaks() {
    let Some(display) = importer() else { return };
    let Some(memory) = exported(&display, 1 << 16) else { return };
    let (_, image_33) = image(33, 17, PixelFormat::Rgba8);
    let staging = open(&display, memory.handle(), image_33).unwrap();
    for (width, height, format) in
        [(33, 16, PixelFormat::Rgba8), (32, 17, PixelFormat::Rgba8), (33, 17, PixelFormat::R32F)]
    {
        let desc = SurfaceDesc::image(width, height, format);
        let mut other = display.create_in_place_surface(&desc).unwrap();
        let refused = other.read_in_place(&staging, &tight(&desc)).unwrap_err().to_string();
        assert!(refused.contains("33x17 RGBA8") && refused.contains(format.name()), "{refused}");
    }
    let (counts, descriptors) = (display.object_counts(), Usage::here().unwrap().descriptors);
    let side = display.caps().max_image_side;
    for _ in 0..20 {
        let (_, too_large) = image(129, 129, PixelFormat::Rgba8);
        let refused = open(&display, handle_of(&memory, 1 << 16), too_large).map(|_| ()).unwrap_err();
        assert!(matches!(refused, Error::InvalidInput { .. }), "{refused}");
        let (_, too_wide) = image(side + 1, 1, PixelFormat::Rgba8);
        let refused = open(&display, handle_of(&memory, u64::MAX), too_wide).map(|_| ()).unwrap_err();
        assert!(matches!(refused, Error::Unsupported { .. } | Error::InvalidInput { .. }), "{refused}");
        // Room for the pixels, but none for what the driver puts between the rows.
        let (_, narrow) = image(1, 1 << 14, PixelFormat::R8);
        let refused = open(&display, memory.handle(), narrow).map(|_| ()).unwrap_err();
        assert!(matches!(&refused, Error::Driver(e) if e.hint.contains("size")), "{refused}");
        let fd = File::open("/dev/null").unwrap().into();
        // SAFETY: it is no memory, which the driver finds out.
        let null = SharedHandle::Memory(unsafe { MemoryHandle::new(fd, 1 << 16, false) });
        let refused = open(&display, null, image_33);
        assert!(matches!(refused.map(|_| ()), Err(Error::Driver(_) | Error::InvalidInput { .. })));
        assert_eq!(Usage::here().unwrap().descriptors, descriptors);
    }
    assert_eq!(display.object_counts(), counts);
}

/// The memory under another size.
fn handle_of(memory: &ExportedMemory, bytes: u64) -> SharedHandle {
    match memory.handle() {
        SharedHandle::Memory(memory) => {
            let dedicated = memory.is_dedicated();
            // SAFETY: not true of every size, which is what is tested: the display refuses what does not fit.
            SharedHandle::Memory(unsafe { MemoryHandle::new(memory.into_handle(), bytes, dedicated) })
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_contexts_see_one_exported_texture() {
    let Some(giver) = exporter() else { return };
    let taker = headless(None).unwrap();
    for (nonce, format) in (1..).zip(FORMATS) {
        let (desc, image) = image(100, 33, format);
        let view = tight(&desc);
        giver.make_current().unwrap();
        let Some(staging) = make(&giver, image) else { return };
        let mut given = giver.create_in_place_surface(&desc).unwrap();
        given.read_in_place(&staging, &view).unwrap();
        let handles = [(); 2].map(|()| staging.export(HandleType::OpaqueFd).unwrap());
        taker.make_current().unwrap();
        let mut taken = handles.map(|handle| {
            let SharedHandle::Memory(memory) = &handle else { panic!("{handle:?}") };
            assert!(memory.is_dedicated() && memory.bytes() >= view.payload_len() as u64);
            let block = open(&taker, handle, image).unwrap();
            let mut surface = taker.create_in_place_surface(&desc).unwrap();
            surface.read_in_place(&block, &view).unwrap();
            surface
        });
        // From the one that made it to both that opened it.
        giver.make_current().unwrap();
        paint::pixels(&giver, &given, &expected(&view, nonce));
        giver.finish().unwrap();
        taker.make_current().unwrap();
        for surface in &mut taken {
            assert_same("opened", &expected(&view, nonce), &read_all(surface));
        }
        // And back, by a framebuffer.
        paint::clear(&taker, &taken[1], [1.0, 0.0, 1.0, 1.0]);
        taker.finish().unwrap();
        let cleared = read_all(&mut taken[0]);
        giver.make_current().unwrap();
        let found = read_all(&mut given);
        assert_same("cleared", &cleared, &found);
        assert!(found != expected(&view, nonce) && found.iter().any(|b| *b != 0));
        // The memory lives while one has it open.
        drop((given, staging));
        taker.make_current().unwrap();
        assert_same("afterwards", &found, &read_all(&mut taken[0]));
    }
    for display in [&giver, &taker] {
        display.make_current().unwrap();
        display.finish().unwrap();
        let counts = display.object_counts();
        assert_eq!((counts.memory_objects, counts.buffers, counts.awaiting_context), (0, 0, 0));
    }
}

#[test]
#[ignore = "run by `counted`, in a process of its own"]
fn exported_textures_and_descriptors_do_not_leak() {
    let Some(display) = exporter() else { return };
    let stranger = headless(None).unwrap();
    let (desc, image) = image(64, 64, PixelFormat::Rgba8);
    let mut before = None;
    for round in 0..12 {
        display.make_current().unwrap();
        let Some(staging) = make(&display, image) else { return };
        let handles = [(); 3].map(|()| staging.export(HandleType::OpaqueFd).unwrap());
        assert!(matches!(staging.export(HandleType::GlObject), Err(Error::Unsupported { .. })));
        let mut surface = display.create_in_place_surface(&desc).unwrap();
        surface.read_in_place(&staging, &tight(&desc)).unwrap();
        display.draw_offscreen(&surface).unwrap();
        stranger.make_current().unwrap();
        assert!(matches!(staging.export(HandleType::OpaqueFd), Err(Error::WrongContext { .. })));
        drop((surface, staging, handles));
        assert_eq!(display.object_counts().awaiting_context, 2);
        display.make_current().unwrap();
        display.finish().unwrap();
        if round > 1 {
            let now = (display.object_counts(), Usage::here().unwrap().descriptors);
            assert_eq!(*before.get_or_insert(now), now);
        }
    }
}

#[test]
fn exported_textures_of_impossible_sizes_are_refused() {
    let Some(display) = exporter() else { return };
    let side = display.caps().max_image_side;
    for (width, height) in [(0, 1), (1, 0), (side + 1, 1), (1, side + 1), (u32::MAX, u32::MAX)] {
        let (_, image) = image(width, height, PixelFormat::R8);
        let refused = display.create_staging(StagingKind::ExportedImage(image), 1).map(|_| ()).unwrap_err();
        let right = matches!(refused, Error::InvalidInput { .. } | Error::Unsupported { .. });
        assert!(right, "{width}x{height}: {refused}");
    }
    let limited = headless(Some((3, 3))).unwrap();
    let (_, image) = image(4, 4, PixelFormat::R8);
    let refused = limited.create_staging(StagingKind::ExportedImage(image), 1).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("GL_EXT_memory_object_fd"), "{refused}");
}

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child_exported() {
    let display = headless(None).unwrap();
    println!("caps: {:?}", display.caps().can_export(HandleType::OpaqueFd, MemoryShape::Image));
    let (_, image) = image(4, 4, PixelFormat::Rgba8);
    match display.create_staging(StagingKind::ExportedImage(image), 1) {
        Err(e @ (Error::Unsupported { .. } | Error::Driver(_))) => println!("refused: {e}"),
        other => panic!("{:?}", other.map(|_| ())),
    }
}

/// Returns what [`child_exported`] prints in this environment.
fn exported_in(environment: &[(&str, &str)]) -> String {
    Child::of("suite::external_images::child_exported").unwrap().envs(environment).run().unwrap().passed()
}

#[test]
fn no_vulkan_loader() {
    if exporter().is_none() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("pixelferry-no-vulkan-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("libvulkan.so.1"), "").unwrap();
    let text = exported_in(&[("LD_LIBRARY_PATH", folder.to_str().unwrap())]);
    std::fs::remove_dir_all(&folder).unwrap();
    for line in ["caps: No(", "refused: "] {
        assert!(text.lines().any(|l| l.contains(line) && l.contains("libvulkan1")), "{text}");
    }
}

#[test]
fn no_vulkan_driver() {
    if exporter().is_none() {
        return;
    }
    let text = exported_in(&[("VK_DRIVER_FILES", "/none"), ("VK_ICD_FILENAMES", "/none")]);
    assert!(text.contains("caps: Yes"), "{text}");
    assert!(text.lines().any(|l| l.contains("refused: ") && l.contains("Vulkan driver")), "{text}");
}
