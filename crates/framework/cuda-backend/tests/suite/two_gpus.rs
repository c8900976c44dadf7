//! Compute on one GPU, display on another: `PIXELFERRY_GPU=1` on a machine with two.

use crate::suite::common;
use cuda_backend::{CudaBackend, devices};
use interop_core::conformance::{ConformanceTable, Manner, run};
use interop_core::{ComputeBackend, Display, PathId, PixelFormat, Policy, SurfaceDesc, select};
use pixelferry_gl::{GlDisplay, HeadlessOptions};
use pixelferry_testing::{Need, need};
use std::sync::Arc;

#[test]
fn frames_cross_from_gpu_to_gpu() {
    if common::gpu().is_none() {
        return;
    }
    let devices = devices().unwrap();
    let both = devices.first_chunk::<2>().ok_or("this machine has one GPU");
    let Some([first, second]) = need(Need::TwoGpus, both) else { return };
    for (compute, draw) in [(first, second), (second, first)] {
        let backend: Arc<dyn ComputeBackend> = Arc::new(CudaBackend::open(compute).unwrap());
        let options = HeadlessOptions::default().with_same_device_as(draw.identity().clone());
        let Some(display) = need(Need::NvidiaGl, GlDisplay::headless(options)) else { return };
        let display: Arc<dyn Display> = display;
        assert!(display.device().same_device(draw.identity()).is_yes(), "{:?}", display.device());
        let desc = SurfaceDesc::image(1920, 1080, PixelFormat::Rgba8);
        let report = select::probe(&backend, &display, &desc, &Policy::default()).unwrap();
        println!("{report}");
        assert!(report.diagnoses.iter().any(|d| d.name == "display-on-another-gpu"), "{:?}", report.diagnoses);
        assert!(!report.paths.iter().any(|p| p.id == PathId::DIRECT && p.state.works()));
        assert!(report.chosen().is_some(), "no path works");
        for manner in [Manner::default(), Manner::late(3)] {
            let rows = run(&backend, &display, manner);
            let table = ConformanceTable(&rows);
            println!("{manner:?}: {table}");
            let (passed, failed, _) = table.counts();
            assert!(passed > 0 && failed == 0, "{failed} cases failed");
        }
    }
}
