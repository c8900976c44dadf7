//! Kernels of CUDA's in the display's queue: on an NVIDIA GPU by `PIXELFERRY_GPU=1`, and refused elsewhere.

use crate::ptx::{self, BYTES, byte, cuda};
use crate::{device, display, engine::Engine};
use interop_core::{
    Arg, ComputeBackend, Display, ImageAccess, ImageDesc, Language, Link, LinkOptions, PathId, PixelFormat, Policy,
    SurfaceDesc,
};
use pixelferry_testing::{Need, asked, need};
use pixelferry_vulkan::{VulkanBackend, VulkanDisplay, VulkanOptions};
use std::rc::Rc;
use std::sync::Arc;

fn options() -> VulkanOptions {
    VulkanOptions::default().with_name("NVIDIA").with_ptx(true)
}

/// A display on NVIDIA's Vulkan and a backend in its queue.
fn open() -> Option<(Rc<VulkanDisplay>, Arc<VulkanBackend>)> {
    if !asked(Need::Nvidia) {
        return None;
    }
    let display = need(Need::NvidiaVulkan, VulkanDisplay::headless(&options()))?;
    let identity = display.device();
    println!("RAN ON {identity} ({}), PTX: {:?}", identity.driver, display.takes_ptx());
    let backend = VulkanBackend::on(&display).unwrap();
    assert!(backend.caps().languages.contains(&Language::CudaCpp), "{:?}", backend.caps().languages);
    Some((display, Arc::new(backend)))
}

/// Frames are what their kernels wrote, in buffers and in images, none waited for.
#[test]
fn frames_are_as_they_were_written() {
    let Some((display, backend)) = open() else { return };
    let kernel = backend.build(&cuda("bytes", BYTES)).unwrap();
    let (width, height) = (321, 123);
    for path in [PathId::IN_QUEUE_IN_PLACE, PathId::IN_QUEUE_UPLOAD, PathId::IN_QUEUE_TEXTURE] {
        let texture = path == PathId::IN_QUEUE_TEXTURE;
        let access = if texture { ImageAccess::Texture } else { ImageAccess::Any };
        let desc = SurfaceDesc::Image(ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(access));
        let policy = Policy::default().with_force(path);
        let backend: Arc<dyn ComputeBackend> = backend.clone();
        let mut link = Link::open(backend, display.clone(), desc, LinkOptions::new(policy)).unwrap();
        for seed in 0..80 {
            link.frame(|frame| frame.launch(kernel.as_ref(), &[Arg::I32(seed)])).unwrap();
            if seed % 8 == 7 {
                let found = link.read_back().unwrap();
                for (x, y) in [(0, 0), (320, 0), (0, 122), (320, 122), (160, 61)] {
                    let wanted: Vec<u8> = (0..4).map(|i| byte(x, y, i, seed)).collect();
                    let at = (y * width + x) as usize * 4;
                    assert_eq!(found[at..at + 4], wanted[..], "{path}, frame {seed}, pixel {x}, {y}");
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
        ptx::threads_build_beside_one_another(|| VulkanBackend::open(&options()).unwrap());
    }
}

/// No device of a CPU has the extension.
#[test]
fn what_no_driver_runs_is_refused_and_says_why() {
    let Some(plain) = display() else { return };
    let asks = VulkanDisplay::headless(&VulkanOptions::default().with_name(device()).with_ptx(true)).unwrap();
    for (display, says) in [(plain, "without VulkanOptions::ptx"), (asks, "no VK_NVX_binary_import")] {
        if display.takes_ptx().is_yes() {
            continue;
        }
        let backend = VulkanBackend::on(&display).unwrap();
        assert!(!backend.caps().languages.contains(&Language::CudaCpp));
        let said = backend.build(&cuda("bytes", BYTES)).err().unwrap().to_string();
        assert!(said.contains(says), "{said}");
    }
    let Some(engine) = Engine::make(false) else { return };
    // SAFETY: what is wrong of it is found before it is used.
    let said = unsafe { VulkanDisplay::from_engine(engine.described().with_ptx()) }.err().unwrap().to_string();
    assert!(said.contains("made without VK_NVX_binary_import"), "{said}");
}
