//! CUDA and OpenGL on one GPU.

use cuda_backend::CudaBackend;
use interop_core::{Display, Error};
use pixelferry_gl::{GlDisplay, HeadlessOptions};
use pixelferry_testing::{Need, need};
use std::sync::Arc;

/// A display that a GPU draws. `None` after saying SKIPPED.
pub fn by_a_gpu<D: Display>(made: Result<Arc<D>, Error>, needed: Need) -> Option<Arc<D>> {
    let made = made.map_err(|error| error.to_string()).and_then(|display| match display.device().software {
        true => Err(format!("the CPU draws here: {}", display.device())),
        false => Ok(display),
    });
    need(needed, made).inspect(|display| println!("{:?}\n{:?}", display.device(), display.caps()))
}

/// Backend and display, on a thread of its own because a context stays on its thread.
pub fn with_both(f: impl FnOnce(CudaBackend, Arc<GlDisplay>) + Send + 'static) {
    let Some(backend) = crate::suite::common::gpu() else { return };
    if let Some(display) = by_a_gpu(GlDisplay::headless(HeadlessOptions::default()), Need::NvidiaGl) {
        f(backend, display);
    }
}
