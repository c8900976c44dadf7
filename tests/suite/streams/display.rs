//! A stream as a display: what is expected of all of them.

use interop_core::conformance::{Manner, Outcome};
use pixelferry::stream::{StreamOptions, publish};
use pixelferry::{BackendChoice, Display, PathId, open_backend};
use pixelferry_tests::{Need, conform, need};
use std::collections::HashSet;
use std::rc::Rc;

/// Frames of this backend on a stream, in pages of the host and, where it shares a device with Vulkan, in that one's memory.
fn conforms(choice: BackendChoice, needed: Option<Need>, wanted: &[PathId]) {
    let opened = open_backend(choice, &[]);
    let opened = match needed {
        Some(needed) => need(needed, opened),
        None => Some(opened.unwrap()),
    };
    let Some(backend) = opened else { return };
    let name = format!("conforms-{}-{choice:?}", std::process::id());
    let stream = publish(&name, backend.as_ref(), StreamOptions::default()).unwrap();
    let display: Rc<dyn Display> = stream;
    for manner in [Manner::default(), Manner::late(2)] {
        let rows = conform(&backend, &display, manner);
        let failed: Vec<_> = rows.iter().filter(|row| matches!(row.outcome, Outcome::Fail(_))).collect();
        assert!(failed.is_empty(), "{failed:#?}");
        let passed: HashSet<_> = rows.iter().filter(|row| row.outcome == Outcome::Pass).map(|row| row.path).collect();
        println!("{manner:?}: {passed:?}");
        assert!(wanted.iter().all(|path| passed.contains(path)), "{passed:?}");
    }
    println!("RAN ON {} to a stream on {}", backend.device(), display.device());
}

#[test]
fn threads_conform() {
    conforms(BackendChoice::Cpu, None, &[PathId::HOST_VISIBLE_IN_PLACE, PathId::HOST_ROUND_TRIP]);
}

#[test]
fn vulkan_conforms() {
    conforms(BackendChoice::Vulkan, Some(Need::Lavapipe), &[PathId::EXPORTED_IN_PLACE, PathId::HOST_ROUND_TRIP]);
}
