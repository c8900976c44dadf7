//! Properties of whole links: any size, region and order of operations shows exactly what was written.

use interop_core::conformance::{same_bytes, tight};
use pixelferry::{
    ComputeBackend, CpuBackend, Display, DisplayChoice, ImageAccess, ImageDesc, Link, LinkOptions, MemoryDisplay,
    PathId, PixelFormat, Policy, Region, RowOrder, SurfaceDesc, open_headless,
};
use pixelferry_tests::{Need, by_level, few, need, offered};
use proptest::prelude::*;
use std::rc::Rc;
use std::sync::Arc;

#[derive(Debug, Clone)]
enum Step {
    Full(u8),
    Region(Region, u8),
    GiveUp,
    Resize(u32, u32),
}

fn extent() -> impl Strategy<Value = (u32, u32)> {
    prop_oneof![(1..=3_u32, 1..=3_u32), (1..=70_u32, 1..=40_u32), Just((129, 1)), Just((1, 65))]
}

fn step() -> impl Strategy<Value = Step> {
    let region =
        (any::<u32>(), any::<u32>(), 0..90_u32, 0..60_u32).prop_map(|(x, y, w, h)| Region::new(x % 80, y % 50, w, h));
    prop_oneof![
        any::<u8>().prop_map(Step::Full),
        (region, any::<u8>()).prop_map(|(r, seed)| Step::Region(r, seed)),
        Just(Step::GiveUp),
        extent().prop_map(|(w, h)| Step::Resize(w, h)),
    ]
}

fn image(width: u32, height: u32, format: PixelFormat, order: RowOrder) -> ImageDesc {
    ImageDesc::new(width, height, format).with_access(ImageAccess::Any).with_row_order(order)
}

/// Finite floats in every format, whatever the seed.
fn pixels(desc: &SurfaceDesc, seed: u8) -> Vec<u8> {
    let view = tight(desc).unwrap();
    let pattern = interop_core::describe::pattern::Pattern::for_view(&view, u32::from(seed) + 1000);
    let mut bytes = vec![0; view.payload_len()];
    pattern.write(&view, &mut bytes);
    bytes
}

fn walk(display: &Rc<dyn Display>, path: PathId, format: PixelFormat, order: RowOrder, steps: &[Step]) {
    let mut desc = image(20, 10, format, order);
    let options = LinkOptions::new(Policy::default().with_force(path));
    let mut link = Link::open(threads(), Rc::clone(display), SurfaceDesc::Image(desc), options).unwrap();
    // Expected picture, and whether the newest size has a frame yet.
    let mut seen: Option<Vec<u8>> = None;
    let mut fresh = false;
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Full(seed) => {
                let bytes = pixels(&SurfaceDesc::Image(desc), *seed);
                let mut frame = link.acquire().unwrap();
                frame.write(&bytes).unwrap();
                frame.finish().unwrap();
                (seen, fresh) = (Some(bytes), true);
            }
            Step::Region(region, seed) => {
                if region.check_inside(desc.extent).is_err() {
                    assert!(link.acquire_region(*region).is_err(), "{region} of {} was taken", desc.extent);
                    continue;
                }
                let part = pixels(&SurfaceDesc::image(region.width, region.height, format), *seed);
                let mut frame = link.acquire_region(*region).unwrap();
                frame.write(&part).unwrap();
                frame.finish().unwrap();
                let bpp = format.bytes_per_pixel();
                let width = desc.extent.width as usize;
                let mut whole = match seen.take() {
                    Some(whole) if fresh => whole,
                    _ => vec![0; width * desc.extent.height as usize * bpp],
                };
                for (i, row) in part.chunks(region.width as usize * bpp).enumerate() {
                    let at = ((region.y as usize + i) * width + region.x as usize) * bpp;
                    whole[at..at + row.len()].copy_from_slice(row);
                }
                (seen, fresh) = (Some(whole), true);
            }
            Step::GiveUp => {
                let mut frame = link.acquire().unwrap();
                frame.write(&pixels(&SurfaceDesc::Image(desc), 77)).unwrap();
                drop(frame);
            }
            Step::Resize(width, height) => {
                let next = image(*width, *height, format, order);
                fresh &= next == desc;
                desc = next;
                link.resize(SurfaceDesc::Image(desc)).unwrap();
            }
        }
        match &seen {
            None => assert!(link.read_back().is_err()),
            Some(bytes) => {
                let shown = link.read_back().unwrap();
                if let Err(e) = same_bytes("shown", bytes, &shown) {
                    let again = same_bytes("shown", bytes, &link.read_back().unwrap());
                    panic!("{path}, {desc:?}, step {at} of {steps:?}: {e:?}; read once more: {again:?}");
                }
            }
        }
    }
}

fn threads() -> Arc<dyn ComputeBackend> {
    Arc::new(CpuBackend::new().unwrap())
}

/// The paths between threads and `display`.
fn paths(display: &Rc<dyn Display>) -> Vec<PathId> {
    offered(&threads(), display, &SurfaceDesc::Image(image(20, 10, PixelFormat::Rgba8, RowOrder::TopDown)))
}

fn any_walk(display: &Rc<dyn Display>, cases: u32) {
    let path = proptest::sample::select(paths(display));
    let format = proptest::sample::select(PixelFormat::ALL.to_vec());
    let order = prop_oneof![Just(RowOrder::TopDown), Just(RowOrder::BottomUp)];
    let steps = proptest::collection::vec(step(), 1..12);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    proptest::test_runner::TestRunner::new(config)
        .run(&(path, format, order, steps), |(path, format, order, steps)| {
            walk(display, path, format, order, &steps);
            Ok(())
        })
        .unwrap();
}

#[test]
fn any_walk_in_memory() {
    any_walk(&(MemoryDisplay::new() as Rc<dyn Display>), 300);
}

#[test]
fn any_walk_on_opengl() {
    if let Some(gl) = need(Need::Egl, open_headless(DisplayChoice::Gl)) {
        any_walk(&gl.display(), by_level(20, 150, 150));
    }
}

#[test]
fn large_and_impossible_sizes() {
    let displays = need(Need::Egl, open_headless(DisplayChoice::Gl)).map(|gl| gl.display());
    for display in displays.into_iter().chain([MemoryDisplay::new() as Rc<dyn Display>]) {
        let backend = threads();
        for path in paths(&display) {
            let options = LinkOptions::new(Policy::default().with_force(path));
            let open = |w, h, format| {
                let desc = SurfaceDesc::Image(image(w, h, format, RowOrder::TopDown));
                Link::open(Arc::clone(&backend), Rc::clone(&display), desc, options.clone())
            };
            // Opening proves the pixels.
            for (w, h) in few(&[(8191, 3), (3, 8191), (8192, 8192)], 2).iter().copied() {
                let link = open(w, h, PixelFormat::R8).unwrap_or_else(|e| panic!("{path} {w}x{h}: {e}"));
                assert_eq!(link.path(), path);
            }
            for (w, h) in [(0, 1), (1, 0), (0, 0), (u32::MAX, u32::MAX), (u32::MAX, 1), (1, u32::MAX)] {
                let e = open(w, h, PixelFormat::Rgba32F).err().expect("an impossible size was taken");
                assert!(!e.to_string().is_empty());
            }
        }
    }
}
