//! On a machine without CUDA: everything says so, and nothing panics.

use cuda_backend::{CudaBackend, Variant, compile_ptx, devices};
use interop_core::Error;
use pixelferry_testing::has;

#[test]
fn missing_cuda_is_unavailable() {
    let missing = match devices() {
        Ok(found) => Err(format!("{found:?}")),
        Err(error) => Ok(error),
    };
    let Some(error) = has("CUDA that is missing", "this machine", missing) else { return };
    let Error::Unavailable { what, reason, hint } = error else { panic!("{error}") };
    assert!(!what.is_empty() && !reason.is_empty() && !hint.is_empty());
    assert!(matches!(CudaBackend::open_best(), Err(Error::Unavailable { .. })));
}

#[test]
fn missing_compiler_is_unavailable() {
    match compile_ptx("k", "extern \"C\" __global__ void k(PF_BUFFER(int, out)) {}", 50, Variant::Linear) {
        Ok(ptx) => assert!(ptx.entry == "k" && ptx.text.contains(".entry k(")),
        // A compiler that is too new for this architecture.
        Err(Error::Unsupported { .. }) => {}
        Err(Error::Unavailable { hint, .. }) => assert!(hint.contains("nvidia-cuda-nvrtc")),
        Err(e) => panic!("{e}"),
    }
}
