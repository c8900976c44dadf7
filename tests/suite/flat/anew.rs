//! A window that is dragged, and a program that begins again and again: links whose path is chosen automatically are
//! resized and made anew, with their display and backend too.
//!
//! `PIXELFERRY_RESIZES` and `PIXELFERRY_ROUNDS` say how often.

use super::{ResourceUse, choices, on, sides};
use pixelferry::{
    Arg, Audit, BackendChoice, ComputeBackend, DisplayChoice, HeadlessDisplay, Kernel, Link, LinkCore, LinkOptions,
    Policy, Profiles, SurfaceDesc, open_backend, open_headless,
};
use pixelferry_tests::{Level, Need, asked, by_level, from, number, ramp, ramp_pixel};
use std::collections::HashMap;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

const RSS_SLACK: u64 = 12 << 20;
/// Parts of a run, after each of which the process is looked at.
const PARTS: u32 = 4;

/// The sides come from two short cycles, so that all sizes were seen in each part of a run.
fn desc(n: u32) -> SurfaceDesc {
    super::desc(64 + 16 * (n % 4), 48 + 8 * (n % 3))
}

/// Nothing is remembered: each choice is measured.
fn options() -> LinkOptions {
    LinkOptions::new(Policy::default().with_profiles(Profiles::Off).with_audit(Audit::Every(NonZero::<u32>::MIN)))
}

/// Judges the second half of a run. GL objects are counted by path, which may change.
fn judge(what: &str, seen: &[ResourceUse]) {
    let (middle, mut end) = (seen[seen.len() / 2], seen[seen.len() - 1]);
    end.1 = middle.1;
    end.judge(middle, RSS_SLACK, what);
}

fn frame(link: &mut LinkCore, kernel: &dyn Kernel, n: u32) {
    link.frame(|next| next.launch(kernel, &[Arg::U32(n)])).unwrap();
    link.flush().unwrap();
    let SurfaceDesc::Image(image) = *link.desc() else { unreachable!("it is an image") };
    for (i, pixel) in link.read_back().unwrap().chunks_exact(4).enumerate() {
        let (x, y) = (i as u32 % image.extent.width, i as u32 / image.extent.width);
        assert_eq!(pixel, ramp_pixel(x, y, n), "{}, frame {n}: pixel {x}, {y}", link.path());
    }
}

fn resizes(backend: &Arc<dyn ComputeBackend>, screen: &HeadlessDisplay) {
    let resizes = number("PIXELFERRY_RESIZES", by_level(48, 48, 480));
    let mut link = Link::open(Arc::clone(backend), screen.display(), desc(0), options()).unwrap();
    let kernel = backend.build(&ramp()).unwrap();
    println!("chosen: {}", link.path());
    let mut seen = vec![ResourceUse::now(Some(screen))];
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
            let now = ResourceUse::now(Some(screen));
            seen.push(now);
            assert_eq!(*before.entry(link.path()).or_insert(now.1), now.1, "GL objects of {}", link.path());
        }
    }
    judge("resizes", &seen);
}

fn rounds(backend: BackendChoice, display: DisplayChoice) {
    let rounds = number("PIXELFERRY_ROUNDS", by_level(4, 8, 80));
    let mut seen = Vec::new();
    for n in 0..rounds {
        let (backend, screen) = (open_backend(backend, &[]).unwrap(), open_headless(display).unwrap());
        let mut link = Link::open(Arc::clone(&backend), screen.display(), desc(n), options()).unwrap();
        frame(&mut link, backend.build(&ramp()).unwrap().as_ref(), n);
        drop((link, screen, backend));
        if (n + 1) % (rounds / PARTS).max(1) == 0 {
            seen.push(ResourceUse::now(None));
        }
    }
    judge("rounds", &seen);
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn child() {
    let Some((compute, screen)) = sides() else { return };
    println!("{} -> {}", compute.device(), screen.display().device());
    resizes(&compute, &screen);
    drop((screen, compute));
    let (backend, display) = choices();
    rounds(backend, display);
    println!("FLAT");
}

fn at(level: Level, backend: &str, driver: Option<Need>, display: &str) {
    if from(level) {
        on("anew::child", backend, driver, display);
    }
}

pixelferry_tests::tests! {
    threads_to_opengl => at(Level::All, "threads", None, "gl");
    threads_to_wgpu => at(Level::Short, "threads", None, "wgpu");
    pocl_to_opengl => at(Level::Short, "opencl", Some(Need::Pocl), "gl");
    pocl_to_wgpu => at(Level::All, "opencl", Some(Need::Pocl), "wgpu");
}

/// The GPU's drivers keep more, and are asked for by name: `PIXELFERRY_GPU=1`.
#[test]
fn nvidia() {
    if !asked(Need::Nvidia) {
        return;
    }
    for backend in ["cuda", "opencl", "threads"] {
        for display in ["gl", "wgpu"] {
            at(Level::Short, backend, None, display);
        }
    }
}
