//! CUDA and OpenGL on one GPU.

use cuda_backend::CudaBackend;
use gl_display::{GlDisplay, HeadlessOptions};
use interop_core::Display;
use std::rc::Rc;

/// Backend and display, on a thread of its own because a context stays on its thread.
pub fn with_both(f: impl FnOnce(CudaBackend, Rc<GlDisplay>) + Send + 'static) {
    let Some(backend) = super::gpu() else { return };
    match GlDisplay::headless(HeadlessOptions::default()) {
        Ok(display) => {
            println!("{:?}", display.device());
            if display.device().software {
                println!("SKIPPED: OpenGL is drawn by the CPU here: {}", display.device());
                return;
            }
            f(backend, display);
        }
        Err(e) => println!("SKIPPED: no OpenGL: {e}"),
    }
}
