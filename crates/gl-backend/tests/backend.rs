//! The backend on the display of this machine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod common;
#[path = "../../wgsl-kernel/tests/suite/mod.rs"]
mod suite;

use common::{Both, alone, both};
use interop_core::Display;
use interop_core::conformance::{Manner, Table, run};
use std::rc::Rc;

#[test]
fn the_conformance_suite_in_the_displays_queue() {
    let Some(Both { display, backend }) = both() else { return };
    let display: Rc<dyn Display> = display;
    for manner in [Manner::default(), Manner::late(3)] {
        let rows = run(&backend, &display, manner);
        println!("{}", Table(&rows));
        for path in ["in-queue-in-place", "in-queue-upload", "pbo-persistent", "pbo-orphan", "host-round-trip"] {
            let own: Vec<_> = rows.iter().filter(|row| row.path.name() == path).cloned().collect();
            let (passed, failed, skipped) = Table(&own).counts();
            assert!(passed >= 13 && failed == 0 && skipped <= 3, "{path}: {passed} passed, {failed} failed");
        }
        assert_eq!(Table(&rows).counts().1, 0);
    }
}

/// By a backend with a context and a thread of its own.
#[test]
fn the_conformance_suite_in_plain_memory() {
    let Some(backend) = alone() else { return };
    common::conforms_in_plain_memory(&backend);
}

#[test]
fn what_every_backend_of_wgsl_is_asked() {
    let (Some(Both { display, backend }), Some(alone)) = (both(), alone()) else { return };
    println!("RAN ON {} ({})", backend.device(), display.device().driver);
    for (backend, stranger) in [(backend.as_ref(), alone.as_ref()), (alone.as_ref(), backend.as_ref())] {
        suite::ask(backend, stranger);
    }
}
