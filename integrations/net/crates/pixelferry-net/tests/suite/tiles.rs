//! Tiles of several workers make the picture that one process makes, byte for byte.

use crate::common::*;
use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::driver::devices::borrows::Holder;
use pixelferry::driver::{BackendDriver, CheckToken, ComputeCaps, HostBlock};
use pixelferry::{
    Arg, ComputeBackend, ComputeMemory, CpuBackend, CpuKernelExt, DeviceIdentity, ImageDesc, Kernel, KernelSource,
    LinkCore, PixelFormat, Region, RowOrder, Target,
};
use pixelferry_net::{Assembly, Codec, Mode, Net, NetOptions, Scene, Update};
use pixelferry_testing::{by_level, wait_until};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

fn frame(image: ImageDesc, seed: u32) -> Vec<u8> {
    // By a link of its own, as one process would.
    let mut one = link(image);
    one.frame(|next| next.write(&expected(&image, image.extent.full(), seed))).unwrap();
    bytes(&mut one)
}

#[test]
fn tiles_of_one_to_seven_workers_are_the_picture_of_one_process() {
    let (net, endpoint) = hub();
    for &count in by_level(&[1, 2, 5][..], &[1, 2, 3, 4, 5, 6, 7], &[1, 2, 3, 4, 5, 6, 7]) {
        let crew = Crew::start(count, &endpoint, "whole", if count % 2 == 0 { Codec::Lz4 } else { Codec::None });
        for (at, format) in PixelFormat::ALL.into_iter().enumerate() {
            // Odd sizes, tiles that are cut off, and both row orders.
            let order = if at % 2 == 0 { RowOrder::TopDown } else { RowOrder::BottomUp };
            let image = ImageDesc::new(61 + at as u32, 37 + count as u32, format).with_row_order(order);
            let scene = Scene::new("whole", image).with_tile(13, 11).with_balance(count > 4);
            let mut assembly = net.assemble(scene, NEVER).unwrap();
            let mut link = link(image);
            wait_for_workers(&assembly, count);
            for seed in 1..=2 {
                let number = assembly.request(&u32::to_le_bytes(seed)).unwrap();
                let shown = show(&mut assembly, &mut link);
                assert_eq!((shown.frame(), shown.is_whole()), (number, true));
                assert!(bytes(&mut link) == frame(image, seed), "{count} workers, {format}, frame {seed}");
            }
            assert_eq!(assembly.refused(), 0);
        }
        let done = crew.stop();
        assert!(done.iter().all(|&tiles| tiles > 0), "{count} workers computed {done:?}");
    }
}

#[test]
fn progressive_tiles_are_each_of_one_frame_and_never_go_back() {
    let (net, endpoint) = hub();
    let crew = Crew::start(2, &endpoint, "steps", Codec::None);
    let image = ImageDesc::new(70, 50, PixelFormat::Rgba8);
    let scene = Scene::new("steps", image).with_tile(16, 16).with_mode(Mode::Progressive);
    let mut assembly = net.assemble(scene, NEVER).unwrap();
    wait_for_workers(&assembly, 2);
    let mut link = link(image);
    // By its place, the frame that each tile on show is of.
    let mut on_show = BTreeMap::new();
    let mut look = |assembly: &mut Assembly, link: &mut LinkCore| {
        let Update::Tiles(tiles) = assembly.show(link, LOOK).unwrap() else { return on_show.clone() };
        for tile in tiles.tiles() {
            let (Region { x, y, .. }, frame) = (tile.region(), tile.header().frame);
            assert!(on_show.insert((x, y), frame).is_none_or(|before| before < frame), "a tile goes back");
        }
        on_show.clone()
    };
    let mut newest = 0;
    for seed in 1..=40u32 {
        newest = assembly.request(&seed.to_le_bytes()).unwrap();
        assert_eq!(newest, u64::from(seed));
        look(&mut assembly, &mut link);
    }
    wait_until("all tiles of the newest frame", || {
        let on_show = look(&mut assembly, &mut link);
        on_show.len() == 20 && on_show.values().all(|&frame| frame == newest)
    });
    assert!(bytes(&mut link) == frame(image, newest as u32));
    crew.stop();
}

#[test]
fn kernels_write_tiles_in_shared_memory() {
    let (net, endpoint) = hub();
    let image = ImageDesc::new(240, 120, PixelFormat::Rgba8);
    let mut assembly = net.assemble(Scene::new("kernels", image).with_tile(128, 64), NEVER).unwrap();
    let other = Net::join(NetOptions::through(&endpoint)).unwrap();
    let tile = other.tile("kernels", None).unwrap();
    wait_for_workers(&assembly, 1);
    assembly.request(&[]).unwrap();
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let source = KernelSource::new("place").cpu_image(|out, args| {
        let (left, top) = (args.u32(0)?, args.u32(1)?);
        out.par_pixels(|x, y| [(x + left) as u8, (y + top) as u8, 7, 255])
    });
    let kernel = backend.build(&source).unwrap();
    for _ in 0..4 {
        let mut job = tile.next(NEVER).unwrap().unwrap();
        assert!(job.is_shared());
        let Region { x, y, .. } = job.region();
        job.launch(backend.as_ref(), kernel.as_ref(), &[Arg::U32(x), Arg::U32(y)]).unwrap();
        tile.publish(job).unwrap();
    }
    let mut link = link(image);
    let tiles = show(&mut assembly, &mut link);
    assert!(tiles.tiles().iter().all(|tile| tile.is_shared()), "the pixels went through a copy");
    let shown = bytes(&mut link);
    for (at, pixel) in shown.chunks_exact(4).enumerate() {
        assert_eq!(pixel, [(at % 240) as u8, (at / 240) as u8, 7, 255]);
    }
}

#[test]
fn workers_with_places_compute_what_lies_inside_them() {
    let (net, endpoint) = hub();
    let image = ImageDesc::new(32, 32, PixelFormat::R8);
    let mut assembly =
        net.assemble(Scene::new("places", image).with_tile(16, 16), std::time::Duration::from_millis(1500)).unwrap();
    let other = Net::join(NetOptions::through(&endpoint)).unwrap();
    let upper = other.tile("places", Some(Region::new(0, 0, 32, 16))).unwrap();
    wait_for_workers(&assembly, 1);
    let frame = assembly.request(&1u32.to_le_bytes()).unwrap();
    let mut places = BTreeSet::new();
    wait_until("the tiles inside", || {
        while let Some(mut job) = upper.next(LOOK * 4).unwrap() {
            compute(&mut job);
            places.insert((job.region().x, job.region().y));
            upper.publish(job).unwrap();
        }
        places.len() >= 2
    });
    assert_eq!(places, BTreeSet::from([(0, 0), (16, 0)]));
    // The deadline says which tiles nobody computes, and what is shown stays.
    let mut late = None;
    wait_until("the deadline", || match assembly.update(LOOK).unwrap() {
        Update::Late(found) => {
            late = Some(found);
            true
        }
        Update::Tiles(_) => panic!("half of a frame is none"),
        _ => false,
    });
    let late = late.unwrap();
    assert_eq!((late.frame, late.workers), (frame, 1));
    assert_eq!(late.missing, [Region::new(0, 16, 16, 16), Region::new(16, 16, 16, 16)]);
    // Another worker comes, and the frame is completed without being asked for again.
    let lower = other.tile("places", None).unwrap();
    wait_until("both see both", || (upper.workers(), lower.workers(), assembly.workers()) == (2, 2, 2));
    let mut link = link(image);
    wait_until("the other half", || {
        if let Some(mut job) = lower.next(LOOK).unwrap() {
            compute(&mut job);
            lower.publish(job).unwrap();
        }
        // The display asks for what is missing as long as it is looked at.
        matches!(assembly.show(&mut link, LOOK).unwrap(), Update::Tiles(tiles) if tiles.frame() == frame)
    });
    assert!(bytes(&mut link) == expected(&image, image.extent.full(), 1));
}

thread_local! {
    static KEPT: RefCell<Option<HostBlock>> = const { RefCell::new(None) };
}

/// Keeps the block of host memory that it is lent, on the thread that lends it.
struct Keeper(Arc<dyn ComputeBackend>);

// SAFETY: all calls are handed on unchanged; the clone of the block that it keeps is used by its guards alone.
unsafe impl BackendDriver for Keeper {
    fn device(&self) -> &DeviceIdentity {
        self.0.device()
    }

    fn caps(&self) -> &ComputeCaps {
        self.0.caps()
    }

    fn build(&self, source: &KernelSource) -> pixelferry::Result<Arc<dyn Kernel>> {
        self.0.build(source)
    }

    fn allocate(&self, bytes: usize) -> pixelferry::Result<Box<dyn ComputeMemory>> {
        self.0.allocate(bytes)
    }

    fn import_host(&self, block: &HostBlock) -> pixelferry::Result<Box<dyn ComputeMemory>> {
        KEPT.replace(Some(block.clone()));
        self.0.import_host(block)
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> pixelferry::Result<()> {
        self.0.launch(kernel, target, args)
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> pixelferry::Result<()> {
        self.0.write_pattern(target, pattern)
    }

    fn copy(
        &self,
        _: CheckToken,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> pixelferry::Result<()> {
        self.0.copy(from, to, range)
    }

    fn finish(&self) -> pixelferry::Result<()> {
        self.0.finish()
    }
}

/// Memory that a backend keeps is the backend's for as long as it keeps it: nobody else gets those bytes.
#[test]
fn memory_that_a_backend_keeps_is_never_given_to_others() {
    for shared_memory in [false, true] {
        let mut options = NetOptions::hub("tcp/127.0.0.1:0");
        options.shared_memory = shared_memory;
        let net = Net::join(options).unwrap();
        let image = ImageDesc::new(96, 96, PixelFormat::Rgba8);
        let mut assembly = net.assemble(Scene::new("kept", image).with_tile(96, 96), NEVER).unwrap();
        let tile = net.tile("kept", None).unwrap();
        let plain: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
        let keeper: Arc<dyn ComputeBackend> = Arc::new(Keeper(Arc::clone(&plain)));
        let source = KernelSource::new("flat").cpu_image(|out, _| out.par_pixels(|_, _| [1u8, 2, 3, 4]));
        let kernel = keeper.build(&source).unwrap();
        assembly.request(&1u32.to_le_bytes()).unwrap();
        let mut job = tile.next(NEVER).unwrap().unwrap();
        assert_eq!(job.is_shared(), shared_memory);
        let error = job.launch(keeper.as_ref(), kernel.as_ref(), &[]).unwrap_err().to_string();
        assert!(error.contains("keeps host memory"), "{error}");
        let len = job.pixels().len();
        // The job goes on with memory of its own.
        compute(&mut job);
        drop(job);
        // The allocator would now return the memory that the job had, were it free.
        let others: Vec<Vec<u8>> = (0..64).map(|_| vec![0x11; len + 128]).collect();
        let kept = KEPT.take().unwrap();
        kept.write(0..len, Holder::Guard).unwrap().fill(0xee);
        let changed = others.iter().flatten().filter(|&&byte| byte != 0x11).count();
        assert_eq!(changed, 0, "bytes of others are changed");
        // Kernels in place still find the memory where it was, once nobody keeps it.
        drop(kept);
        let mut job = None;
        wait_until("the tile again", || {
            let _ = assembly.update(LOOK).unwrap();
            job = tile.next(LOOK).unwrap();
            job.is_some()
        });
        let mut job = job.unwrap();
        job.launch(plain.as_ref(), kernel.as_ref(), &[]).unwrap();
        assert!(job.pixels().chunks_exact(4).all(|pixel| pixel == [1, 2, 3, 4]));
    }
}
