//! Reports of a link on its choice, for the pair that every machine has.

use cpu_fallback::{CpuBackend, MemoryDisplay};
use interop_core::{Link, LinkOptions, PixelFormat, Policy, Profiles, SurfaceDesc};
use std::sync::Arc;
use std::time::Duration;

fn open(budget: Duration, profiles: Profiles) -> Link {
    let policy = Policy::default().with_budget(budget).with_profiles(profiles);
    let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
    Link::open(Arc::new(CpuBackend::new().unwrap()), MemoryDisplay::new(), desc, LinkOptions::new(policy)).unwrap()
}

#[test]
fn a_choice_that_was_not_measured_says_so_and_stands_until_there_is_more_time() {
    let folder = std::env::temp_dir().join(format!("unmeasured-{}", std::process::id()));
    let said = |budget| {
        let link = open(budget, Profiles::Folder(folder.clone()));
        let chosen = link.report().chosen().unwrap();
        assert!(chosen.measured.is_empty() && chosen.median_us().is_none(), "{chosen:?}");
        chosen.state.detail().to_owned()
    };
    let none = Duration::from_nanos(2);
    // A first start may have no time for what drivers do only once; the second tells.
    for start in 0..2 {
        assert!(said(none).contains("opening it took the time"), "start {start}");
    }
    assert!(said(none).contains("earlier starts had no time"));
    assert!(said(none / 2).contains("earlier starts had no time"), "with less it is no use either");

    let link = open(Duration::from_secs(600), Profiles::Folder(folder.clone()));
    let chosen = link.report().chosen().unwrap();
    assert!(chosen.median_us().is_some_and(|us| us > 0.0), "{chosen:?}");
    let link = open(none, Profiles::Folder(folder.clone()));
    let why = link.report().chosen().unwrap().state.detail().to_owned();
    assert!(why.contains("measured before"), "{why}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(&folder).unwrap();
}
