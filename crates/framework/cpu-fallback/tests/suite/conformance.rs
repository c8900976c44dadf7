//! The suite that every pair must pass, on threads that share even the smallest kernel. The workspace's table runs it with
//! the backend's own options.

use cpu_fallback::{CpuBackend, CpuOptions, MemoryDisplay};
use interop_core::conformance::{ConformanceTable, Manner, Outcome, run};
use interop_core::{ComputeBackend, Display};
use std::sync::Arc;

#[test]
fn the_cpu_and_plain_memory_pass_every_case_on_every_path() {
    let options = CpuOptions::default().with_threads(3).with_serial_items(0);
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::with_options(&options).unwrap());
    let display: Arc<dyn Display> = MemoryDisplay::new();
    let rows = run(&backend, &display, Manner::default());
    println!("{}", ConformanceTable(&rows));
    assert!(rows.iter().any(|row| row.outcome == Outcome::Pass), "nothing ran");
    assert!(!rows.iter().any(|row| matches!(row.outcome, Outcome::Fail(_))), "see the table above");
}
