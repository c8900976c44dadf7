//! Memory and semaphores that two devices share, and who keeps them alive.

use crate::engine::Engine;
use crate::{device, display};
use interop_core::describe::pattern::Pattern;
use interop_core::{
    BufferView, Display, Error, HandleType, HostBlock, ImageAccess, ImageDesc, ImageView, MemoryHandle, Part,
    PixelFormat, SharedHandle, Staging, StagingKind, Surface, SurfaceDesc, SyncKind, View,
};
use pixelferry_testing::has;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::rc::Rc;
use vulkan_display::{VulkanDisplay, VulkanObject};

const BYTES: usize = 10_000;
/// lavapipe's memory is a file, which begins with a page of its own.
const HEAD: usize = HostBlock::PAGE;

fn whole(bytes: usize) -> View {
    View::Buffer(BufferView { offset: 0, len: bytes })
}

/// A buffer of `staging`, read where it lies.
fn in_place(display: &VulkanDisplay, staging: &dyn Staging, bytes: usize) -> Box<dyn Surface> {
    let mut surface = display.create_in_place_surface(&SurfaceDesc::buffer(bytes as u64)).unwrap();
    surface.read_in_place(staging, &whole(bytes)).unwrap();
    surface
}

fn export(staging: &dyn Staging) -> MemoryHandle {
    match staging.export(HandleType::OpaqueFd).unwrap() {
        SharedHandle::Memory(handle) => handle,
        other => panic!("not a descriptor: {other:?}"),
    }
}

fn is_software(display: &VulkanDisplay, what: &str) -> bool {
    let on = format!("{} ({})", display.device(), display.device().driver);
    has(what, on, if display.device().software { Ok(()) } else { Err("a GPU draws") }).is_some()
}

/// This test writes an image of the display's in place of a compute device; the engine gets it.
#[test]
fn an_exported_image_reaches_the_engine() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    if !is_software(&display, "textures of a known layout") {
        return;
    }
    // Rows of 256 bytes, which lavapipe does not pad.
    let image = ImageDesc::new(64, 8, PixelFormat::Rgba8);
    let desc = SurfaceDesc::Image(image);
    let staging = display.create_staging(StagingKind::ExportedImage(image), 64 * 8 * 4).unwrap();
    let tight = ImageView::packed(image.extent, image.format, 1, 0, false).unwrap();
    let mut surface = display.create_in_place_surface(&desc).unwrap();
    surface.read_in_place(staging.as_ref(), &View::Image(tight)).unwrap();
    assert!(surface.read_back(&Part::full(&desc)).unwrap() == [0; 64 * 8 * 4], "it is zero at first");
    let handle = export(staging.as_ref());
    assert!(handle.is_dedicated() && handle.bytes() >= 64 * 8 * 4);
    let pixels: Vec<u8> = (0..64 * 8 * 4).map(|i| (i * 7 + i / 256) as u8).collect();
    File::from(handle.handle().try_clone().unwrap()).write_all_at(&pixels, HEAD as u64).unwrap();
    let frame = display.surface_frame(surface.as_ref()).unwrap();
    assert!(matches!(frame.object, VulkanObject::Image { .. }));
    assert!(engine.read(&frame) == pixels);
    assert!(surface.read_back(&Part::full(&desc)).unwrap() == pixels);
    // An image is no buffer, and no image of another size.
    let mut other = display.create_in_place_surface(&SurfaceDesc::image(8, 64, PixelFormat::Rgba8)).unwrap();
    let refused = other.read_in_place(staging.as_ref(), &View::Image(tight)).unwrap_err();
    assert!(matches!(refused, Error::InvalidInput { .. }), "{refused}");
}

/// Linear memory that one device made, another opens; what is written behind the descriptor both see.
#[test]
fn linear_memory_of_one_device_is_memory_of_another() {
    let (Some(display), Some(other)) = (display(), display()) else { return };
    if !is_software(&display, "memory that the host writes") {
        return;
    }
    let staging = display.create_staging(StagingKind::Exported, BYTES).unwrap();
    assert!(staging.host_block().is_none());
    let mut own = in_place(&display, staging.as_ref(), BYTES);
    let handle = export(staging.as_ref());
    let file = File::from(handle.handle().try_clone().unwrap());
    let written = vec![0x5a; usize::try_from(file.metadata().unwrap().len()).unwrap() - HEAD];
    file.write_all_at(&written, HEAD as u64).unwrap();
    let opened = other.create_staging(StagingKind::External(SharedHandle::Memory(handle)), BYTES).unwrap();
    let mut seen = in_place(&other, opened.as_ref(), BYTES);
    let all = Part::Buffer(0..BYTES);
    let tail = BYTES - 2 * HEAD..BYTES;
    assert!(own.read_back(&all).unwrap()[tail.clone()].iter().all(|b| *b == 0x5a));
    // The memory stays after its maker has gone, and can be copied from.
    drop((own, staging, display));
    assert!(seen.read_back(&all).unwrap()[tail.clone()].iter().all(|b| *b == 0x5a));
    let desc = SurfaceDesc::buffer(BYTES as u64);
    let mut copied = other.create_surface(&desc).unwrap();
    let mut opened = opened;
    copied.upload_staged(&all, opened.as_mut(), &whole(BYTES)).unwrap();
    assert!(copied.read_back(&all).unwrap()[tail].iter().all(|b| *b == 0x5a));
}

#[test]
fn a_descriptor_of_something_else_is_refused() {
    let Some(display) = display() else { return };
    // SAFETY: it is no memory, which the driver finds out.
    let null = || unsafe { MemoryHandle::new(File::open("/dev/null").unwrap().into(), 4096, false) };
    let opened = display.create_staging(StagingKind::External(SharedHandle::Memory(null())), 4096).map(drop);
    assert!(opened.is_err(), "{opened:?}");
    let image = ImageDesc::new(4, 4, PixelFormat::R8);
    let kind = StagingKind::ExternalImage(SharedHandle::Memory(null()), image);
    let error = display.create_staging(kind, 16).map(drop).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let plain = display.create_staging(StagingKind::Persistent, 16).unwrap();
    assert!(matches!(plain.export(HandleType::OpaqueFd), Err(Error::Unsupported { .. })));
}

/// Without the extensions, what needs them says so.
#[test]
fn what_was_not_switched_on_is_unsupported() {
    let Some(engine) = Engine::make(true) else { return };
    let display = engine.display();
    let image = ImageDesc::new(4, 4, PixelFormat::R8);
    let pages = HostBlock::allocate(4096).unwrap();
    for kind in [StagingKind::Exported, StagingKind::ExportedImage(image), StagingKind::Imported(pages)] {
        let error = display.create_staging(kind, 16).map(drop).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains("the device was made without VK_"), "{error}");
    }
    for kind in [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore] {
        assert!(matches!(display.create_semaphore(kind), Err(Error::Unsupported { .. })));
    }
}

#[test]
fn pages_of_the_host_outlive_whatever_reads_them() {
    let Some(display) = display() else { return };
    let host = HostBlock::allocate(BYTES).unwrap();
    let mut staging = match display.create_staging(StagingKind::Imported(host), BYTES) {
        Ok(staging) => staging,
        Err(error) => {
            has("pages of the host", device(), Err::<(), _>(error));
            return;
        }
    };
    staging
        .map_write(&mut |bytes| {
            bytes.fill(7);
            Ok(())
        })
        .unwrap();
    let mut surface = in_place(&display, staging.as_ref(), BYTES);
    drop((staging, display));
    assert!(surface.read_back(&Part::Buffer(0..BYTES)).unwrap().iter().all(|b| *b == 7));
}

#[test]
fn every_format_is_read_in_place_and_exported() {
    let Some(display) = display() else { return };
    let formats = display.caps().image_formats.clone();
    assert!(formats.contains(&PixelFormat::Rgba8) && formats.len() > 8, "{formats:?}");
    for format in formats {
        let image = ImageDesc::new(21, 5, format).with_access(ImageAccess::Any);
        let view = ImageView::packed(image.extent, format, 512, 0, false).unwrap();
        let mut staging = display.create_staging(StagingKind::Persistent, view.span().end).unwrap();
        let pattern = Pattern::for_view(&View::Image(view), 3);
        staging
            .map_write(&mut |bytes| {
                pattern.write(&View::Image(view), bytes);
                Ok(())
            })
            .unwrap();
        let mut surface = display.create_in_place_surface(&SurfaceDesc::Image(image)).unwrap();
        surface.read_in_place(staging.as_ref(), &View::Image(view)).unwrap();
        let tight = View::Image(ImageView::packed(image.extent, format, 1, 0, false).unwrap());
        let mut expected = vec![0; tight.payload_len()];
        pattern.write(&tight, &mut expected);
        assert!(surface.read_back(&Part::Image(image.extent.full())).unwrap() == expected, "{format}");
        let exported = display.create_staging(StagingKind::ExportedImage(image), expected.len()).unwrap();
        export(exported.as_ref());
        // A pitch that is no number of pixels is refused, or is none of this format's.
        let odd = ImageView { row_pitch: view.row_pitch + 1, extent: interop_core::Extent::new(21, 2), ..view };
        let mut stored = display.create_surface(&SurfaceDesc::image(21, 2, format)).unwrap();
        let copied = stored.upload_staged(&Part::Image(odd.extent.full()), staging.as_mut(), &View::Image(odd));
        assert_eq!(copied.is_ok(), format.bytes_per_pixel() == 1, "{format}: {copied:?}");
    }
}

/// What is shown later waits for the semaphore; what the display signals comes after its work.
#[test]
fn semaphores_are_made_or_the_reason_is_said() {
    let Some(display) = display() else { return };
    for kind in [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore, SyncKind::HostFence] {
        let listed = display.caps().can_make_semaphore(kind);
        match display.create_semaphore(kind) {
            Ok((mut semaphore, handle)) => {
                assert!(listed.is_yes(), "{listed:?}");
                assert!(matches!(handle, SharedHandle::Semaphore { .. }));
                let mut staging = display.create_staging(StagingKind::Persistent, 4).unwrap();
                let surface = in_place(&display, staging.as_ref(), 4);
                let mut last = 0;
                for value in 1..4 {
                    semaphore.signal(value, staging.as_mut()).unwrap();
                    semaphore.wait(value, staging.as_mut()).unwrap();
                    let ready = display.surface_frame(surface.as_ref()).unwrap().ready.unwrap();
                    assert!(ready.value >= last + 2, "a frame's semaphore does not count the wait");
                    last = ready.value;
                }
                // A wait that nothing came after goes with its semaphore.
                semaphore.signal(4, staging.as_mut()).unwrap();
                semaphore.wait(4, staging.as_mut()).unwrap();
                drop(semaphore);
                display.finish().unwrap();
                let other = VulkanDisplay::headless(&vulkan_display::VulkanOptions::default()).unwrap();
                let (mut semaphore, _) = display.create_semaphore(kind).unwrap();
                let mut foreign = other.create_staging(StagingKind::Persistent, 4).unwrap();
                assert!(matches!(semaphore.signal(1, foreign.as_mut()), Err(Error::Foreign { .. })));
            }
            Err(error) => {
                println!("{kind}: {error}");
                assert!(!listed.is_yes(), "{error}");
                assert!(matches!(error, Error::Unsupported { .. }), "{error}");
            }
        }
    }
}

#[test]
fn blocks_are_not_taken_from_another_display() {
    let Some(display) = display() else { return };
    let other: Rc<VulkanDisplay> = crate::display().unwrap();
    let mut staging = other.create_staging(StagingKind::Orphaned, 16).unwrap();
    let desc = SurfaceDesc::buffer(16);
    let mut surface = display.create_surface(&desc).unwrap();
    let error = surface.upload_staged(&Part::full(&desc), staging.as_mut(), &whole(16)).unwrap_err();
    assert!(matches!(error, Error::Foreign { .. }), "{error}");
    let mut own = other.create_surface(&desc).unwrap();
    let error = own.upload_staged(&Part::full(&desc), staging.as_mut(), &whole(16)).unwrap_err();
    assert!(matches!(error, Error::InvalidInput { .. }), "not filled yet: {error}");
    assert!(staging.map_write(&mut |_| Err(Error::NothingShown)).is_err());
    staging
        .map_write(&mut |bytes| {
            bytes.fill(5);
            Ok(())
        })
        .unwrap();
    own.upload_staged(&Part::full(&desc), staging.as_mut(), &whole(16)).unwrap();
    assert_eq!(own.read_back(&Part::full(&desc)).unwrap(), [5; 16]);
}
