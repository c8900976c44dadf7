//! Mistakes of engines, and a device that is lost.

use crate::engine::Engine;
use crate::engines_own::raw;
use crate::{device, display};
use ash::vk;
use cpu_fallback::{CpuBackend, MemoryDisplay};
use interop_core::{
    Display, Error, ImageAccess, ImageDesc, Link, LinkOptions, PathId, PixelFormat, Policy, StagingKind, SurfaceDesc,
};
use pixelferry_vulkan::{
    RawVulkan, TimelinePoint, VulkanDisplay, VulkanEngine, VulkanOptions, ash, device_extensions_raw,
};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn refused(engine: VulkanEngine) -> String {
    // SAFETY: what is wrong of it, the call finds out before it uses it.
    let error = unsafe { VulkanDisplay::from_engine(engine) }.err().unwrap();
    assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
    error.to_string()
}

#[test]
fn what_an_engine_says_wrongly_is_refused() {
    let Some(engine) = Engine::make(true) else { return };
    let good = raw(&engine);
    let of = |raw: RawVulkan| {
        // SAFETY: the function is the loader's.
        unsafe { VulkanEngine::from_raw(&raw, ()) }.unwrap()
    };
    // SAFETY: a null function is refused.
    assert!(unsafe { VulkanEngine::from_raw(&RawVulkan { get_instance_proc_addr: null_mut(), ..good }, ()) }.is_none());
    for (broken, named) in [
        (RawVulkan { instance: null_mut(), ..good }, "VkInstance"),
        (RawVulkan { physical_device: null_mut(), ..good }, "VkPhysicalDevice"),
        (RawVulkan { device: null_mut(), ..good }, "VkDevice"),
        (RawVulkan { queue: null_mut(), ..good }, "VkQueue"),
        (RawVulkan { family: 99, ..good }, "queue family 99"),
    ] {
        let said = refused(of(broken));
        assert!(said.contains(named), "{said}");
    }
    // SAFETY: as above.
    assert!(unsafe { device_extensions_raw(&RawVulkan { physical_device: null_mut(), ..good }) }.is_err());
    let said = refused(of(good).read_by([0, 7]));
    assert!(said.contains("queue family 7"), "{said}");
    for extension in &engine.vulkan.needs.extensions {
        let said = refused(of(good).with_extensions([extension.name]));
        assert!(said.contains(&*extension.name.to_string_lossy()), "{said}");
    }
    // Names that the display does not know do no harm.
    // SAFETY: the handles are the engine's.
    let display = unsafe { VulkanDisplay::from_engine(of(good).with_extensions([c"VK_KHR_swapchain"])) }.unwrap();
    // SAFETY: it is refused.
    let told = unsafe { display.read_until(TimelinePoint { semaphore: vk::Semaphore::null(), value: 1 }) };
    assert!(matches!(told, Err(Error::Unsupported { .. })), "{told:?}");
}

#[test]
fn a_lock_that_does_not_call_is_an_error() {
    let Some(engine) = Engine::make(true) else { return };
    // SAFETY: the handles are the engine's.
    let described = unsafe { VulkanEngine::from_raw(&raw(&engine), |_: &mut dyn FnMut()| ()) }.unwrap();
    // SAFETY: as above.
    let display = unsafe { VulkanDisplay::from_engine(described) }.unwrap();
    let error = display.finish().err().unwrap().to_string();
    assert!(error.contains("lock"), "{error}");
    // A lock that uses the display, which is not to wait for itself.
    let own: Arc<std::sync::OnceLock<Arc<VulkanDisplay>>> = Arc::default();
    let inside = Arc::clone(&own);
    let uses = move |submit: &mut dyn FnMut()| {
        let told = inside.get().map(|display| display.finish().err().unwrap().to_string());
        assert!(told.is_none_or(|told| told.contains("used the display")));
        submit();
    };
    // SAFETY: as above. The display is never dropped.
    let described = unsafe { VulkanEngine::from_raw(&raw(&engine), uses) }.unwrap();
    // SAFETY: as above.
    let display = unsafe { VulkanDisplay::from_engine(described.keeping(Arc::clone(&engine.vulkan))) }.unwrap();
    assert!(own.set(Arc::clone(&display)).is_ok());
    display.finish().unwrap();
    // A lock that calls twice submits once.
    let twice = |submit: &mut dyn FnMut()| {
        submit();
        submit();
    };
    // SAFETY: as above.
    let described = unsafe { VulkanEngine::from_raw(&raw(&engine), twice) }.unwrap();
    // SAFETY: as above.
    unsafe { VulkanDisplay::from_engine(described) }.unwrap().finish().unwrap();
}

#[test]
fn sizes_and_surfaces_that_mean_nothing_are_refused() {
    let (Some(display), Some(other)) = (display(), display()) else { return };
    let image = |width, height| SurfaceDesc::image(width, height, PixelFormat::Rgba8);
    assert!(display.create_staging(StagingKind::ExportedImage(ImageDesc::new(0, 1, PixelFormat::R8)), 4).is_err());
    let foreign = other.create_surface(&image(4, 4)).unwrap();
    assert!(matches!(display.surface_frame(&foreign), Err(Error::Foreign { .. })));
    let memory = MemoryDisplay::new().create_surface(&image(4, 4)).unwrap();
    assert!(matches!(display.surface_frame(&memory), Err(Error::Foreign { .. })));
    let empty = display.create_in_place_surface(&image(4, 4)).unwrap();
    assert!(matches!(display.surface_frame(&empty), Err(Error::NothingShown)));
    let options = VulkanOptions::default().with_name("no such device");
    let error = VulkanDisplay::headless(&options).err().unwrap().to_string();
    assert!(error.contains("no such device") && error.contains(&device()), "{error}");
}

/// The surfaces of a display outlive it.
#[test]
fn a_display_may_go_before_what_it_made() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    let desc = SurfaceDesc::Image(ImageDesc::new(16, 16, PixelFormat::Rgba8).with_access(ImageAccess::Any));
    let backend = Arc::new(CpuBackend::new().unwrap());
    let policy = Policy::default().with_force(PathId::HOST_VISIBLE_IN_PLACE);
    let shown: Arc<dyn Display> = Arc::clone(&display) as _;
    let mut link = Link::open(backend, shown, desc, LinkOptions::new(policy)).unwrap();
    let staging = display.create_staging(StagingKind::Persistent, 4096).unwrap();
    let block = staging.host_block().unwrap();
    drop((display, engine, staging));
    link.frame(|frame| frame.write(&[9; 16 * 16 * 4])).unwrap();
    assert_eq!(link.read_back().unwrap(), [9; 16 * 16 * 4]);
    drop(link);
    // The memory keeps the device.
    let mut bytes = block.write(0..4096, interop_core::devices::borrows::Holder::Guard).unwrap();
    bytes.fill(1);
}

/// A driver whose queue is lost when it is told to.
mod losing {
    use super::*;

    pub static LOST: AtomicBool = AtomicBool::new(false);

    type Queue = unsafe extern "system" fn(vk::Queue, u32, *const vk::SubmitInfo<'_>, vk::Fence) -> vk::Result;

    fn loader() -> &'static ash::Entry {
        static ENTRY: std::sync::OnceLock<ash::Entry> = std::sync::OnceLock::new();
        // SAFETY: the loader may be opened at any time.
        ENTRY.get_or_init(|| unsafe { ash::Entry::load() }.unwrap())
    }

    unsafe extern "system" fn submit(_: vk::Queue, _: u32, _: *const vk::SubmitInfo<'_>, _: vk::Fence) -> vk::Result {
        vk::Result::ERROR_DEVICE_LOST
    }

    static REAL: std::sync::OnceLock<Queue> = std::sync::OnceLock::new();

    unsafe extern "system" fn submit_or_lose(
        queue: vk::Queue,
        count: u32,
        infos: *const vk::SubmitInfo<'_>,
        fence: vk::Fence,
    ) -> vk::Result {
        let real = if LOST.load(Ordering::SeqCst) { submit } else { *REAL.get().unwrap() };
        // SAFETY: the caller's arguments, handed on.
        unsafe { real(queue, count, infos, fence) }
    }

    unsafe extern "system" fn of_device(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
        // SAFETY: the loader's function, asked for what the caller asks.
        unsafe {
            let get = loader().static_fn().get_instance_proc_addr;
            let instance = vk::Instance::from_raw_of(INSTANCE.load(Ordering::SeqCst));
            let get_device = get(instance, c"vkGetDeviceProcAddr".as_ptr()).unwrap();
            let get_device: vk::PFN_vkGetDeviceProcAddr = std::mem::transmute(get_device);
            let found = get_device(device, name);
            if CStr::from_ptr(name) == c"vkQueueSubmit" {
                REAL.get_or_init(|| std::mem::transmute::<vk::PFN_vkVoidFunction, Queue>(found));
                return Some(std::mem::transmute::<Queue, unsafe extern "system" fn()>(submit_or_lose));
            }
            found
        }
    }

    pub static INSTANCE: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

    trait FromRaw {
        fn from_raw_of(raw: u64) -> Self;
    }

    impl FromRaw for vk::Instance {
        fn from_raw_of(raw: u64) -> Self {
            vk::Handle::from_raw(raw)
        }
    }

    /// `vkGetInstanceProcAddr`.
    pub unsafe extern "system" fn of_instance(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
        // SAFETY: as above.
        unsafe {
            if CStr::from_ptr(name) == c"vkGetDeviceProcAddr" {
                INSTANCE.store(vk::Handle::as_raw(instance), Ordering::SeqCst);
                let own: vk::PFN_vkGetDeviceProcAddr = of_device;
                return Some(std::mem::transmute::<vk::PFN_vkGetDeviceProcAddr, unsafe extern "system" fn()>(own));
            }
            (loader().static_fn().get_instance_proc_addr)(instance, name)
        }
    }
}

#[test]
fn a_lost_device_is_an_error_and_everything_goes() {
    let Some(engine) = Engine::make(false) else { return };
    let own = RawVulkan { get_instance_proc_addr: losing::of_instance as *const c_void, ..raw(&engine) };
    // SAFETY: the function hands on to the loader's, the handles are the engine's.
    let display = unsafe {
        let described = VulkanEngine::from_raw(&own, ()).unwrap();
        VulkanDisplay::from_engine(described.with_extensions(engine.extensions()).with_timeline_semaphores()).unwrap()
    };
    let backend = Arc::new(CpuBackend::new().unwrap());
    let shown: Arc<dyn Display> = Arc::clone(&display) as _;
    let desc = SurfaceDesc::image(32, 32, PixelFormat::Rgba8);
    let mut link = Link::open(backend, shown, desc, LinkOptions::default()).unwrap();
    link.frame(|frame| frame.write(&[3; 32 * 32 * 4])).unwrap();
    losing::LOST.store(true, Ordering::SeqCst);
    let error = link.frame(|frame| frame.write(&[4; 32 * 32 * 4])).err().unwrap().to_string();
    assert!(error.contains("DEVICE_LOST") && error.contains("create a new device"), "{error}");
    assert!(display.finish().is_err() && display.create_surface(&desc).is_err());
    drop(link);
    drop(display);
    losing::LOST.store(false, Ordering::SeqCst);
    assert!(Arc::strong_count(&engine.vulkan) == 1);
}

#[test]
fn hostile_drivers_get_errors() {
    let Some(display) = display() else { return };
    crate::hostile::hostile_drivers_get_errors(&*display, true);
}
