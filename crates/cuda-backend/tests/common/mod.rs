//! What the tests on a GPU share.

#[allow(dead_code)] // not every test file uses it
pub mod opengl;

use cuda_backend::CudaBackend;
use interop_core::pattern::Pattern;
use interop_core::{ComputeBackend, ComputeMemory, Target, View};

/// The device, where `PIXELFERRY_GPU=1` says that there is one; a device that then cannot be opened is a failure.
pub fn gpu() -> Option<CudaBackend> {
    if std::env::var_os("PIXELFERRY_GPU").is_none_or(|v| v != "1") {
        println!("SKIPPED: needs an NVIDIA GPU; set PIXELFERRY_GPU=1 to run it");
        return None;
    }
    Some(CudaBackend::open_best().expect("PIXELFERRY_GPU=1, but CUDA cannot be opened"))
}

/// Fills memory with bytes that the pattern does not have there, writes the pattern into `view` and compares all bytes
/// with the reference: those outside must stay.
#[allow(dead_code)] // not every test file uses it
pub fn check_pattern(backend: &dyn ComputeBackend, memory: &mut dyn ComputeMemory, view: View, nonce: u32) {
    let mut expected = vec![0xa5; memory.len()];
    memory.write(0, &expected).unwrap();
    let pattern = Pattern::for_view(&view, nonce);
    backend.write_pattern(Target::new(memory, view).unwrap(), &pattern).unwrap();
    pattern.write(&view, &mut expected);
    let mut found = vec![0; memory.len()];
    memory.read(0, &mut found).unwrap();
    let at = found.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(at, None, "first wrong byte for {view:?}");
}
