//! Everything that users may rely on, from every backend of this machine, on every path.

use crate::display;
use crate::engine::Engine;
use crate::paths::{conform, ran};
use cpu_fallback::CpuBackend;
use cuda_backend::CudaBackend;
use interop_core::conformance::Manner;
use interop_core::{ComputeBackend, Display, PathId, SyncKind};
use opencl_backend::{OpenClBackend, devices};
use pixelferry_testing::{Level, Need, asked, by_level, from, given, need};
use std::sync::Arc;

/// Paths from memory of the host that need no extension.
const WITHOUT_EXTENSIONS: [PathId; 5] = [
    PathId::HOST_VISIBLE_IN_PLACE,
    PathId::HOST_VISIBLE_UPLOAD,
    PathId::PBO_PERSISTENT,
    PathId::PBO_ORPHAN,
    PathId::HOST_ROUND_TRIP,
];

fn threads() -> Arc<dyn ComputeBackend> {
    Arc::new(CpuBackend::new().unwrap())
}

#[test]
fn threads_show_on_a_device_of_its_own() {
    let Some(display) = display() else { return };
    let display: Arc<dyn Display> = display;
    println!("{} ({})", display.device(), display.device().driver);
    ran(&conform(&threads(), &display, Manner::default(), &PathId::ALL), &WITHOUT_EXTENSIONS);
    if from(Level::All) {
        ran(&conform(&threads(), &display, Manner::late(3), &PathId::ALL), &WITHOUT_EXTENSIONS[..2]);
    }
}

#[test]
fn threads_show_on_an_engines_device_with_and_without_extensions() {
    for bare in by_level(&[true][..], &[false, true], &[false, true]) {
        let Some(engine) = Engine::make(*bare) else { return };
        let display: Arc<dyn Display> = engine.display();
        ran(&conform(&threads(), &display, Manner::default(), &PathId::ALL), &WITHOUT_EXTENSIONS);
    }
}

/// Each OpenCL driver in a process of its own, as `drivers` starts them; else, with `PIXELFERRY_GPU=1`, CUDA.
#[test]
fn compute_devices_show() {
    let Some(display) = display() else { return };
    let display: Arc<dyn Display> = display;
    let mut backends: Vec<Arc<dyn ComputeBackend>> = Vec::new();
    if given() != Need::OpenCl {
        for device in need(given(), devices()).unwrap_or_default() {
            backends.push(Arc::new(OpenClBackend::open(&device).unwrap()));
        }
    } else if asked(Need::Nvidia) {
        backends.push(Arc::new(CudaBackend::open_best().unwrap()));
    }
    for backend in backends {
        println!("device: {}", backend.device());
        ran(&conform(&backend, &display, Manner::default(), &PathId::ALL), &WITHOUT_EXTENSIONS[2..]);
        let syncs = [SyncKind::TimelineSemaphore, SyncKind::BinarySemaphore];
        for sync in syncs.into_iter().take(by_level(0, 2, 2)) {
            let manner = Manner { sync: Some(sync), ..Manner::default() };
            conform(&backend, &display, manner, &PathId::ALL);
        }
    }
}
