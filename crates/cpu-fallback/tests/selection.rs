//! What a link says of its choice, on the pair that every machine has.

#![allow(clippy::unwrap_used)] // how tests fail

use cpu_fallback::{CpuBackend, MemoryDisplay};
use interop_core::{Link, LinkOptions, PixelFormat, Policy, Profiles, SurfaceDesc};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

fn open(budget: Duration, profiles: Profiles) -> Link {
    let policy = Policy { budget, profiles, ..Policy::default() };
    let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
    Link::open(Arc::new(CpuBackend::new().unwrap()), MemoryDisplay::new(), desc, LinkOptions { policy }).unwrap()
}

#[test]
fn a_choice_that_was_not_measured_says_so_and_is_not_remembered() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("unmeasured-{}", std::process::id()));
    let remembered = || std::fs::read_dir(&folder).map_or(0, Iterator::count);
    let link = open(Duration::from_nanos(1), Profiles::Folder(folder.clone()));
    let chosen = link.report().chosen().unwrap();
    assert!(chosen.measured.is_empty() && chosen.median_us().is_none(), "{chosen:?}");
    assert!(chosen.state.detail().contains("opening it took the time"), "{}", chosen.state.detail());
    assert_eq!(remembered(), 0);

    let link = open(Duration::from_secs(60), Profiles::Folder(folder.clone()));
    let chosen = link.report().chosen().unwrap();
    assert!(chosen.median_us().is_some_and(|us| us > 0.0), "{chosen:?}");
    assert_eq!(remembered(), 1);
    std::fs::remove_dir_all(&folder).unwrap();
}
