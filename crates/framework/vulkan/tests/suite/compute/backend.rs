//! The backend on a device of the display's own, and on an engine's.

use super::{Both, both, suite};
use crate::engine::Engine;
use crate::images::queue;
use crate::kernels::FILL;
use crate::paths::{conform, ran};
use interop_core::conformance::Manner;
use interop_core::{
    Arg, ComputeBackend, Display, Error, KernelSource, Link, LinkOptions, PathId, PixelFormat, Policy, RawMemory,
    SurfaceDesc, Target,
};
use pixelferry_testing::by_level;
use pixelferry_vulkan::{VulkanBackend, VulkanObject, VulkanOptions};
use std::sync::Arc;

const IN_QUEUE: [PathId; 3] = [PathId::IN_QUEUE_IN_PLACE, PathId::IN_QUEUE_UPLOAD, PathId::IN_QUEUE_TEXTURE];

/// Without extensions, and without timeline semaphores.
#[test]
fn the_conformance_suite_on_an_engines_bare_device() {
    let Some(engine) = Engine::make(true) else { return };
    let display = engine.display();
    let backend: Arc<dyn ComputeBackend> = Arc::new(VulkanBackend::on(&display).unwrap());
    let display: Arc<dyn Display> = display;
    ran(&conform(&backend, &display, Manner::default(), &IN_QUEUE[..by_level(1, 3, 3)]), &IN_QUEUE[..1]);
}

#[test]
fn what_every_backend_of_wgsl_is_asked() {
    let Some(Both { display, backend }) = both() else { return };
    println!("RAN ON {} ({})", backend.device(), display.device().driver);
    let alone = VulkanBackend::open(&VulkanOptions::default().with_name(crate::device())).unwrap();
    suite::ask(backend.as_ref(), &alone);
    // One of a device of its own moves into the display's queue.
    let inside = alone.open_in(display.as_ref()).unwrap().unwrap();
    assert!(inside.open_in(display.as_ref()).unwrap().is_none());
    let desc = SurfaceDesc::image(16, 16, PixelFormat::Rgba8);
    let link = Link::open(inside, display.clone(), desc, LinkOptions::default()).unwrap();
    assert!(link.report().to_string().contains("in-queue"), "{}", link.report());
    let policy = Policy::default().with_force(PathId::IN_QUEUE_UPLOAD);
    let error = Link::open(Arc::new(alone), display, desc, LinkOptions::new(policy)).err().unwrap().to_string();
    assert!(error.contains("not in the display's queue"), "{error}");
}

/// An engine reads what kernels wrote in a submission of its own, with nothing waited for between.
#[test]
fn an_engine_gets_the_kernels_frames() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    let backend: Arc<dyn ComputeBackend> = Arc::new(VulkanBackend::on(&display).unwrap());
    let kernel = backend.build(&KernelSource::new("fill").wgsl(FILL)).unwrap();
    let wanted = |value: u32| value.to_ne_bytes().repeat(16);
    for path in &IN_QUEUE[..2] {
        let options = LinkOptions::new(Policy::default().with_force(*path));
        let mut link = Link::open(backend.clone(), display.clone(), SurfaceDesc::buffer(64), options).unwrap();
        for value in 0..300_u32 {
            link.frame(|next| next.launch(kernel.as_ref(), &[Arg::U32(value)])).unwrap();
            let shown = link.shown().unwrap();
            let frame = display.surface_frame(shown.surface()).unwrap();
            assert!(matches!(frame.object, VulkanObject::Bytes { .. }));
            assert_eq!(engine.read(&frame), wanted(value), "{path}, frame {value}");
        }
    }
}

#[test]
fn a_frame_is_a_buffer_of_the_device() {
    let Some(Both { display, backend }) = both() else { return };
    let mut memory = backend.allocate(8).unwrap();
    let raw = backend.raw(Target::buffer(memory.as_mut())).unwrap();
    let RawMemory::Vulkan { buffer, device, queue } = raw.memory() else { panic!("{raw:?}") };
    use ash::vk::Handle as _;
    use pixelferry_vulkan::ash;
    assert_ne!(buffer, 0);
    assert_eq!(device, display.device_functions().handle().as_raw());
    assert_eq!(queue, display.queue().0.as_raw());
}

#[test]
fn handles_of_others_are_refused() {
    let (Some(Both { backend, display }), Some(other)) = (both(), both()) else { return };
    let display: Arc<dyn Display> = display;
    crate::images::handles_of_others_are_refused((&backend, &display), other.backend.as_ref(), || ());
    let handle = queue(backend.as_ref());
    let (_memory, lent) = backend.allocate_shared(64, handle, display.device()).unwrap();
    let desc = SurfaceDesc::buffer(64);
    assert!(backend.import_surface(&lent, &desc).is_ok());
    assert!(other.backend.import_surface(&lent, &desc).is_err());
    let larger = backend.import_surface(&lent, &SurfaceDesc::buffer(68)).err().unwrap().to_string();
    assert!(larger.contains("64 bytes"), "{larger}");
    assert!(backend.allocate_shared(64, queue(other.backend.as_ref()), display.device()).is_err());
    let mut memory = other.backend.allocate(64).unwrap();
    let kernel = backend.build(&KernelSource::new("fill").wgsl(FILL)).unwrap();
    let refused = backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[Arg::U32(1)]).unwrap_err();
    assert!(matches!(refused, Error::Foreign { .. }), "{refused}");
}
