//! A thousand frames on wgpu's OpenGL, with resizes, by every path: memory and descriptors stay flat. Alone in its process,
//! as it counts them.

#![cfg(target_os = "linux")]
// Helpers of tests may panic as tests may.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use cpu_fallback::CpuBackend;
use interop_core::{
    ComputeBackend, Display, ImageAccess, ImageDesc, Link, LinkOptions, PathId, PixelFormat, Policy, SurfaceDesc,
};
use pixelferry_testing::Usage;
use std::rc::Rc;
use std::sync::Arc;

const FRAMES: u32 = 1000;
const FRAMES_PER_SIZE: u32 = 50;
/// Drivers fill caches in the beginning.
const WARM_UP: u32 = FRAMES / 2;
/// Pages that the allocator keeps here and there.
const SLACK: u64 = 4 << 20;

fn desc(frame: u32) -> SurfaceDesc {
    let width = 64 + 16 * (frame / FRAMES_PER_SIZE % 4);
    SurfaceDesc::Image(ImageDesc::new(width, 48, PixelFormat::Rgba8).with_access(ImageAccess::Any))
}

fn run(backend: &Arc<dyn ComputeBackend>, display: &Rc<dyn Display>, path: PathId) {
    let options = LinkOptions::new(Policy::default().with_force(path));
    let mut link = Link::open(Arc::clone(backend), Rc::clone(display), desc(0), options).unwrap();
    let mut before = None;
    for frame in 0..=FRAMES {
        if frame % FRAMES_PER_SIZE == 0 {
            link.resize(desc(frame)).unwrap();
        }
        let bytes = desc(frame).byte_len("test").unwrap();
        let mut next = link.acquire().unwrap();
        next.write(&vec![frame as u8; bytes]).unwrap();
        next.finish().unwrap();
        if frame % 100 == 99 {
            assert_eq!(link.read_back().unwrap()[bytes - 1], frame as u8, "{path}: a stale frame");
        }
        if frame == WARM_UP {
            display.finish().unwrap();
            before = Some(Usage::here().unwrap());
        }
    }
    display.finish().unwrap();
    // Of the same size as then.
    let (after, before) = (Usage::here().unwrap(), before.unwrap());
    println!("{path}: {before:?} -> {after:?}");
    assert!(after.rss <= before.rss + SLACK, "{path}: memory grew from {} to {}", before.rss, after.rss);
    assert_eq!(after.descriptors, before.descriptors, "{path}: descriptors");
}

#[test]
fn a_thousand_frames_by_every_path_leave_nothing() {
    let Some(display) = common::display() else { return };
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let display: Rc<dyn Display> = display;
    for path in common::host_paths() {
        run(&backend, &display, path);
    }
    drop(display);
    // Contexts come and go as well.
    let before = Usage::here().unwrap();
    for _ in 0..10 {
        drop(common::display());
    }
    let after = Usage::here().unwrap();
    println!("ten displays: {before:?} -> {after:?}");
    assert_eq!(after.descriptors, before.descriptors, "descriptors after ten displays");
}
