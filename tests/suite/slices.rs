//! Host memory that several backends and displays have: no two slices of one byte of which one is written, and no command on
//! the bytes of a slice.

use interop_core::describe::panics;
use pixelferry::api::opencl::cl::{Buffer, Context, Device, HostBuffer, MemFlags, Queue, UserEvent};
use pixelferry::api::opencl::{OpenClBackend, OpenClDevice};
use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::driver::devices::borrows::Holder;
use pixelferry::driver::{HandleType, HostBlock, MemoryShape, Staging, StagingKind, SurfacePart};
use pixelferry::{
    BufferView, ComputeBackend, ComputeMemory, CpuBackend, Display, Error, Extent, ImageView, PixelFormat, Result,
    Support, SurfaceDesc, Target, View,
};
use pixelferry_tests::{Need, displays, given, need, pass_in_child, wait_until};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const BYTES: usize = 16 << 10;
const PATTERN: Pattern = Pattern { and_mask: u32::MAX, or_mask: 0, nonce: 5 };

/// One who has the block.
enum BlockOwner {
    Memory(Arc<dyn ComputeBackend>, Box<dyn ComputeMemory>),
    Staging(Staging),
}

impl BlockOwner {
    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        match self {
            Self::Memory(_, memory) => memory.map_write(0..BYTES, f),
            Self::Staging(staging) => staging.map_write(f),
        }
    }

    /// Lets somebody else write, in every way that it has; gives the names of those that were not refused.
    fn intrude(&mut self) -> Vec<&'static str> {
        let mut done = vec![(
            "fill",
            self.map_write(&mut |bytes| {
                bytes.fill(2);
                Ok(())
            }),
        )];
        if let Self::Memory(backend, memory) = self {
            done.push(("write", memory.write(0, &[3; BYTES])));
            done.push(("pattern", backend.write_pattern(Target::buffer(memory.as_mut()), &PATTERN)));
            done.push(("end of the turn", memory.release().and(backend.finish()).and(Ok(()))));
        }
        // A turn without commands in it may end; what counts is that it changes nothing.
        let taken = done.iter().filter(|(name, result)| result.is_ok() && *name != "end of the turn");
        let taken = taken.map(|(name, _)| *name).collect();
        for (name, result) in done {
            assert!(!matches!(&result, Err(e) if !is_held(e)), "{name}: {result:?}");
        }
        taken
    }
}

/// Refused because somebody has the bytes.
fn is_held(error: &Error) -> bool {
    matches!(error, Error::InvalidInput { problem, .. } if problem.contains("these bytes"))
}

fn held<T>(what: &str, result: Result<T>) {
    match result {
        Err(error) if is_held(&error) => {}
        Err(error) => panic!("{what}: {error}"),
        Ok(_) => panic!("{what}: was done beside a slice of the same bytes"),
    }
}

/// The block as memory of the backend's. A device with memory of its own says that it takes none of the host's.
fn imports(backend: &Arc<dyn ComputeBackend>, block: &HostBlock) -> Option<BlockOwner> {
    let listed = backend.caps().can_import(HandleType::HostPointer, MemoryShape::Linear);
    let memory = backend.import_host(block);
    if let Support::No(reason) = listed {
        println!("no host memory for {}: {reason}", backend.device());
        assert!(matches!(memory.err(), Some(Error::Unsupported { .. })), "refused by its list, and taken");
        return None;
    }
    Some(BlockOwner::Memory(Arc::clone(backend), memory.unwrap()))
}

/// All who can have a block, for each kind of block.
fn rigs(backends: &[Arc<dyn ComputeBackend>]) -> Vec<Vec<(String, BlockOwner)>> {
    let of_backends = |block: &HostBlock| {
        let twice = backends.iter().chain(backends);
        twice.filter_map(|b| Some((format!("import by {}", b.device().name), imports(b, block)?))).collect::<Vec<_>>()
    };
    let (displays, pages) = (displays().collect::<Vec<_>>(), HostBlock::allocate(BYTES).unwrap());
    let (mut rigs, mut neutral) = (Vec::new(), of_backends(&pages));
    for display in displays.iter().map(|(_, d)| d.display()) {
        let name = display.device().name.clone();
        if display.caps().can_import(HandleType::HostPointer, MemoryShape::Linear).is_yes() {
            let staging = display.create_staging(StagingKind::Imported(pages.clone()), BYTES).unwrap();
            neutral.push((format!("imported staging of {name}"), BlockOwner::Staging(staging)));
        }
        let staging = display.create_staging(StagingKind::Persistent, BYTES).unwrap();
        let mut mapped = of_backends(&staging.host_block().unwrap());
        mapped.push((format!("persistent staging of {name}"), BlockOwner::Staging(staging)));
        rigs.push(mapped);
    }
    rigs.push(neutral);
    // The displays' contexts are kept by what they made.
    rigs
}

fn none_beside_another(backends: &[Arc<dyn ComputeBackend>]) {
    let mut pairs = 0;
    for mut rig in rigs(backends) {
        for at in 0..rig.len() {
            let (name, mut outer) = rig.swap_remove(at);
            for (other, inner) in &mut rig {
                pairs += 1;
                let pair = format!("{other} inside {name}");
                let mut taken = Vec::new();
                outer
                    .map_write(&mut |bytes| {
                        bytes.fill(1);
                        taken = inner.intrude();
                        assert!(black_box(&*bytes).iter().all(|b| *b == 1), "{pair}: bytes changed under a `&mut`");
                        Ok(())
                    })
                    .unwrap();
                assert_eq!(taken, Vec::<&str>::new(), "{pair}: was taken");
                if let BlockOwner::Memory(_, outer) = &mut outer {
                    outer
                        .map_read(0..BYTES, &mut |bytes| {
                            let before = bytes.to_vec();
                            taken = inner.intrude();
                            assert!(black_box(bytes) == before, "{pair}: bytes changed under a `&`");
                            Ok(())
                        })
                        .unwrap();
                    assert_eq!(taken, Vec::<&str>::new(), "{pair}: was taken beside a `&`");
                }
                // A panic lets go, and so does an end.
                assert!(panics::catch(|| outer.map_write(&mut |_| panic!("on purpose"))).is_err());
                assert_eq!(inner.intrude(), expected(inner), "{pair}: was refused afterwards");
            }
            rig.push((name, outer));
            let last = rig.len() - 1;
            rig.swap(at, last);
        }
    }
    println!("{pairs} PAIRS");
    assert!(pairs > 0);
}

/// Takes the bytes while nobody holds them.
fn expected(way: &BlockOwner) -> &'static [&'static str] {
    match way {
        BlockOwner::Memory(..) => &["fill", "write", "pattern"],
        BlockOwner::Staging(_) => &["fill"],
    }
}

fn threads() -> Arc<dyn ComputeBackend> {
    Arc::new(CpuBackend::new().unwrap())
}

#[test]
fn none_beside_another_on_threads() {
    none_beside_another(&[threads(), threads()]);
}

#[test]
fn parts_that_do_not_overlap_are_used_beside_each_other() {
    let (backend, block) = (threads(), HostBlock::allocate(BYTES).unwrap());
    let half = |range| backend.import_host(&block.part(range).unwrap()).unwrap();
    let (mut left, mut right, mut middle) = (half(0..8192), half(8192..BYTES), half(8191..8193));
    left.map_write(0..8192, &mut |_| {
        held("the middle", middle.write(0, &[1]));
        right.write(0, &[7; 8192])?;
        right.map_read(0..1, &mut |_| middle.read(1, &mut [0]))
    })
    .unwrap();
}

/// Two backends on the driver, each with a context of its own, and threads.
fn of_opencl(check: impl FnOnce(&[Arc<dyn ComputeBackend>], &OpenClDevice)) {
    let Some(backend) = need(given(), OpenClBackend::open_best()) else { return };
    let device = backend.opened_device().clone();
    println!("RAN ON {}", backend.device());
    let again = OpenClBackend::open(&device).unwrap();
    check(&[Arc::new(backend), Arc::new(again), threads()], &device);
}

#[test]
#[ignore = "run by the tests below, in a process that sees one OpenCL driver"]
fn child() {
    of_opencl(|backends, device| {
        none_beside_another(backends);
        maps(backends, device);
        waits(backends, device);
        host_closures(backends, device);
    });
}

/// One block as two buffers in contexts of their own, with a queue each.
fn two_buffers(device: &OpenClDevice, block: &HostBlock) -> [(HostBuffer, Queue); 2] {
    [(); 2].map(|()| {
        let context = Context::new(&[Device::try_from(device).unwrap()]).unwrap();
        (HostBuffer::new(&context, MemFlags::READ_WRITE, block).unwrap(), Queue::new(&context).unwrap())
    })
}

fn maps(backends: &[Arc<dyn ComputeBackend>], device: &OpenClDevice) {
    let block = HostBlock::allocate(BYTES).unwrap();
    let [(one, first), (two, second)] = two_buffers(device, &block);
    let mut import = backends[2].import_host(&block).unwrap();
    // Raced from two threads, a map has its bytes alone.
    let race = |buffer: Buffer, queue: Queue, value: u8| {
        let (mut won, mut refused) = (0, 0);
        while won < 100 {
            match queue.map_write::<u8>(&buffer, 0..256, &[]) {
                Ok(mut map) => {
                    map.fill(value);
                    std::thread::yield_now();
                    assert!(black_box(&*map).iter().all(|b| *b == value), "two `&mut` at once");
                    won += 1;
                }
                Err(error) => {
                    assert!(is_held(&error), "{error}");
                    refused += 1;
                    std::thread::yield_now();
                }
            }
        }
        refused
    };
    let sides = [(Buffer::clone(&one), first.clone(), 1), (Buffer::clone(&two), second.clone(), 2)];
    std::thread::scope(|scope| {
        let threads = sides.map(|(buffer, queue, value)| scope.spawn(move || race(buffer, queue, value)));
        println!("refused: {:?}", threads.map(|thread| thread.join().unwrap()));
    });

    let map = first.map_write::<u32>(&one, 0..64, &[]).unwrap();
    held("another map", second.map_read::<u32>(&two, 0..64, &[]));
    held("a command", second.fill(&two, 1_u8, 60..68, &[]));
    held("a slice of the CPU", import.write(0, &[1]));
    second.fill(&two, 1_u8, 64..68, &[]).unwrap().wait().unwrap();
    drop(map);
    let (a, b) = (first.map_read::<u8>(&one, 0..64, &[]).unwrap(), second.map_read::<u8>(&two, 0..64, &[]).unwrap());
    import.read(0, &mut [0; 64]).unwrap();
    held("a write beside readers", import.write(0, &[1]));
    drop((a, b));
    import.write(0, &[1]).unwrap();
    // A map that fails lets go.
    let failed = UserEvent::new(first.context()).unwrap();
    let wait = [failed.event().clone()];
    failed.fail(-5).unwrap();
    assert!(first.map_write::<u8>(&one, 0..64, &wait).is_err());
    import.write(0, &[1]).unwrap();
    // Leaked, it maps forever, and the block is never freed.
    std::mem::forget(first.map_read::<u8>(&one, 0..1, &[]).unwrap());
    held("a write beside a leaked map", import.write(0, &[1]));
    import.write(1, &[1]).unwrap();
}

fn waits(backends: &[Arc<dyn ComputeBackend>], device: &OpenClDevice) {
    let displays: Vec<_> = displays().collect();
    let mut ways = Vec::new();
    for display in displays.iter().map(|(_, d)| d.display()) {
        let staging = display.create_staging(StagingKind::Persistent, BYTES).unwrap();
        ways.push((staging.host_block().unwrap(), BlockOwner::Staging(staging)));
    }
    for backend in backends {
        let block = HostBlock::allocate(BYTES).unwrap();
        ways.extend(imports(backend, &block).map(|way| (block, way)));
    }
    for (block, mut way) in ways {
        let [(one, queue), _] = two_buffers(device, &block);
        let user = UserEvent::new(queue.context()).unwrap();
        let pending = queue.fill(&one, 9_u8, 0..BYTES, &[user.event().clone()]).unwrap();
        let told = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                told.store(true, Ordering::SeqCst);
                user.complete().unwrap();
            });
            way.map_write(&mut |bytes| {
                assert!(told.load(Ordering::SeqCst), "a slice beside a command that is on its way");
                bytes.fill(4);
                Ok(())
            })
            .unwrap();
        });
        pending.wait().unwrap();
    }
}

fn host_closures(backends: &[Arc<dyn ComputeBackend>], device: &OpenClDevice) {
    let block = HostBlock::allocate(BYTES).unwrap();
    let [(one, first), (two, second)] = two_buffers(device, &block);
    let user = UserEvent::new(first.context()).unwrap();
    let seven = |bytes: Vec<&mut [u8]>| bytes.into_iter().for_each(|bytes| bytes.fill(7));
    let closure = match first.native(&[&one], seven, &[user.event().clone()]) {
        Err(Error::Unsupported { reason, .. }) => return println!("no host closures: {reason}"),
        other => other.unwrap(),
    };
    held("another buffer's command", second.fill(&two, 1_u8, 0..4, &[]));
    held("another buffer's closure", second.native(&[&two], seven, &[]));
    // Its own buffer's commands come after it.
    let after = first.fill(&one, 8_u8, 0..4, &[]).unwrap();
    user.complete().unwrap();
    let mut import = backends[2].import_host(&block).unwrap();
    let mut seen = [0; 8];
    import.read(0, &mut seen).unwrap();
    assert_eq!(seen, [8, 8, 8, 8, 7, 7, 7, 7]);
    closure.wait().and(after.wait()).unwrap();
    second.fill(&two, 1_u8, 0..4, &[]).unwrap().wait().unwrap();
    // One that panics, one that never runs, and one that is refused let go.
    assert!(first.native(&[&one], |_| panic!("on purpose"), &[]).unwrap().wait().is_err());
    second.fill(&two, 1_u8, 0..4, &[]).unwrap().wait().unwrap();
    let user = UserEvent::new(first.context()).unwrap();
    let never = first.native(&[&one], seven, &[user.event().clone()]).unwrap();
    held("another buffer's command", second.fill(&two, 1_u8, 0..4, &[]));
    user.fail(-5).unwrap();
    assert!(never.wait().is_err());
    wait_until("what holds the bytes", || second.fill(&two, 1_u8, 0..4, &[]).is_ok());
    let overlapping = first.native(&[&one, &one], seven, &[]).map(drop).unwrap_err();
    assert!(overlapping.to_string().contains("overlap"), "{overlapping}");
    import.write(0, &[1]).unwrap();
}

fn on(driver: Need) {
    pass_in_child("slices::child", Some(driver), &[], &["RAN ON"]);
}

pixelferry_tests::tests! {
    on_pocl => on(Need::Pocl);
    on_rusticl => on(Need::Rusticl);
}

/// Lets `display` write a block that others have, while they have a slice of it and while nobody waited.
fn a_display_writes(display: &dyn Display, kind: StagingKind) {
    let (name, len) = (format!("{kind:?} of {}", display.device().name), 64 * 64 * 4);
    let image = View::Image(ImageView::packed(Extent::new(64, 64), PixelFormat::Rgba8, 1, 0, false).unwrap());
    let views = [
        (SurfaceDesc::image(64, 64, PixelFormat::Rgba8), image),
        (SurfaceDesc::buffer(len as u64), View::Buffer(BufferView { offset: 0, len })),
    ];
    let mut staging = display.create_staging(kind, len).unwrap();
    let block = staging.host_block().unwrap();
    let guard = || block.write(0..len, Holder::Guard);
    for (desc, view) in views {
        let mut surface = display.create_surface(&desc).unwrap();
        let all = SurfacePart::full(&desc);
        surface.upload(&all, &vec![7; len], &view).unwrap();
        guard().unwrap().fill(1);

        let seen = block.read(0..len, Holder::Guard).unwrap();
        held(&name, surface.download(&all, &mut staging, &view));
        staging.wait().unwrap();
        display.finish().unwrap();
        assert!(black_box(&*seen).iter().all(|byte| *byte == 1), "{name}: bytes changed under a `&`");
        drop(seen);

        surface.download(&all, &mut staging, &view).unwrap();
        // The host's own copy is done by then.
        if let Ok(mut bytes) = guard() {
            let before = bytes.to_vec();
            display.finish().unwrap();
            assert!(black_box(&*bytes) == before, "{name}: bytes changed under a `&mut`");
            bytes.fill(7);
        }
        // A second one is in order behind the first.
        surface.download(&all, &mut staging, &view).unwrap();
        staging.wait().unwrap();
        assert!(guard().unwrap().iter().all(|byte| *byte == 7), "{name}: was not written");
    }
}

#[test]
fn a_display_writes_no_bytes_of_a_slice() {
    for (choice, headless) in displays() {
        let display = headless.display();
        a_display_writes(display.as_ref(), StagingKind::Persistent);
        if display.caps().can_import(HandleType::HostPointer, MemoryShape::Linear).is_yes() {
            let pages = HostBlock::allocate(BYTES).unwrap();
            a_display_writes(display.as_ref(), StagingKind::Imported(pages.clone()));
            // A block that is dropped before anybody waited is the host's again once the display has written it.
            let desc = SurfaceDesc::buffer(BYTES as u64);
            let mut surface = display.create_surface(&desc).unwrap();
            let mut staging = display.create_staging(StagingKind::Imported(pages.clone()), BYTES).unwrap();
            surface
                .download(&SurfacePart::full(&desc), &mut staging, &View::Buffer(BufferView { offset: 0, len: BYTES }))
                .unwrap();
            drop(staging);
            let bytes = pages.read(0..BYTES, Holder::Guard).unwrap();
            assert!(bytes.iter().all(|byte| *byte == 0), "{choice:?}: was dropped before it was written");
        }
        println!("WRITTEN BY {}", display.device());
    }
}
