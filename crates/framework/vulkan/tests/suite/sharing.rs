//! Memory and semaphores that two devices share, and who keeps them alive.

use crate::engine::{Engine, Vulkan};
use crate::shared_memory::{self, HEAD, export, exported_image, in_place};
use crate::{device, display};
use ash::vk;
use interop_core::conformance::tight;
use interop_core::describe::view::ImageView;
use interop_core::{
    DeviceUuid, Display, Error, Extent, HandleType, HostBlock, ImageDesc, MemoryHandle, PixelFormat, SharedHandle,
    StagingKind, SurfaceDesc, SurfacePart, SyncKind, View,
};
use pixelferry_testing::has;
use pixelferry_vulkan::sharing::MappedMemory;
use pixelferry_vulkan::{VulkanDisplay, VulkanObject};
use std::fs::File;
use std::os::fd::{IntoRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

fn is_software(display: &VulkanDisplay, what: &str) -> bool {
    let on = format!("{} ({})", display.device(), display.device().driver);
    has(what, on, if display.device().software { Ok(()) } else { Err("a GPU draws") }).is_some()
}

#[test]
fn surfaces_and_blocks_are_as_every_displays() {
    let Some(one) = display() else { return };
    let formats = &one.caps().image_formats;
    assert!(formats.contains(&PixelFormat::Rgba8) && formats.len() > 8, "{formats:?}");
    shared_memory::surfaces_and_blocks_are_as_every_displays(&|| Ok(display().unwrap() as Arc<dyn Display>));
}

/// This test writes an image of the display's in place of a compute device; the engine gets it.
#[test]
fn an_exported_image_reaches_the_engine() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    if !is_software(&display, "textures of a known layout") {
        return;
    }
    let (staging, mut surface, pixels) = exported_image(&*display);
    let full = SurfacePart::full(surface.desc());
    assert!(surface.read_back(&full).unwrap() == [0; 64 * 8 * 4], "it is zero at first");
    let handle = export(&staging);
    assert!(handle.is_dedicated() && handle.bytes() >= 64 * 8 * 4);
    File::from(handle.handle().try_clone().unwrap()).write_all_at(&pixels, HEAD as u64).unwrap();
    let frame = display.surface_frame(&surface).unwrap();
    assert!(matches!(frame.object, VulkanObject::Image { .. }));
    assert!(engine.read(&frame) == pixels);
    assert!(surface.read_back(&full).unwrap() == pixels);
    // An image is no buffer, and no image of another size.
    let mut other = display.create_in_place_surface(&SurfaceDesc::image(8, 64, PixelFormat::Rgba8)).unwrap();
    let refused = other.read_in_place(&staging, &tight(surface.desc()).unwrap()).unwrap_err();
    assert!(matches!(refused, Error::InvalidInput { .. }), "{refused}");
}

#[test]
fn memory_is_shared_and_what_is_none_is_refused() {
    let (Some(display), Some(other)) = (display(), display()) else { return };
    shared_memory::every_format_is_exported(&*display);
    shared_memory::blocks_that_nothing_was_written_to_are_refused(&*display);
    let error = shared_memory::a_descriptor_of_something_else_is_refused(&*display);
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let plain = display.create_staging(StagingKind::Persistent, 16).unwrap();
    assert!(matches!(plain.export(HandleType::OpaqueFd), Err(Error::Unsupported { .. })));
    drop(plain);
    if is_software(&display, "memory that the host writes") {
        shared_memory::linear_memory_of_one_device_is_memory_of_another(display, &*other);
    }
}

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
    let host = HostBlock::allocate(4096).unwrap();
    let made = display.create_staging(StagingKind::Imported(host), 4096);
    let Some(mut staging) = has("pages of the host", device(), made) else { return };
    interop_core::conformance::fill(&mut staging, &[7; 4096]).unwrap();
    let mut surface = in_place(&*display, &staging, 4096);
    drop((staging, display));
    assert_eq!(surface.read_back(&SurfacePart::Buffer(0..4096)).unwrap(), [7; 4096]);
}

/// A pitch that is no number of pixels is refused, or is none of this format's.
#[test]
fn rows_between_pixels_are_refused() {
    let Some(display) = display() else { return };
    for format in display.caps().image_formats.clone() {
        let odd = ImageView { offset: 0, row_pitch: 513, extent: Extent::new(21, 2), format };
        let mut staging = display.create_staging(StagingKind::Persistent, odd.span().end).unwrap();
        staging.map_write(&mut |_| Ok(())).unwrap();
        let mut stored = display.create_surface(&SurfaceDesc::image(21, 2, format)).unwrap();
        let copied = stored.upload_staged(&SurfacePart::Image(odd.extent.full()), &mut staging, &View::Image(odd));
        assert_eq!(copied.is_ok(), format.bytes_per_pixel() == 1, "{format}: {copied:?}");
    }
}

/// Later frames wait for the semaphore, and the display's signals come after its work.
#[test]
fn a_frames_semaphore_counts_the_waits() {
    let Some(display) = display() else { return };
    let other: Arc<VulkanDisplay> = crate::display().unwrap();
    for kind in [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore] {
        let Ok((mut semaphore, handle)) = display.create_semaphore(kind) else { continue };
        assert!(matches!(handle, SharedHandle::Semaphore { .. }));
        let mut staging = display.create_staging(StagingKind::Persistent, 4).unwrap();
        let surface = in_place(&*display, &staging, 4);
        let mut last = 0;
        for value in 1..4 {
            semaphore.signal(value, &mut staging).unwrap();
            semaphore.wait(value, &mut staging).unwrap();
            let ready = display.surface_frame(&surface).unwrap().ready.unwrap();
            assert!(ready.value >= last + 2, "a frame's semaphore does not count the wait");
            last = ready.value;
        }
        // A wait that nothing came after goes with its semaphore.
        semaphore.signal(4, &mut staging).unwrap();
        semaphore.wait(4, &mut staging).unwrap();
        drop(semaphore);
        display.finish().unwrap();
        let (mut semaphore, _) = display.create_semaphore(kind).unwrap();
        let mut foreign = other.create_staging(StagingKind::Persistent, 4).unwrap();
        assert!(matches!(semaphore.signal(1, &mut foreign), Err(Error::Foreign { .. })));
    }
}

#[test]
fn descriptors_are_not_leaked() {
    shared_memory::descriptors_are_counted_in_a_child("sharing::child_descriptors");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_descriptors() {
    let Some(display) = display() else { return };
    shared_memory::descriptors_are_closed_whatever_becomes_of_them(&*display);
}

/// This test plays a compute device: signals that it has written, and waits until it may write again.
#[test]
fn a_frame_waits_for_the_other_side_and_the_other_side_for_the_frame() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    let Vulkan { instance, device, .. } = &*engine.vulkan;
    let mut made = Vec::new();
    for _ in 0..2 {
        let Ok((semaphore, handle)) = display.create_semaphore(SyncKind::TimelineSemaphore) else { return };
        let SharedHandle::Semaphore(handle) = handle else { panic!("{handle:?}") };
        made.push((semaphore, timeline(instance, device, handle.into_handle())));
    }
    let [(written, writer), (read, reader)] = &mut made[..] else { panic!("two were made") };
    // SAFETY: the semaphores are of this device and are not destroyed before the display's work is done.
    let counter = |semaphore| unsafe { device.get_semaphore_counter_value(semaphore) }.unwrap();
    let mut staging = display.create_staging(StagingKind::Persistent, 4).unwrap();
    let surface = in_place(&*display, &staging, 4);
    display.finish().unwrap();
    written.wait(5, &mut staging).unwrap();
    let ready = display.surface_frame(&surface).unwrap().ready.unwrap();
    assert_eq!(display.surface_frame(&surface).unwrap().ready, Some(ready), "nothing else is submitted");
    read.signal(7, &mut staging).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(counter(ready.semaphore) < ready.value && counter(*reader) == 0);
    // SAFETY: as above; the counter is below.
    unsafe { device.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(*writer).value(5)) }.unwrap();
    display.finish().unwrap();
    assert!(counter(ready.semaphore) >= ready.value && counter(*reader) == 7);
    for (semaphore, opened) in made {
        drop(semaphore);
        display.finish().unwrap();
        // SAFETY: the display is done with it.
        unsafe { device.destroy_semaphore(opened, None) };
    }
}

/// The counter behind a descriptor, opened by the engine's own device.
fn timeline(instance: &ash::Instance, device: &ash::Device, fd: OwnedFd) -> vk::Semaphore {
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    // SAFETY: the structures live through the calls, and the descriptor is a timeline's, which the driver takes over.
    unsafe {
        let semaphore =
            device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None).unwrap();
        let opened = vk::ImportSemaphoreFdInfoKHR::default()
            .semaphore(semaphore)
            .handle_type(vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD)
            .fd(fd.into_raw_fd());
        ash::khr::external_semaphore_fd::Device::new(instance, device).import_semaphore_fd(&opened).unwrap();
        semaphore
    }
}

#[test]
fn memory_of_a_driver_on_the_cpu_lies_at_an_address() {
    let Some(display) = display() else { return };
    if !is_software(&display, "memory that the host maps") {
        return;
    }
    let uuid = display.device().uuid.unwrap();
    let (ours, handle) = MappedMemory::export(uuid, 5000).unwrap();
    assert!(ours.len() == 5000 && !ours.is_empty() && handle.bytes() >= 5000);
    let whole = handle.bytes();
    let again = || handle.handle().try_clone().unwrap();
    let theirs = MappedMemory::open(uuid, handle.try_clone().unwrap()).unwrap();
    let (a, b) = (ours.address().as_ptr(), theirs.address().as_ptr());
    // SAFETY: both are mapped, so large, and nobody else uses them.
    unsafe {
        assert!((0..5000).all(|at| b.add(at).read() == 0), "zero at first");
        a.add(4999).write(7);
        assert_eq!(b.add(4999).read(), 7);
    }
    // SAFETY: a promise that is broken here, to see that it is noticed.
    let larger = unsafe { MemoryHandle::new(again(), whole + (1 << 20), true) };
    let error = MappedMemory::open(uuid, larger).map(drop).unwrap_err();
    assert!(matches!(&error, Error::InvalidInput { .. }) && error.to_string().contains("the handle states"), "{error}");
    // SAFETY: as above.
    let null = unsafe { MemoryHandle::new(OwnedFd::from(File::open("/dev/null").unwrap()), 4096, false) };
    assert!(matches!(MappedMemory::open(uuid, null).map(drop), Err(Error::InvalidInput { .. })));
    let stranger = MappedMemory::export(DeviceUuid([9; 16]), 4096).map(drop).unwrap_err();
    assert!(matches!(&stranger, Error::Unsupported { .. }) && stranger.to_string().contains("no Vulkan device"));
    // Whoever opened it keeps it.
    drop((ours, handle));
    // SAFETY: as above.
    assert_eq!(unsafe { b.add(4999).read() }, 7);
}
