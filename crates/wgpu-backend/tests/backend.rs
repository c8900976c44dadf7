//! The backend on every adapter of this machine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

#[path = "../../wgsl-kernel/tests/suite/mod.rs"]
mod suite;

use cpu_fallback::MemoryDisplay;
use interop_core::conformance::{Manner, Table, run, run_on};
use interop_core::{
    ComputeBackend, Display, Error, Link, LinkOptions, PathId, Paths, PixelFormat, Policy, Result, SurfaceDesc,
};
use pixelferry_testing::{Need, has, need};
use std::rc::Rc;
use std::sync::Arc;
use wgpu_backend::{WgpuBackend, WgpuDevice, WgpuOptions};
use wgpu_display::WgpuDisplay;

fn open(backends: wgpu::Backends) -> Result<WgpuBackend> {
    WgpuBackend::open(&WgpuOptions { backends, ..WgpuOptions::default() })
}

/// On Vulkan and on OpenGL.
fn backends() -> Vec<Arc<dyn ComputeBackend>> {
    let apis = [(Need::Lavapipe, wgpu::Backends::VULKAN), (Need::Egl, wgpu::Backends::GL)];
    let opened = apis.into_iter().filter_map(|(driver, api)| {
        let device = WgpuDevice::open(&WgpuOptions { backends: api, ..WgpuOptions::default() });
        let device = need(driver, device)?;
        let name = format!("{} ({})", device.identity, device.identity.driver);
        let opened = match WgpuBackend::on(device) {
            Err(error @ Error::Unsupported { .. }) => Err(error),
            other => Ok(other.unwrap()),
        };
        has("compute shaders", name, opened)
    });
    opened.map(|backend| Arc::new(backend) as Arc<dyn ComputeBackend>).collect()
}

fn on_each(test: impl Fn(&dyn ComputeBackend)) {
    for backend in backends() {
        println!("RAN ON {} ({})", backend.device(), backend.device().driver);
        test(backend.as_ref());
    }
}

#[test]
fn the_conformance_suite() {
    for backend in backends() {
        let display: Rc<dyn Display> = MemoryDisplay::new();
        let rows = run(&backend, &display, Manner::default());
        println!("{}", Table(&rows));
        let (passed, failed, _) = Table(&rows).counts();
        assert!(passed > 30 && failed == 0, "{passed} passed, {failed} failed");
    }
}

/// Kernels in the queue that draws.
#[test]
fn the_conformance_suite_in_the_displays_queue() {
    for api in [wgpu::Backends::VULKAN, wgpu::Backends::GL] {
        let driver = if api == wgpu::Backends::GL { Need::Egl } else { Need::Lavapipe };
        let options = WgpuOptions { backends: api, ..WgpuOptions::default() };
        let Some(display) = need(driver, WgpuDisplay::headless(options)) else { continue };
        let name = format!("{} ({})", display.device(), display.device().driver);
        let Some(backend) = has("compute shaders", &name, WgpuBackend::on(display.shared_device())) else { continue };
        let backend: Arc<dyn ComputeBackend> = Arc::new(backend);
        let display: Rc<dyn Display> = display;
        let mut rows = run_on(&Paths::default(), &backend, &display, Manner::default());
        rows.retain(|row| [PathId::IN_QUEUE_IN_PLACE, PathId::IN_QUEUE_UPLOAD].contains(&row.path));
        println!("{}", Table(&rows));
        let (passed, failed, skipped) = Table(&rows).counts();
        // Fragment shaders of wgpu's OpenGL may read no memory; a texture has a way of its own.
        assert!(
            passed >= 15 && failed == 0 && skipped <= 16,
            "{name}: {passed} passed, {failed} failed, {skipped} skipped"
        );
        // A backend on a device of its own is another queue, and moves into the display's where it is asked to.
        let stranger: Arc<dyn ComputeBackend> = Arc::new(open(api).unwrap());
        let inside = stranger.open_in(display.as_ref()).unwrap().unwrap();
        assert!(inside.open_in(display.as_ref()).unwrap().is_none());
        let desc = SurfaceDesc::image(16, 16, PixelFormat::Rgba8);
        let link = Link::open(inside, Rc::clone(&display), desc, LinkOptions::default()).unwrap();
        println!("{}", link.report());
        let policy = Policy { force: Some(PathId::IN_QUEUE_UPLOAD), ..Policy::default() };
        let error = Link::open(stranger, display, desc, LinkOptions { policy }).err().unwrap().to_string();
        assert!(error.contains("another wgpu device"), "{error}");
    }
}

#[test]
fn what_every_backend_of_wgsl_is_asked() {
    on_each(|backend| {
        suite::kernels_write_every_format_in_any_view(backend);
        suite::buffers_take_memory_and_numbers(backend);
        suite::copies_keep_the_bytes_around_them(backend);
        suite::texts_that_are_wrong_say_what_is(backend);
        let stranger = open(wgpu::Backends::VULKAN).or_else(|_| open(wgpu::Backends::GL)).unwrap();
        suite::bad_calls_are_refused_and_lose_nothing(backend, &stranger);
    });
}
