//! A window that is dragged, and a program that begins again and again: links whose path is chosen automatically are
//! resized and made anew, with their display and backend too. Descriptors, threads, GL objects and memory stay flat.
//!
//! `PIXELFERRY_RESIZES` and `PIXELFERRY_ROUNDS` say how often.

use pixelferry::{
    Arg, BackendChoice, ComputeBackend, DisplayChoice, Headless, ImageAccess, ImageDesc, Kernel, Link, LinkBuilder,
    LinkOptions, PixelFormat, Policy, Profiles, SurfaceDesc, command::Choice as _,
};
use pixelferry_tests::{
    Level, Need, Usage, asked, by_level, from, given, need, need_display, number, pass_in_child, ramp, ramp_pixel,
    wait_until,
};
use std::collections::HashMap;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Memory that allocators and drivers keep here and there.
const RSS_SLACK: u64 = 12 << 20;
/// A driver takes and gives back device memory in blocks of 2 MiB, when it likes.
const GPU_SLACK_MIB: u64 = 16;
/// Parts of a run, after each of which the process is looked at.
const PARTS: u32 = 4;

/// The sides come from two short cycles, so that all sizes were seen in each part of a run.
fn desc(n: u32) -> SurfaceDesc {
    let image = ImageDesc::new(64 + 16 * (n % 4), 48 + 8 * (n % 3), PixelFormat::Rgba8);
    SurfaceDesc::Image(image.with_access(ImageAccess::Any))
}

/// Nothing is remembered: each choice is measured.
fn options() -> LinkOptions {
    LinkOptions::new(Policy::default().with_profiles(Profiles::Off))
}

/// MiB of the first NVIDIA GPU that are in use, where there is one.
fn gpu_mib() -> Option<u64> {
    let asked = Command::new("nvidia-smi").args(["--query-gpu=memory.used", "--format=csv,noheader,nounits"]).output();
    String::from_utf8(asked.ok()?.stdout).ok()?.lines().next()?.trim().parse().ok()
}

/// Looks at the process after each part of a run, and judges the second half of it.
#[derive(Default)]
struct Watch(Vec<(Usage, Option<u64>)>);

impl Watch {
    fn look(&mut self, what: &str, n: u32) {
        let seen = (Usage::here().unwrap(), gpu_mib());
        println!("{what} {n}: {seen:?}");
        self.0.push(seen);
    }

    fn judge(&self, what: &str) {
        let (middle, end) = (self.0[self.0.len() / 2], self.0[self.0.len() - 1]);
        assert_eq!(end.0.descriptors, middle.0.descriptors, "{what}: file descriptors");
        // Drivers' threads end a little after what they worked for.
        wait_until(&format!("{what}: the end of threads"), || Usage::here().unwrap().threads <= middle.0.threads);
        assert!(end.0.rss <= middle.0.rss + RSS_SLACK, "{what}: memory {} -> {}", middle.0.rss, end.0.rss);
        let grown = middle.1.zip(end.1).map_or(0, |(middle, end)| end.saturating_sub(middle));
        assert!(grown <= GPU_SLACK_MIB, "{what}: {grown} MiB more of the GPU's memory");
    }
}

fn frame(link: &mut Link, kernel: &dyn Kernel, n: u32) {
    link.frame(|next| next.launch(kernel, &[Arg::U32(n)])).unwrap();
    link.flush().unwrap();
    let SurfaceDesc::Image(image) = *link.desc() else { unreachable!("it is an image") };
    for (i, pixel) in link.read_back().unwrap().chunks_exact(4).enumerate() {
        let (x, y) = (i as u32 % image.extent.width, i as u32 / image.extent.width);
        assert_eq!(pixel, ramp_pixel(x, y, n), "{}, frame {n}: pixel {x}, {y}", link.path());
    }
}

fn open(backend: BackendChoice, display: DisplayChoice) -> pixelferry::Result<(Arc<dyn ComputeBackend>, Headless)> {
    LinkBuilder::new(desc(0)).backend(backend).display(display).open_sides()
}

fn resizes(backend: &Arc<dyn ComputeBackend>, screen: &Headless) {
    let resizes = number("PIXELFERRY_RESIZES", by_level(48, 48, 480));
    let mut link = Link::open(Arc::clone(backend), screen.display(), desc(0), options()).unwrap();
    let kernel = backend.build(&ramp()).unwrap();
    println!("chosen: {}", link.path());
    let mut watch = Watch::default();
    watch.look("resizes", 0);
    let objects = || screen.gl().map(|gl| gl.object_counts());
    // By path: each resize measures anew, and paths differ in what they keep.
    let mut before = HashMap::new();
    for n in 0..resizes {
        link.resize(desc(n + 1)).unwrap();
        frame(&mut link, kernel.as_ref(), n);
        if (n + 1) % (resizes / PARTS) == 0 {
            // Always looked at with the same size.
            link.resize(desc(0)).unwrap();
            // A path that is being compared has objects of its own.
            link.compare_paths(Duration::from_secs(60));
            // A resize makes one block of the ring, and frames the others.
            (0..4).for_each(|_| frame(&mut link, kernel.as_ref(), n));
            watch.look("resizes", n + 1);
            let now = objects();
            assert_eq!(*before.entry(link.path()).or_insert(now), now, "GL objects of {}", link.path());
        }
    }
    watch.judge("resizes");
}

fn rounds(backend: BackendChoice, display: DisplayChoice) {
    let rounds = number("PIXELFERRY_ROUNDS", by_level(4, 8, 80));
    let mut watch = Watch::default();
    for n in 0..rounds {
        let (backend, screen) = open(backend, display).unwrap();
        let mut link = Link::open(Arc::clone(&backend), screen.display(), desc(n), options()).unwrap();
        frame(&mut link, backend.build(&ramp()).unwrap().as_ref(), n);
        drop((link, screen, backend));
        if (n + 1) % (rounds / PARTS).max(1) == 0 {
            watch.look("rounds", n + 1);
        }
    }
    watch.judge("rounds");
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn child() {
    let backend = BackendChoice::parse(&std::env::var("PIXELFERRY_ANEW_BACKEND").unwrap()).unwrap();
    let display = DisplayChoice::parse(&std::env::var("PIXELFERRY_ANEW_DISPLAY").unwrap()).unwrap();
    if need(given(), open(backend, DisplayChoice::Memory)).is_none() {
        return;
    }
    let Some((compute, screen)) = need_display(display, open(backend, display)) else { return };
    println!("{} -> {}", compute.device(), screen.display().device());
    resizes(&compute, &screen);
    drop((screen, compute));
    rounds(backend, display);
    println!("FLAT");
}

fn on(level: Level, backend: &str, driver: Option<Need>, display: &str) {
    if !from(level) {
        return;
    }
    let env = [("PIXELFERRY_ANEW_BACKEND", backend), ("PIXELFERRY_ANEW_DISPLAY", display)];
    pass_in_child("anew::child", driver, &env, &["FLAT"]);
}

pixelferry_tests::tests! {
    threads_to_opengl => on(Level::All, "threads", None, "gl");
    threads_to_wgpu => on(Level::Short, "threads", None, "wgpu");
    pocl_to_opengl => on(Level::Short, "opencl", Some(Need::Pocl), "gl");
    pocl_to_wgpu => on(Level::All, "opencl", Some(Need::Pocl), "wgpu");
}

/// The GPU's drivers keep more, and are asked for by name: `PIXELFERRY_GPU=1`.
#[test]
fn nvidia() {
    if !asked(Need::Nvidia) {
        return;
    }
    for backend in ["cuda", "opencl", "threads"] {
        for display in ["gl", "wgpu"] {
            on(Level::Short, backend, None, display);
        }
    }
}
