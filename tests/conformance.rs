//! The conformance suite over every backend, display and path of this machine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

use interop_core::conformance::{Manner, Outcome, Row, Table, run};
use pixelferry::path::PATHS;
use pixelferry::wgpu_display::{WgpuDisplay, WgpuOptions, wgpu};
use pixelferry::{
    ComputeBackend, CpuBackend, Display, DisplayChoice, Headless, MemoryDisplay, PathId, PathKind, SyncKind, cuda,
    open_headless, opencl,
};
use pixelferry_tests::{Driver, in_child, need, pass_in_child};
use std::rc::Rc;
use std::sync::Arc;

/// Every display without a window.
fn displays() -> Vec<Headless> {
    let gl = need(Driver::Egl, open_headless(DisplayChoice::Gl));
    let wgpu = need(Driver::Lavapipe, open_headless(DisplayChoice::Wgpu));
    gl.into_iter().chain(wgpu).chain([Headless::Memory(MemoryDisplay::new())]).collect()
}

/// Runs in latency mode and pipelined, prints and judges.
fn check(backend: &Arc<dyn ComputeBackend>) {
    let mut all = Vec::new();
    for display in displays() {
        all.extend(run(backend, &display.display(), Manner::default()));
    }
    judge(&all);
    let mut late = Vec::new();
    for display in displays() {
        late.extend(run(backend, &display.display(), Manner::late(3)));
    }
    println!("\nPipelined, 3 frames late:");
    judge(&late);
    for sync in [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore] {
        if backend.caps().can_open_semaphore(sync).is_yes() {
            let mut all = Vec::new();
            for display in displays().iter().filter(|d| d.display().caps().can_make_semaphore(sync).is_yes()) {
                all.extend(run(backend, &display.display(), Manner { sync: Some(sync), ..Manner::default() }));
                all.extend(run(backend, &display.display(), Manner { sync: Some(sync), ..Manner::late(3) }));
            }
            println!("\nKept apart by a {sync}, at once and 3 frames late:");
            judge(&all);
        }
    }
}

/// wgpu on OpenGL, which shares with the host as OpenGL does.
fn check_wgpus_opengl(backend: &Arc<dyn ComputeBackend>) {
    let options = WgpuOptions { backends: wgpu::Backends::GL, ..WgpuOptions::default() };
    let Some(display) = need(Driver::Egl, WgpuDisplay::headless(options)) else { return };
    println!("{}", display.device().driver);
    let software = display.device().software;
    let in_place = display.caps().in_place_images.is_yes();
    let display: Rc<dyn Display> = display;
    let rows = run(backend, &display, Manner::default());
    judge(&rows);
    // What GPUs list is their own.
    let of_the_host = |kind| !matches!(kind, PathKind::Direct | PathKind::ExternalMemory);
    let can = |path| in_place || !matches!(path, PathId::HostVisibleInPlace | PathId::PinnedInPlace);
    for path in PATHS.iter().filter(|path| software && of_the_host(path.kind) && can(path.id)) {
        assert!(rows.iter().any(|row| row.path == path.id && row.outcome == Outcome::Pass), "{} was not run", path.id);
    }
}

fn judge(all: &[Row]) {
    let table = Table(all);
    println!("{table}");
    let (passed, failed, _) = table.counts();
    assert_eq!(failed, 0, "see the table");
    assert!(passed > 0, "nothing ran");
}

#[test]
fn on_threads() {
    check(&(Arc::new(CpuBackend::new().unwrap()) as Arc<dyn ComputeBackend>));
}

#[test]
fn on_threads_to_wgpus_opengl() {
    check_wgpus_opengl(&(Arc::new(CpuBackend::new().unwrap()) as Arc<dyn ComputeBackend>));
}

/// An OpenGL whose shaders read and write no storage buffers: NVIDIA gives wgpu the 3.3 that it asks for, Mesa more.
#[test]
fn on_threads_to_wgpus_opengl_3_3() {
    let version = [("MESA_GL_VERSION_OVERRIDE", "3.3"), ("MESA_GLSL_VERSION_OVERRIDE", "330")];
    let child = in_child("child_threads_to_wgpus_opengl", None, &version).unwrap();
    println!("{}", child.output);
    assert!(child.success, "the suite failed or the process ended early");
    if child.output.contains("Mesa") {
        assert!(child.output.contains("fragment shaders read no storage buffers"), "they do in OpenGL 3.3");
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_threads_to_wgpus_opengl() {
    check_wgpus_opengl(&(Arc::new(CpuBackend::new().unwrap()) as Arc<dyn ComputeBackend>));
}

fn on_opencl(check: fn(&Arc<dyn ComputeBackend>)) {
    let backend = match opencl::OpenClBackend::open_best() {
        Ok(backend) => backend,
        Err(e) => {
            println!("NO DRIVER: {e}");
            return;
        }
    };
    println!("RAN ON {}", backend.device());
    check(&(Arc::new(backend) as Arc<dyn ComputeBackend>));
}

#[test]
#[ignore = "run by the tests below, in a process that sees one OpenCL driver"]
fn child_opencl() {
    on_opencl(check);
}

#[test]
#[ignore = "run by a test below, in a process that sees one OpenCL driver"]
fn child_opencl_to_wgpus_opengl() {
    on_opencl(check_wgpus_opengl);
}

fn on(driver: Driver) {
    child("child_opencl", driver);
}

fn child(name: &str, driver: Driver) {
    pass_in_child(name, Some(driver), &[], &["RAN ON"]);
}

/// All of an NVIDIA GPU's ways, by both APIs.
#[test]
fn on_nvidia() {
    if std::env::var_os("PIXELFERRY_GPU").is_none_or(|v| v != "1") {
        println!("SKIPPED: needs an NVIDIA GPU; set PIXELFERRY_GPU=1 to run it");
        return;
    }
    for child in ["child_opencl", "child_cuda", "child_cuda_to_wgpus_opengl"] {
        pass_in_child(child, None, &[], &["RAN ON"]);
    }
}

fn on_cuda(check: fn(&Arc<dyn ComputeBackend>)) {
    let backend = cuda::CudaBackend::open_best().unwrap();
    println!("RAN ON {}", backend.device());
    check(&(Arc::new(backend) as Arc<dyn ComputeBackend>));
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_cuda() {
    on_cuda(check);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_cuda_to_wgpus_opengl() {
    on_cuda(check_wgpus_opengl);
}

#[test]
fn on_pocl() {
    on(Driver::Pocl);
}

#[test]
fn on_pocl_to_wgpus_opengl() {
    child("child_opencl_to_wgpus_opengl", Driver::Pocl);
}

#[test]
fn on_rusticl() {
    on(Driver::Rusticl);
}
