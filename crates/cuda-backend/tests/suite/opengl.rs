//! CUDA and OpenGL on one GPU.

use cuda_backend::CudaBackend;
use interop_core::Display;
use pixelferry_gl::{GlDisplay, HeadlessOptions};
use pixelferry_testing::{Need, need};
use std::rc::Rc;

/// Backend and display, on a thread of its own because a context stays on its thread.
pub fn with_both(f: impl FnOnce(CudaBackend, Rc<GlDisplay>) + Send + 'static) {
    let Some(backend) = crate::common::gpu() else { return };
    let display = GlDisplay::headless(HeadlessOptions::default()).map_err(|e| e.to_string());
    let drawn_by_gpu = display.and_then(|display| match display.device().software {
        true => Err(format!("OpenGL is drawn by the CPU here: {}", display.device())),
        false => Ok(display),
    });
    if let Some(display) = need(Need::NvidiaGl, drawn_by_gpu) {
        println!("{:?}", display.device());
        f(backend, display);
    }
}
