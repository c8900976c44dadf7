//! Frames in an engine's own submissions.

use crate::engine::Engine;
use ash::vk;
use cpu_fallback::CpuBackend;
use interop_core::conformance::{fill, stored};
use interop_core::path::PATHS;
use interop_core::{
    ComputeBackend, Display, Extent, Filter, ImageAccess, ImageDesc, ImageView, Link, LinkOptions, PixelFormat, Policy,
    Region, StagingKind, Surface, SurfaceDesc, SurfacePart, View,
};
use pixelferry_vulkan::{BlitTarget, CLock, RawVulkan, TimelinePoint, VulkanDisplay, VulkanEngine, VulkanObject, ash};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes that no other frame has there.
fn noise(len: usize, frame: u32) -> Vec<u8> {
    (0..len as u32).map(|i| (i + 1).wrapping_mul(0x9E37_79B1).wrapping_add(frame * 77).to_be_bytes()[0]).collect()
}

fn surfaces() -> Vec<SurfaceDesc> {
    let image = |format, access| SurfaceDesc::Image(ImageDesc::new(61, 23, format).with_access(access));
    vec![
        image(PixelFormat::Rgba8, ImageAccess::Texture),
        image(PixelFormat::Rgba32F, ImageAccess::Texture),
        image(PixelFormat::Rgba8, ImageAccess::Any),
        image(PixelFormat::R8, ImageAccess::Any),
        SurfaceDesc::buffer(5001),
    ]
}

/// Shows frames on every path that is offered, and reads each as the engine. Returns how many paths there were.
fn show_all(engine: &Engine, display: &Arc<VulkanDisplay>) -> usize {
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let shown: Arc<dyn Display> = Arc::clone(display) as _;
    let mut count = 0;
    for path in PATHS {
        let mut offered = false;
        for desc in surfaces() {
            let policy = Policy::default().with_force(path.id);
            let mut link = match Link::open(Arc::clone(&backend), Arc::clone(&shown), desc, LinkOptions::new(policy)) {
                Ok(link) => link,
                Err(error) => {
                    println!("{}, {desc}: {error}", path.id);
                    continue;
                }
            };
            offered = true;
            for n in 0..5 {
                let bytes = noise(desc.byte_len().unwrap(), n);
                link.frame(|frame| frame.write(&bytes)).unwrap();
                let frame = display.surface_frame(link.shown().unwrap().surface()).unwrap();
                assert_eq!(frame.ready.is_none(), engine.bare);
                let is_image = matches!(frame.object, VulkanObject::Image { .. });
                if matches!(&desc, SurfaceDesc::Image(i) if i.access == ImageAccess::Texture) {
                    assert!(is_image, "{} gave {frame:?}", path.id);
                }
                assert!(engine.read(&frame) == bytes, "{} {desc}, frame {n}: other pixels", path.id);
            }
        }
        count += usize::from(offered);
    }
    count
}

#[test]
fn frames_reach_an_engine_with_all_extensions() {
    let Some(engine) = Engine::make(false) else { return };
    let before = *engine.lock.lock().unwrap();
    let display = engine.display();
    assert!(show_all(&engine, &display) >= 5);
    assert!(*engine.lock.lock().unwrap() > before);
}

#[test]
fn frames_reach_an_engine_that_switched_nothing_on() {
    let Some(engine) = Engine::make(true) else { return };
    let display = engine.display();
    assert!(show_all(&engine, &display) >= 5);
    let reasons = format!("{:?}", display.caps());
    assert!(reasons.contains("the device was made without VK_KHR_external_memory_fd"), "{reasons}");
    assert!(reasons.contains("the device was made without VK_KHR_external_semaphore_fd"), "{reasons}");
}

static HELD: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn take(data: *mut c_void) {
    assert_eq!(data as usize, 7);
    assert_eq!(HELD.fetch_add(1, Ordering::SeqCst) % 2, 0);
}

unsafe extern "C" fn let_go(_: *mut c_void) {
    HELD.fetch_add(1, Ordering::SeqCst);
}

/// The engine's handles as numbers, which is how C++ has them.
pub fn raw(engine: &Engine) -> RawVulkan {
    use vk::Handle;
    let pointer = |handle: u64| handle as usize as *mut c_void;
    let vulkan = &engine.vulkan;
    RawVulkan {
        get_instance_proc_addr: vulkan.entry.static_fn().get_instance_proc_addr as *const c_void,
        instance: pointer(vulkan.instance.handle().as_raw()),
        physical_device: pointer(vulkan.physical.as_raw()),
        device: pointer(vulkan.device.handle().as_raw()),
        queue: pointer(engine.queue.as_raw()),
        family: engine.family,
    }
}

#[test]
fn raw_handles_and_a_lock_of_c_do() {
    let Some(engine) = Engine::make(false) else { return };
    let raw = raw(&engine);
    // SAFETY: the handles are the engine's, which lives until the display has gone; the lock's data is never followed.
    let display = unsafe {
        let needs = pixelferry_vulkan::device_extensions_raw(&raw).unwrap();
        assert_eq!(needs, engine.vulkan.needs);
        let lock = CLock::new(take, let_go, std::ptr::without_provenance_mut(7));
        let described = VulkanEngine::from_raw(&raw, lock).unwrap();
        let described = described.with_extensions(needs.names()).with_timeline_semaphores();
        VulkanDisplay::from_engine(described).unwrap()
    };
    assert!(show_all(&engine, &display) >= 5);
    drop(display);
    let held = HELD.load(Ordering::SeqCst);
    assert!(held > 20 && held.is_multiple_of(2), "{held}");
}

fn counter(device: &ash::Device, semaphore: vk::Semaphore) -> u64 {
    // SAFETY: the semaphore is a timeline of this device.
    unsafe { device.get_semaphore_counter_value(semaphore) }.unwrap()
}

/// Further work of the display waits until the engine has read.
#[test]
fn the_display_waits_for_readers_on_other_queues() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    let device = &engine.vulkan.device;
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: the structures live through the call.
    let read = unsafe { device.create_semaphore(&info, None) }.unwrap();
    let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
    let mut surface = display.create_surface(&desc).unwrap();
    let (full, bytes) = (SurfacePart::full(&desc), noise(64 * 64 * 4, 1));
    let view = interop_core::conformance::tight(&desc).unwrap();
    surface.upload(&full, &bytes, &view).unwrap();
    display.finish().unwrap();
    // SAFETY: the semaphore is signalled below and lives until the display has gone.
    unsafe { display.read_until(TimelinePoint { semaphore: read, value: 3 }) }.unwrap();
    let later = noise(64 * 64 * 4, 2);
    surface.upload(&full, &later, &view).unwrap();
    let ready = display.surface_frame(&surface).unwrap().ready.unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(counter(device, ready.semaphore) < ready.value, "the upload did not wait for the reader");
    let info = vk::SemaphoreSignalInfo::default().semaphore(read).value(3);
    // SAFETY: the counter is below.
    unsafe { device.signal_semaphore(&info) }.unwrap();
    assert_eq!(surface.read_back(&full).unwrap(), later);
    let (semaphores, values) = ([ready.semaphore], [ready.value]);
    let count = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
    // Mesa on the CPU counts a little after the fence.
    // SAFETY: the semaphore is a timeline of this device; the structure lives through the call.
    unsafe { device.wait_semaphores(&count, 60_000_000_000) }.unwrap();
    drop((surface, display));
    // SAFETY: nothing uses it any more.
    unsafe { device.destroy_semaphore(read, None) };
}

#[test]
fn a_frame_is_blitted_into_an_image_of_the_engines() {
    for bare in [false, true] {
        let Some(engine) = Engine::make(bare) else { return };
        let display = engine.display();
        let desc = SurfaceDesc::image(16, 8, PixelFormat::Rgba8);
        let bytes = noise(16 * 8 * 4, 3);
        let surface = stored(&*display, &desc, &bytes).unwrap();
        let stretched = |filter| {
            engine.blitted(vk::Format::R8G8B8A8_UNORM, Extent::new(40, 20), |commands, image| {
                let target =
                    BlitTarget { image, format: vk::Format::R8G8B8A8_UNORM, region: Region::new(4, 2, 32, 16) };
                // SAFETY: the commands are recorded and submitted as it says; the image is the engine's, of that size.
                unsafe { display.record_blit(&surface, commands, &target, filter) }.unwrap()
            })
        };
        let seen = stretched(Filter::Nearest);
        for (x, y) in (0..40).flat_map(|x| (0..20).map(move |y| (x, y))) {
            let at = (y * 40 + x) * 4;
            let inside = (4..36).contains(&x) && (2..18).contains(&y);
            let from = if inside { ((y - 2) / 2 * 16 + (x - 4) / 2) * 4 } else { 0 };
            let expected = if inside { &bytes[from..from + 4] } else { &[0; 4][..] };
            assert_eq!(&seen[at..at + 4], expected, "{x}, {y}");
        }
        let smooth = stretched(Filter::Linear);
        assert!(smooth != seen && smooth[..40 * 4 * 2].iter().all(|byte| *byte == 0));
        // Into another format, number by number.
        let halves = engine.blitted(vk::Format::R32G32B32A32_SFLOAT, Extent::new(16, 8), |commands, image| {
            let region = Region::new(0, 0, 16, 8);
            let target = BlitTarget { image, format: vk::Format::R32G32B32A32_SFLOAT, region };
            // SAFETY: as above.
            unsafe { display.record_blit(&surface, commands, &target, Filter::Nearest) }.unwrap()
        });
        for (number, byte) in halves.chunks_exact(4).zip(&bytes) {
            let number = f32::from_le_bytes(number.try_into().unwrap());
            assert!((number - f32::from(*byte) / 255.0).abs() < 1e-6);
        }
    }
}

#[test]
fn rows_are_copied_at_their_own_size_and_nonsense_is_refused() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    let image = ImageDesc::new(21, 5, PixelFormat::Rgba8).with_access(ImageAccess::Any);
    let view = ImageView::packed(image.extent, image.format, 256, 0, false).unwrap();
    let mut staging = display.create_staging(StagingKind::Persistent, view.span().end).unwrap();
    let bytes = noise(view.span().end, 5);
    fill(&mut staging, &bytes).unwrap();
    let mut rows = display.create_in_place_surface(&SurfaceDesc::Image(image)).unwrap();
    rows.read_in_place(&staging, &View::Image(view)).unwrap();
    let rgba = vk::Format::R8G8B8A8_UNORM;
    let seen = engine.blitted(rgba, Extent::new(30, 9), |commands, image| {
        let target = |format, region| BlitTarget { image, format, region };
        let buffer = display.create_surface(&SurfaceDesc::buffer(64)).unwrap();
        let stored = display.create_surface(&SurfaceDesc::image(4, 4, PixelFormat::Rgba8)).unwrap();
        // SAFETY: what is wrong of it is found before anything is recorded; the last is right.
        unsafe {
            let told = |surface: &Surface, target: BlitTarget| {
                display.record_blit(surface, commands, &target, Filter::Nearest).err().unwrap().to_string()
            };
            let said = told(&rows, target(rgba, Region::new(0, 0, 30, 9)));
            assert!(said.contains("ImageAccess::Texture"), "{said}");
            let said = told(&rows, target(vk::Format::R32_SFLOAT, Region::new(0, 0, 21, 5)));
            assert!(said.contains("ImageAccess::Texture"), "{said}");
            for region in [Region::new(0, 0, 0, 5), Region::new(u32::MAX, 0, 21, 5), Region::new(0, 1 << 31, 1, 1)] {
                let said = told(&stored, target(rgba, region));
                assert!(said.contains("empty or reaches outside"), "{said}");
            }
            let said = told(&buffer, target(rgba, Region::new(0, 0, 1, 1)));
            assert!(said.contains("no pixels"), "{said}");
            let compressed = vk::Format::ASTC_4X4_UNORM_BLOCK;
            let said = told(&stored, target(compressed, Region::new(0, 0, 4, 4)));
            assert!(said.contains("ASTC_4X4_UNORM_BLOCK"), "{said}");
            let target = target(rgba, Region::new(3, 2, 21, 5));
            display.record_blit(&rows, commands, &target, Filter::Nearest).unwrap()
        }
    });
    for y in 0..5 {
        let at = ((y + 2) * 30 + 3) * 4;
        assert!(seen[at..at + 21 * 4] == bytes[y * 256..y * 256 + 21 * 4], "row {y}");
    }
}
