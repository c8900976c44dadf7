//! Everything that users may rely on, from the CPU to wgpu, on every path.

// Helpers of tests may panic as tests may.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use cpu_fallback::CpuBackend;
use interop_core::conformance::{Manner, Outcome, Table, run};
use interop_core::{ComputeBackend, Display};
use std::rc::Rc;
use std::sync::Arc;

#[test]
fn every_path_holds() {
    let Some(display) = common::display() else { return };
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let display: Rc<dyn Display> = display;
    for manner in [Manner::default(), Manner::late(2)] {
        let rows = run(&backend, &display, manner);
        println!("{}", Table(&rows));
        assert!(!rows.iter().any(|row| matches!(row.outcome, Outcome::Fail(_))), "{manner:?}: see the table above");
        for path in common::host_paths() {
            assert!(rows.iter().any(|r| r.path == path && r.outcome == Outcome::Pass), "{path} was not run");
        }
    }
}
