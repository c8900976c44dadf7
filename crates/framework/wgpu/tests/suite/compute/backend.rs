//! The backend on every adapter of this machine.

use super::suite;
use crate::kernels::FILL;
use crate::paths::{conform, ran};
use cpu_fallback::MemoryDisplay;
use interop_core::conformance::{ConformanceTable, Manner};
use interop_core::{
    Arg, ComputeBackend, ComputeMemory, Display, Error, KernelSource, Link, LinkOptions, PathId, PixelFormat, Policy,
    Result, SurfaceDesc, Target,
};
use pixelferry_testing::{Need, by_level, has, need};
use pixelferry_wgpu::WgpuDisplay;
use pixelferry_wgpu::{WgpuBackend, WgpuDevice, WgpuOptions};
use std::sync::Arc;

fn open(backends: wgpu::Backends) -> Result<WgpuBackend> {
    WgpuBackend::open(&WgpuOptions::default().with_backends(backends))
}

/// On Vulkan and on OpenGL.
fn backends() -> Vec<Arc<dyn ComputeBackend>> {
    let apis = [(Need::Lavapipe, wgpu::Backends::VULKAN), (Need::Egl, wgpu::Backends::GL)];
    let opened = apis.into_iter().filter_map(|(driver, api)| {
        let device = WgpuDevice::open(&WgpuOptions::default().with_backends(api));
        let device = need(driver, device)?;
        let name = format!("{} ({})", device.identity, device.identity.driver);
        let opened = match WgpuBackend::on(device) {
            Err(error @ Error::Unsupported { .. }) => Err(error),
            other => Ok(other.unwrap()),
        };
        has("compute shaders", name, opened)
    });
    opened.map(|backend| Arc::new(backend) as Arc<dyn ComputeBackend>).collect()
}

fn on_each(test: impl Fn(&dyn ComputeBackend)) {
    for backend in backends() {
        println!("RAN ON {} ({})", backend.device(), backend.device().driver);
        test(backend.as_ref());
    }
}

#[test]
fn the_conformance_suite() {
    let by_host = [PathId::HOST_ROUND_TRIP];
    for backend in backends().into_iter().take(by_level(1, 2, 2)) {
        let display: Arc<dyn Display> = MemoryDisplay::new();
        let paths = by_level(&by_host[..], &PathId::ALL, &PathId::ALL);
        ran(&conform(&backend, &display, Manner::default(), paths), &by_host);
    }
}

/// Kernels in the queue that draws.
#[test]
fn the_conformance_suite_in_the_displays_queue() {
    for api in [wgpu::Backends::GL, wgpu::Backends::VULKAN].into_iter().take(by_level(1, 2, 2)) {
        let driver = if api == wgpu::Backends::GL { Need::Egl } else { Need::Lavapipe };
        let options = WgpuOptions::default().with_backends(api);
        let Some(display) = need(driver, WgpuDisplay::headless(options)) else { continue };
        let name = format!("{} ({})", display.device(), display.device().driver);
        let Some(backend) = has("compute shaders", &name, WgpuBackend::on(display.shared_device())) else { continue };
        let backend: Arc<dyn ComputeBackend> = Arc::new(backend);
        let display: Arc<dyn Display> = display;
        let in_queue = [PathId::IN_QUEUE_UPLOAD, PathId::IN_QUEUE_TEXTURE, PathId::IN_QUEUE_IN_PLACE];
        let rows = conform(&backend, &display, Manner::default(), by_level(&in_queue[..2], &in_queue, &in_queue));
        let (passed, _, skipped) = ConformanceTable(&rows).counts();
        // Fragment shaders of wgpu's OpenGL may read no memory; a texture has a way of its own.
        let (least, most) = by_level((4, 3), (15, 16), (15, 16));
        assert!(passed >= least && skipped <= most, "{name}: {passed} passed, {skipped} skipped");
        // A backend on a device of its own is another queue, and moves into the display's where it is asked to.
        let stranger: Arc<dyn ComputeBackend> = Arc::new(open(api).unwrap());
        let inside = stranger.open_in(display.as_ref()).unwrap().unwrap();
        assert!(inside.open_in(display.as_ref()).unwrap().is_none());
        let desc = SurfaceDesc::image(16, 16, PixelFormat::Rgba8);
        let link = Link::open(inside, Arc::clone(&display), desc, LinkOptions::default()).unwrap();
        println!("{}", link.report());
        let policy = Policy::default().with_force(PathId::IN_QUEUE_UPLOAD);
        let error = Link::open(stranger, display, desc, LinkOptions::new(policy)).err().unwrap().to_string();
        assert!(error.contains("not in the display's queue"), "{error}");
    }
}

#[test]
fn what_every_backend_of_wgsl_is_asked() {
    on_each(|backend| {
        let stranger = open(wgpu::Backends::VULKAN).or_else(|_| open(wgpu::Backends::GL)).unwrap();
        suite::ask(backend, &stranger);
    });
}

/// Launches are recorded and submitted later: with what comes next, and before what others submit.
#[test]
fn what_is_recorded_comes_before_what_follows() {
    const WORDS: usize = 64;
    let Some(display) = need(Need::Lavapipe, WgpuDisplay::headless(WgpuOptions::default())) else { return };
    let device = display.shared_device();
    let backend: Arc<dyn ComputeBackend> = Arc::new(WgpuBackend::on(device.clone()).unwrap());
    let kernel = backend.build(&KernelSource::new("fill").wgsl(FILL)).unwrap();
    // A write comes after the launch before it, and before the launch after it.
    let mut memory = backend.allocate(WORDS * 4).unwrap();
    let words = |memory: &mut dyn ComputeMemory| -> Vec<u32> {
        let mut bytes = vec![0; WORDS * 4];
        memory.read(0, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect()
    };
    let launch = |memory: &mut dyn ComputeMemory, value| {
        backend.launch(kernel.as_ref(), Target::buffer(memory), &[Arg::U32(value)]).unwrap();
    };
    for value in 1..20 {
        launch(memory.as_mut(), value);
        memory.write(4, &77_u32.to_ne_bytes()).unwrap();
        let found = words(memory.as_mut());
        assert_eq!((found[0], found[1], found[2]), (value, 77, value));
        memory.write(4, &78_u32.to_ne_bytes()).unwrap();
        launch(memory.as_mut(), value);
        assert_eq!(words(memory.as_mut()), [value; WORDS]);
    }
    // So does what an engine submits with a buffer that the display gave out.
    let policy = Policy::default().with_force(PathId::IN_QUEUE_IN_PLACE);
    let desc = SurfaceDesc::buffer(WORDS as u64 * 4);
    let mut link = Link::open(backend.clone(), display.clone(), desc, LinkOptions::new(policy)).unwrap();
    let copied = device.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: WORDS as u64 * 4,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    for value in 1..20_u32 {
        link.frame(|frame| frame.launch(kernel.as_ref(), &[Arg::U32(value)])).unwrap();
        let shown = link.shown().unwrap();
        let given = display.surface_buffer(shown.surface()).unwrap();
        let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&given.buffer, given.offset, &copied, 0, given.len);
        display.wgpu_queue().submit([encoder.finish()]);
        let bytes = device.read_buffer(&copied, 0..copied.size()).unwrap();
        assert!(bytes.chunks_exact(4).all(|word| word == value.to_ne_bytes()), "frame {value} is another's");
    }
}

/// An engine's callback is called by the polls of a device that computes, too.
#[test]
fn an_engine_is_told_that_its_device_was_destroyed() {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    let adapters = pixelferry_wgpu::wgpu_adapters(wgpu::Backends::VULKAN);
    let Some(adapter) = need(Need::Lavapipe, adapters.into_iter().next().ok_or("no adapter")) else { return };
    let (device, queue) = pixelferry_wgpu::open_device(&adapter, &wgpu::DeviceDescriptor::default()).unwrap();
    let lost = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&lost);
    device.set_device_lost_callback(move |_, _| told.store(true, Relaxed));
    let display = WgpuDisplay::from_engine(&adapter, device.clone(), queue).unwrap();
    let backend: Arc<dyn ComputeBackend> = Arc::new(WgpuBackend::on(display.shared_device()).unwrap());
    let kernel = backend.build(&KernelSource::new("fill").wgsl(FILL)).unwrap();
    let desc = SurfaceDesc::buffer(256);
    let mut link = Link::open(backend, display.clone(), desc, LinkOptions::default()).unwrap();
    for value in 0..4 {
        link.frame(|frame| frame.launch(kernel.as_ref(), &[Arg::U32(value)])).unwrap();
        display.surface_buffer(link.shown().unwrap().surface()).unwrap();
    }
    device.destroy();
    // Told when its queue is empty, which a poll alone does not wait for.
    display.shared_device().wait(None).unwrap();
    assert!(lost.load(Relaxed));
}

/// An image above the limit of storage bindings goes by the path that binds a texture; the others say what to ask the device for.
#[test]
fn an_image_above_the_limit_of_bindings_is_a_texture() {
    let Some(own) = crate::common::display() else { return };
    let adapter = crate::common::adapter_of(&own);
    let required_limits = wgpu::Limits { max_storage_buffer_binding_size: 1 << 16, ..wgpu::Limits::default() };
    let descriptor = wgpu::DeviceDescriptor { required_limits, ..wgpu::DeviceDescriptor::default() };
    let (device, queue) = crate::common::ready(adapter.request_device(&descriptor)).unwrap();
    let display = WgpuDisplay::from_engine(&adapter, device, queue).unwrap();
    let backend: Arc<dyn ComputeBackend> = Arc::new(WgpuBackend::on(display.shared_device()).unwrap());
    let display: Arc<dyn Display> = display;
    let limit = "max_storage_buffer_binding_size";
    crate::large_images::an_image_above_the_limit_of_buffers_is_a_texture(&backend, &display, limit);
}
