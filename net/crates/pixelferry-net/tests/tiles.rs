//! Tiles of several workers make the picture that one process makes, byte for byte.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod common;

use common::*;
use pixelferry::{
    Arg, ComputeBackend, CpuBackend, CpuKernelExt, ImageDesc, KernelSource, PixelFormat, Region, RowOrder,
};
use pixelferry_net::{Codec, Mode, Net, Options, Scene, Update};
use pixelferry_testing::{Patience, wait_until};
use std::collections::BTreeSet;

fn frame(image: ImageDesc, seed: u32) -> Vec<u8> {
    // By a link of its own, as one process would.
    let mut one = link(image);
    one.frame(|next| next.write(&expected(&image, image.extent.full(), seed))).unwrap();
    bytes(&mut one)
}

#[test]
fn tiles_of_one_to_seven_workers_are_the_picture_of_one_process() {
    let (net, endpoint) = hub();
    for count in 1..=7 {
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
    let mut on_show = std::collections::BTreeMap::new();
    let mut newest = 0;
    let mut patience = Patience::new();
    for seed in 1..=40u32 {
        newest = assembly.request(&seed.to_le_bytes()).unwrap();
        assert_eq!(newest, u64::from(seed));
        let mut look = |assembly: &mut pixelferry_net::Assembly| {
            if let Update::Tiles(tiles) = assembly.show(&mut link, LOOK).unwrap() {
                for tile in tiles.tiles() {
                    let (region, frame) = (tile.region(), tile.header().frame);
                    let before = on_show.insert((region.x, region.y), (frame, region));
                    assert!(before.is_none_or(|(before, _)| before < frame));
                }
            }
        };
        look(&mut assembly);
    }
    while on_show.len() < 20 || on_show.values().any(|(frame, _)| *frame != newest) {
        assert!(!patience.is_over());
        if let Update::Tiles(tiles) = assembly.show(&mut link, LOOK).unwrap() {
            for tile in tiles.tiles() {
                on_show.insert((tile.region().x, tile.region().y), (tile.header().frame, tile.region()));
            }
        }
    }
    assert!(bytes(&mut link) == frame(image, newest as u32));
    crew.stop();
}

#[test]
fn kernels_write_tiles_in_shared_memory() {
    let (net, endpoint) = hub();
    let image = ImageDesc::new(100, 60, PixelFormat::Rgba8);
    let mut assembly = net.assemble(Scene::new("kernels", image).with_tile(64, 32), NEVER).unwrap();
    let other = Net::join(Options::through(&endpoint)).unwrap();
    let tile = other.tile("kernels", None).unwrap();
    wait_for_workers(&assembly, 1);
    assembly.request(&[]).unwrap();
    let backend = CpuBackend::new().unwrap();
    let source = KernelSource::new("place").cpu_image(|out, args| {
        let (left, top) = (args.u32(0)?, args.u32(1)?);
        out.par_pixels(|x, y| [(x + left) as u8, (y + top) as u8, 7, 255])
    });
    let kernel = backend.build(&source).unwrap();
    for _ in 0..4 {
        let mut job = tile.next(NEVER).unwrap().unwrap();
        assert!(job.is_shared());
        let Region { x, y, .. } = job.region();
        job.launch(&backend, kernel.as_ref(), &[Arg::U32(x), Arg::U32(y)]).unwrap();
        tile.publish(job).unwrap();
    }
    let mut link = link(image);
    let tiles = show(&mut assembly, &mut link);
    assert!(tiles.tiles().iter().all(|tile| tile.is_shared()), "the pixels went through a copy");
    let shown = bytes(&mut link);
    for (at, pixel) in shown.chunks_exact(4).enumerate() {
        assert_eq!(pixel, [(at % 100) as u8, (at / 100) as u8, 7, 255]);
    }
}

#[test]
fn workers_with_places_compute_what_lies_inside_them() {
    let (net, endpoint) = hub();
    let image = ImageDesc::new(32, 32, PixelFormat::R8);
    let mut assembly =
        net.assemble(Scene::new("places", image).with_tile(16, 16), std::time::Duration::from_millis(1500)).unwrap();
    let other = Net::join(Options::through(&endpoint)).unwrap();
    let upper = other.tile("places", Some(Region::new(0, 0, 32, 16))).unwrap();
    wait_for_workers(&assembly, 1);
    let frame = assembly.request(&1u32.to_le_bytes()).unwrap();
    let mut places = BTreeSet::new();
    while let Some(mut job) = upper.next(LOOK * 4).unwrap() {
        compute(&mut job);
        places.insert((job.region().x, job.region().y));
        upper.publish(job).unwrap();
    }
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
