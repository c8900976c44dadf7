//! Kernels of CUDA's in wgpu's queue, on an NVIDIA GPU: `PIXELFERRY_GPU=1`.

use crate::ptx::{self, BYTES, byte, cuda};
use interop_core::{
    Arg, ComputeBackend, DrawOptions, ImageAccess, ImageDesc, Language, Link, LinkOptions, Manner, PathId, PixelFormat,
    Policy, SurfaceDesc,
};
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
    let kernel = backend.build(&cuda("bytes", BYTES)).unwrap();
    let (width, height) = (321, 123);
    let target = display.create_offscreen_target(width, height).unwrap();
    for path in [PathId::IN_QUEUE_IN_PLACE, PathId::IN_QUEUE_UPLOAD] {
        let policy = Policy::default().with_force(path);
        let image = ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(ImageAccess::Any);
        let desc = SurfaceDesc::Image(image);
        let backend: Arc<dyn ComputeBackend> = backend.clone();
        let mut link = Link::open(backend, display.clone(), desc, LinkOptions::new(policy)).unwrap();
        for seed in 0..80 {
            link.frame(|frame| frame.launch(kernel.as_ref(), &[Arg::I32(seed)])).unwrap();
            let manner = [Manner::Compute, Manner::Triangle][seed as usize % 2];
            let options = DrawOptions::default().with_manner(manner);
            let (format, viewport) = (target.texture().format(), Viewport::full(width, height));
            let shown = link.shown().unwrap();
            display.draw_to(shown.surface(), target.view(), format, None, viewport, options).unwrap();
            if seed % 8 == 7 {
                let found = target.read_rgba8().unwrap();
                let at = |x: u32, y: u32| (y * width + x) as usize * 4;
                for (x, y) in [(0, 0), (320, 0), (0, 122), (320, 122), (160, 61)] {
                    let wanted: Vec<u8> = (0..3).map(|i| byte(x, y, i, seed)).collect();
                    assert_eq!(found[at(x, y)..][..3], wanted[..], "{path}, frame {seed}, {manner:?}, pixel {x}, {y}");
                }
            }
        }
    }
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
