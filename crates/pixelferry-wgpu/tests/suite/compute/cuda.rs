//! Kernels of CUDA's in wgpu's queue, on an NVIDIA GPU: `PIXELFERRY_GPU=1`.

use crate::ptx;
use interop_core::{ComputeBackend, DrawOptions, ImageAccess, Language, Link, Manner, PathId};
use pixelferry_testing::{Need, asked, need};
use pixelferry_wgpu::{Viewport, WgpuDisplay};
use pixelferry_wgpu::{WgpuBackend, WgpuOptions};
use std::rc::Rc;
use std::sync::Arc;

fn options() -> WgpuOptions {
    WgpuOptions::default().with_backends(wgpu::Backends::VULKAN).with_name("NVIDIA").with_ptx(true)
}

/// A display on NVIDIA's Vulkan and a backend in its queue.
fn open() -> Option<(Rc<WgpuDisplay>, Arc<WgpuBackend>)> {
    if !asked(Need::Nvidia) {
        return None;
    }
    let display = need(Need::NvidiaVulkan, WgpuDisplay::headless(options()))?;
    let device = display.shared_device();
    println!("RAN ON {} ({}), PTX: {:?}", device.identity, device.identity.driver, device.takes_ptx());
    let backend = WgpuBackend::on(device).unwrap();
    assert!(backend.caps().languages.contains(&Language::CudaCpp), "{:?}", backend.caps().languages);
    Some((display, Arc::new(backend)))
}

/// Frames show what their kernels wrote, drawn in both manners, none waited for.
#[test]
fn frames_are_drawn_as_they_were_written() {
    let Some((display, backend)) = open() else { return };
    let target = display.create_offscreen_target(321, 123).unwrap();
    let draw = |link: &mut Link, seed: i32| {
        let options = DrawOptions::default().with_manner([Manner::Compute, Manner::Triangle][seed as usize % 2]);
        let (format, viewport) = (target.texture().format(), Viewport::full(321, 123));
        let shown = link.shown().unwrap();
        display.draw_to(shown.surface(), target.view(), format, None, viewport, options).unwrap();
    };
    let paths = [PathId::IN_QUEUE_IN_PLACE, PathId::IN_QUEUE_UPLOAD].map(|path| (path, ImageAccess::Any));
    let (sides, seen) = ((backend as Arc<_>, display.clone() as Rc<_>), |_: &mut Link| target.read_rgba8().unwrap());
    ptx::frames_are_as_they_were_written(sides, &paths, 3, draw, seen);
}

#[test]
fn kernels_do_what_they_do_in_every_queue() {
    let (Some((_display, backend)), Some((_other, stranger))) = (open(), open()) else { return };
    ptx::kernels_do_what_they_do_in_every_queue(&*backend, &*stranger);
}

/// A kernel in OpenCL C, unchanged.
#[cfg(feature = "opencl")]
#[test]
fn opencl_c_runs_in_the_same_queue() {
    let Some((_display, backend)) = open() else { return };
    ptx::opencl_c_runs_in_the_same_queue(&*backend);
}

#[test]
fn threads_build_beside_one_another() {
    if open().is_some() {
        ptx::threads_build_beside_one_another(|| WgpuBackend::open(&options()).unwrap());
    }
}
