//! Whole links: every path to the display, by its own backend and by others.

use crate::paths::{conform, ran};
use crate::{backends, on_every_display, on_every_display_and_apart, on_every_display_apart};
use compute_display::ComputeDisplay;
use cpu_fallback::CpuBackend;
use cuda_backend::CudaBackend;
use interop_core::conformance::Manner;
use interop_core::{
    ComputeBackend, Display, Error, HandleType, Link, LinkOptions, MemoryShape, PathId, PixelFormat, QueueOptions,
    SharedHandle, SurfaceDesc,
};
use opencl_backend::OpenClBackend;
use pixelferry_testing::{Level, Need, by_level, from, given, level};
use std::sync::Arc;

/// Whether frames are shown late, too. rusticl, which takes minutes for either, does that at the longest level.
fn is_late() -> bool {
    given() != Need::Rusticl || level() == Level::Long
}

#[test]
fn its_own_backend_shows_in_its_queue() {
    on_every_display(|display| {
        let (backend, shown): (_, Arc<dyn Display>) = (display.backend(), Arc::clone(display) as _);
        let in_queue = [PathId::IN_QUEUE_IN_PLACE, PathId::IN_QUEUE_UPLOAD];
        let paths = by_level(&in_queue[..], &PathId::ALL, &PathId::ALL);
        ran(&conform(backend, &shown, Manner::default(), paths), &in_queue);
        if is_late() && from(Level::All) {
            ran(&conform(backend, &shown, Manner::late(3), paths), &[PathId::HOST_ROUND_TRIP]);
        }
        // The path that a program gets.
        let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
        let link = Link::open(Arc::clone(backend), shown, desc, LinkOptions::default()).unwrap();
        let report = link.report().to_string();
        assert!(report.contains("in-queue-in-place"), "{report}");
    });
}

/// By memory that both sides have, where kernels read the host's: at the shortest level the workspace's table shows that.
#[test]
fn threads_show_by_the_hosts_memory() {
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let shared = [PathId::HOST_VISIBLE_IN_PLACE, PathId::HOST_VISIBLE_UPLOAD];
    let copied = [PathId::PBO_PERSISTENT, PathId::PBO_ORPHAN, PathId::HOST_ROUND_TRIP];
    let test = |display: &Arc<ComputeDisplay>| {
        let imports = display.backend().caps();
        let reads_host = imports.can_import(HandleType::HostPointer, MemoryShape::Linear).is_yes();
        let display: Arc<dyn Display> = Arc::clone(display) as _;
        let paths = by_level(&copied[..], &PathId::ALL, &PathId::ALL);
        let rows = conform(&backend, &display, Manner::default(), paths);
        ran(&rows, &copied);
        if reads_host && from(Level::All) {
            ran(&rows, &shared);
            if is_late() {
                ran(&conform(&backend, &display, Manner::late(3), paths), &shared);
            }
        }
    };
    match level() {
        Level::Short => on_every_display_apart(test),
        _ => on_every_display_and_apart(test),
    }
}

/// The device opened twice is moved into the display's queue.
#[test]
fn a_second_backend_of_the_device_gives_way_to_the_displays() {
    let twice = backends().into_iter().zip(backends());
    for (one, other) in twice {
        let display = ComputeDisplay::on(one).unwrap();
        let inside = display.beside(other.as_ref()).unwrap();
        assert!(Arc::ptr_eq(&inside, display.backend()));
        assert!(display.beside(inside.as_ref()).is_none());
        // A handle of the one is no memory of the other.
        let own = HandleType::QueueBuffer(inside.caps().display_queue().unwrap());
        let (_memory, handle) = inside.allocate_shared(64, own, display.device()).unwrap();
        let desc = SurfaceDesc::buffer(64);
        let refused = other.import_surface(&handle, &desc).err();
        assert!(matches!(refused, Some(Error::Unsupported { .. })), "{refused:?}");
        assert!(matches!(other.allocate_shared(64, own, display.device()), Err(Error::Unsupported { .. })));
        assert!(inside.import_surface(&handle, &SurfaceDesc::buffer(65)).is_err());
        assert!(inside.allocate_shared(0, own, display.device()).is_err());
        let SharedHandle::QueueBuffer { queue, .. } = handle else { panic!("another handle") };
        let forged = SharedHandle::QueueBuffer { queue, buffer: Box::new(7) };
        assert!(inside.import_surface(&forged, &desc).is_err());
    }
    let cpu = CpuBackend::new().unwrap();
    on_every_display(|display| assert!(display.beside(&cpu).is_none()));
}

/// Its order is that of the display's queue, of which another queue knows nothing.
#[test]
fn further_queues_refuse_what_is_shown() {
    for backend in backends() {
        let own = HandleType::QueueBuffer(backend.caps().display_queue().unwrap());
        let (mut memory, handle) = backend.allocate_shared(64, own, backend.device()).unwrap();
        let mut shown = backend.import_surface(&handle, &SurfaceDesc::buffer(64)).unwrap();
        drop(handle);
        memory.write(0, &[7; 64]).unwrap();
        let mut bytes = [0; 64];
        shown.read(0, &mut bytes).unwrap();
        assert_eq!(bytes, [7; 64], "both are one memory");
        let queue = backend.queue(QueueOptions::default()).unwrap();
        for memory in [memory.as_mut(), shown.as_mut()] {
            let filled = queue.fill(memory, 0..64, &[1], &[]);
            assert!(matches!(filled, Err(Error::InvalidInput { .. })), "{filled:?}");
        }
        drop(memory);
        shown.read(0, &mut bytes).unwrap();
        assert_eq!(bytes, [7; 64], "it stays while one of them lives");
        let known =
            backend.downcast_ref::<OpenClBackend>().is_some() || backend.downcast_ref::<CudaBackend>().is_some();
        assert!(known);
    }
}
