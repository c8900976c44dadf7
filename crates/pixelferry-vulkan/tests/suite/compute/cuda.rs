//! Kernels of CUDA's in the display's queue: on an NVIDIA GPU by `PIXELFERRY_GPU=1`, and refused elsewhere.

use crate::ptx::{self, BYTES, cuda};
use crate::{device, display, engine::Engine};
use interop_core::{ComputeBackend, Display, ImageAccess, Language, Link, PathId};
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
    let in_memory = [PathId::IN_QUEUE_IN_PLACE, PathId::IN_QUEUE_UPLOAD].map(|path| (path, ImageAccess::Any));
    let paths = [in_memory[0], in_memory[1], (PathId::IN_QUEUE_TEXTURE, ImageAccess::Texture)];
    let seen = |link: &mut Link| link.read_back().unwrap();
    ptx::frames_are_as_they_were_written((backend, display), &paths, 4, |_, _| (), seen);
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
