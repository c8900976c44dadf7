//! Helpers shared by the tests on a GPU.

use cuda_backend::CudaBackend;
use interop_core::conformance::{CASES, ConformanceTable, Context, Manner};
use interop_core::describe::pattern::Pattern;
use interop_core::{ComputeBackend, ComputeMemory, Display, Error, PathId, Paths, SyncKind, Target, View};
use pixelferry_testing::{Need, asked, need};
use std::sync::Arc;
use std::time::Instant;

/// The device, where `PIXELFERRY_GPU=1` says that there is one; a device that then cannot be opened is a failure.
pub fn gpu() -> Option<CudaBackend> {
    asked(Need::Nvidia).then(|| CudaBackend::open_best().expect("PIXELFERRY_GPU=1, but CUDA cannot be opened"))
}

/// Returns what came of compiling CUDA C++; `None` after saying SKIPPED where NVRTC is not installed.
pub fn compiled<T>(built: Result<T, Error>) -> Option<T> {
    match built {
        Err(e) if !matches!(e, Error::Unavailable { .. }) => panic!("{e}"),
        built => need(Need::Nvrtc, built),
    }
}

/// Fills memory with bytes that the pattern does not have there, writes the pattern into `view` and compares all bytes
/// with the reference: those outside must stay.
pub fn check_pattern(backend: &dyn ComputeBackend, memory: &mut dyn ComputeMemory, view: View, nonce: u32) {
    let mut expected = vec![0xa5; memory.len()];
    memory.write(0, &expected).unwrap();
    let pattern = Pattern::for_view(&view, nonce);
    backend.write_pattern(Target::new(memory, view).unwrap(), &pattern).unwrap();
    pattern.write(&view, &mut expected);
    let mut found = vec![0; memory.len()];
    memory.read(0, &mut found).unwrap();
    let at = found.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(at, None, "first wrong byte for {view:?}");
}

/// The whole suite on all paths, or those whose names `PIXELFERRY_PATHS` lists, whichever way the two sides take turns.
pub fn conformance(backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>) {
    let wanted = std::env::var("PIXELFERRY_PATHS").ok();
    let wanted = |path: PathId| wanted.as_ref().is_none_or(|list| list.split(',').any(|p| p == path.to_string()));
    // However the two sides are kept apart, and however late a frame is shown, it is the right one.
    let with = |sync, manner| Manner { sync: Some(sync), ..manner };
    let (latency, late) = (Manner::default(), Manner::late(3));
    for manner in [
        latency,
        late,
        with(SyncKind::BinarySemaphore, latency),
        with(SyncKind::BinarySemaphore, late),
        with(SyncKind::TimelineSemaphore, latency),
        with(SyncKind::TimelineSemaphore, late),
    ] {
        let mut rows = Vec::new();
        for path in PathId::ALL.into_iter().filter(|p| wanted(*p)) {
            for case in CASES {
                let start = Instant::now();
                rows.push(case.row(&Context { backend, display, paths: &Paths::default(), path, manner }));
                println!("{path}, {manner:?}, {}: {:?}", case.name, start.elapsed());
            }
        }
        let table = ConformanceTable(&rows);
        println!("{manner:?}: {table}");
        let (passed, failed, skipped) = table.counts();
        assert!(passed + skipped > 0 && failed == 0, "{failed} cases failed");
    }
}
