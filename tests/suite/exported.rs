//! Kernels that write memory which a display of another queue on the same device exported. Suites of such backends have this file.

use crate::paths::{conform, ran};
use interop_core::conformance::Manner;
use interop_core::{
    Arg, ComputeBackend, Display, Error, HandleType, KernelSource, Link, LinkOptions, MemoryHandle, MemoryShape,
    PathId, PathState, PixelFormat, Policy, SemaphoreHandle, SharedHandle, Staging, StagingKind, SurfaceDesc, SyncKind,
    Target,
};
use pixelferry_testing::{Usage, by_level, has, pass_in_child};
use std::fs::File;
use std::sync::Arc;

const EXPORTED: [PathId; 2] = [PathId::EXPORTED_IN_PLACE, PathId::EXPORTED_UPLOAD];
const BYTES: usize = 4096;

const FILL: &str = "
@compute @workgroup_size(64)
fn fill(@builtin(global_invocation_id) id: vec3<u32>) {
  if (pf_index(id) < pf_items()) { pf_put(pf_index(id), pf_arg_u32(0)); }
}";

/// False after saying SKIPPED, where a driver shares no memory.
pub fn share(backend: &dyn ComputeBackend, display: &dyn Display) -> bool {
    let opens = backend.caps().can_import(HandleType::OPAQUE, MemoryShape::Linear).of_the("compute");
    let both = opens
        .and(|| display.caps().can_export(HandleType::OPAQUE, MemoryShape::Linear).of_the("display"))
        .and(|| backend.device().same_device(display.device()));
    let on = format!("{} to {}", backend.device(), display.device());
    let shares =
        has("memory of two queues", &on, if both.is_yes() { Ok(()) } else { Err(format!("{both:?}")) }).is_some();
    if shares {
        println!("RAN ON {on} ({})", display.device().driver);
    }
    shares
}

fn semaphores(backend: &dyn ComputeBackend, display: &dyn Display) -> Vec<SyncKind> {
    let shared = |kind: &SyncKind| {
        backend.caps().can_open_semaphore(*kind).is_yes() && display.caps().can_make_semaphore(*kind).is_yes()
    };
    [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore].into_iter().filter(shared).collect()
}

/// Tests that frames cross, kept apart in each way that both have, and that what is refused is refused with the reason.
pub fn carries_frames(backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>) {
    let manners = [Manner::default(), Manner::late(2)];
    for manner in manners.into_iter().take(by_level(1, 2, 2)) {
        ran(&conform(backend, display, manner, &EXPORTED), &EXPORTED);
        for kind in semaphores(backend.as_ref(), display.as_ref()) {
            println!("kept apart by a {kind}");
            ran(&conform(backend, display, Manner { sync: Some(kind), ..manner }, &EXPORTED), &EXPORTED);
        }
    }
    frames_come_in_turn(backend, display);
    what_is_no_such_memory_is_refused(backend.as_ref(), display.as_ref());
    a_link_offers_both(backend, display);
}

/// Many frames with nothing between them: each is the one that was written last.
fn frames_come_in_turn(backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>) {
    let kernel = backend.build(&KernelSource::new("fill").wgsl(FILL)).unwrap();
    let mut syncs = semaphores(backend.as_ref(), display.as_ref());
    syncs.push(SyncKind::HostFence);
    for (path, sync) in EXPORTED.into_iter().flat_map(|path| syncs.iter().map(move |sync| (path, *sync))) {
        let policy = Policy::default().with_force(path).with_sync(sync);
        let desc = SurfaceDesc::buffer(BYTES as u64);
        let mut link = Link::open(backend.clone(), display.clone(), desc, LinkOptions::new(policy)).unwrap();
        for value in 0..100_u32 {
            link.frame(|next| next.launch(kernel.as_ref(), &[Arg::U32(value)])).unwrap();
            assert!(link.read_back().unwrap() == value.to_ne_bytes().repeat(BYTES / 4), "{path}, {sync}: {value}");
        }
    }
}

/// Memory that the display exports, and a handle of it.
fn exported(display: &dyn Display, bytes: usize) -> (Staging, SharedHandle) {
    let staging = display.create_staging(StagingKind::Exported, bytes).unwrap();
    let handle = staging.export(HandleType::OPAQUE).unwrap();
    (staging, handle)
}

fn no_memory(bytes: u64) -> SharedHandle {
    // SAFETY: it is no memory, which the driver finds out.
    SharedHandle::Memory(unsafe { MemoryHandle::new(File::open("/dev/null").unwrap().into(), bytes, false) })
}

fn what_is_no_such_memory_is_refused(backend: &dyn ComputeBackend, display: &dyn Display) {
    let (_staging, handle) = exported(display, BYTES);
    let SharedHandle::Memory(memory) = &handle else { panic!("{handle:?}") };
    let open = |handle: &SharedHandle, bytes| backend.import_surface(handle, &SurfaceDesc::buffer(bytes)).err();
    let refused = |error: &Option<Error>| matches!(error, Some(Error::InvalidInput { .. }));
    let larger = open(&handle, memory.bytes() + 1);
    assert!(refused(&larger), "{larger:?}");
    assert!(open(&no_memory(BYTES as u64), BYTES as u64).is_some());
    let image = SurfaceDesc::image(8, 8, PixelFormat::Rgba8);
    assert!(matches!(backend.import_surface(&handle, &image).err(), Some(Error::Unsupported { .. })));
    // Neither is the other.
    assert!(refused(&backend.import_semaphore(&handle).err()));
    for kind in [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore] {
        // SAFETY: it is no semaphore, which the driver finds out.
        let none = unsafe { SemaphoreHandle::new(File::open("/dev/null").unwrap().into(), kind) };
        let none = SharedHandle::Semaphore(none);
        assert!(open(&none, 16).is_some());
        if !semaphores(backend, display).contains(&kind) {
            assert!(matches!(backend.import_semaphore(&none).err(), Some(Error::Unsupported { .. })));
        }
    }
    // What was refused leaves the rest as it was.
    let mut memory = backend.import_surface(&handle, &SurfaceDesc::buffer(BYTES as u64)).unwrap();
    memory.write(3, &[7; 9]).unwrap();
    let kernel = backend.build(&KernelSource::new("fill").wgsl(FILL)).unwrap();
    backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[Arg::U32(9)]).unwrap();
    let mut bytes = [0; BYTES];
    memory.read(0, &mut bytes).unwrap();
    assert!(bytes.chunks(4).all(|word| word == 9_u32.to_ne_bytes()));
}

/// A link that was told nothing offers them.
fn a_link_offers_both(backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>) {
    let desc = SurfaceDesc::buffer(BYTES as u64);
    let link = Link::open(backend.clone(), display.clone(), desc, LinkOptions::default()).unwrap();
    for id in EXPORTED {
        let state = link.report().paths.iter().find(|path| path.id == id).map(|path| &path.state);
        assert!(!matches!(state, None | Some(PathState::NotOffered { .. })), "{}", link.report());
    }
}

/// Runs a test that calls [`nothing_is_left`] in a process of its own.
pub fn nothing_is_left_in_a_child(test: &str) {
    // Mesa opens a file for each shader that it keeps, on a thread of its own.
    pass_in_child(test, None, &[("MESA_SHADER_CACHE_DISABLE", "true")], &["RAN ON"]);
}

/// Counts descriptors and memory of the process: nothing else may run beside it.
pub fn nothing_is_left(backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>) {
    const LARGE: usize = 4 << 20;
    let bytes = vec![5; LARGE];
    let round = || {
        for path in EXPORTED {
            let desc = SurfaceDesc::buffer(LARGE as u64);
            let options = LinkOptions::new(Policy::default().with_force(path));
            let mut link = Link::open(backend.clone(), display.clone(), desc, options).unwrap();
            link.frame(|next| next.write(&bytes)).unwrap();
        }
        let (staging, handle) = exported(display.as_ref(), LARGE);
        let mut memory = backend.import_surface(&handle, &SurfaceDesc::buffer(LARGE as u64)).unwrap();
        backend.import_surface(&no_memory(BYTES as u64), &SurfaceDesc::buffer(16)).err().unwrap();
        // The memory stays after its maker has gone.
        drop((staging, handle));
        memory.write(0, &bytes).unwrap();
        drop(memory);
        backend.finish().unwrap();
        display.finish().unwrap();
    };
    (0..3).for_each(|_| round());
    let before = Usage::here().unwrap();
    (0..20).for_each(|_| round());
    let after = Usage::here().unwrap();
    // Drivers open a few of their own now and then; one for each round is a leak.
    assert!(after.descriptors < before.descriptors + 10, "{} became {}", before.descriptors, after.descriptors);
    assert!(after.rss < before.rss + 20 * LARGE as u64, "{} became {} bytes", before.rss, after.rss);
}
