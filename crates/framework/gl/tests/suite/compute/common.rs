//! Helpers shared by the tests.

use crate::suite::paths::{conform, ran};
use cpu_fallback::MemoryDisplay;
use interop_core::conformance::Manner;
use interop_core::{ComputeBackend, Display, Error, PathId};
use pixelferry_gl::GlBackend;
use pixelferry_gl::{GlDisplay, HeadlessOptions};
use pixelferry_testing::{Need, by_level, has, need};
use std::sync::Arc;

/// A display, and the backend in its context.
pub struct Both {
    pub backend: Arc<dyn ComputeBackend>,
    pub display: Arc<GlDisplay>,
}

/// `None` after saying SKIPPED.
pub fn both() -> Option<Both> {
    let display = need(Need::Egl, GlDisplay::headless(HeadlessOptions::default()))?;
    let backend = match GlBackend::on(&display) {
        Err(error @ Error::Unsupported { .. }) => Err(error),
        other => Ok(other.unwrap()),
    };
    let name = interop_core::Display::device(display.as_ref()).to_string();
    let backend = has("compute shaders", name, backend)?;
    Some(Both { backend: Arc::new(backend), display })
}

/// The backend with a context of its own. `None` after saying SKIPPED.
pub fn alone() -> Option<Arc<dyn ComputeBackend>> {
    let backend = match GlBackend::open(&HeadlessOptions::default()) {
        Err(Error::Unsupported { reason, .. }) => return has("compute shaders", "OpenGL", Err(reason)),
        other => need(Need::Egl, other)?,
    };
    Some(Arc::new(backend))
}

/// The conformance suite, by way of the host.
pub fn conforms_in_plain_memory(backend: &Arc<dyn ComputeBackend>) {
    let display: Arc<dyn Display> = MemoryDisplay::new();
    let by_host = [PathId::HOST_ROUND_TRIP];
    let paths = by_level(&by_host[..], &PathId::ALL, &PathId::ALL);
    ran(&conform(backend, &display, Manner::default(), paths), &by_host);
}

/// Four memories.
pub const FILL: &str = "
@group(1) @binding(0) var<storage, read> a: array<u32>;
@group(1) @binding(1) var<storage, read> b: array<u32>;
@group(1) @binding(2) var<storage, read> c: array<u32>;
@group(1) @binding(3) var<storage, read> d: array<u32>;
@compute @workgroup_size(64)
fn fill(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = pf_index(id);
  pf_put(i, a[i] + b[i] + c[i] + d[i]);
}";
