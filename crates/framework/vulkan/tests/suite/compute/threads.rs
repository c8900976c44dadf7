//! Other threads: refused, and what they drop goes later.

use super::{Both, both};
use crate::kernels::FILL;
use interop_core::{Arg, BufferView, ComputeBackend, Error, KernelSource, Result, Target, View};
use pixelferry_vulkan::VulkanBackend;
use std::sync::Arc;

#[track_caller]
fn refused<T>(result: Result<T>) {
    let error = result.err().unwrap();
    assert!(matches!(error, Error::InvalidInput { .. }) && error.to_string().contains("thread"), "{error}");
}

#[test]
fn another_thread_is_refused_and_what_it_drops_goes_later() {
    let Some(Both { display, backend }) = both() else { return };
    let source = KernelSource::new("fill").wgsl(FILL);
    let kernel = backend.build(&source).unwrap();
    let kept = backend.build(&source).unwrap();
    std::thread::scope(|scope| {
        let there = scope.spawn(|| {
            refused(backend.allocate(16).map(drop));
            refused(backend.finish());
            refused(backend.build(&source).map(drop));
            drop(kernel);
        });
        there.join().unwrap();
    });
    let mut memory = backend.allocate(64).unwrap();
    let view = View::Buffer(BufferView { offset: 0, len: 64 });
    backend.launch(kept.as_ref(), Target::new(memory.as_mut(), view).unwrap(), &[Arg::U32(7)]).unwrap();
    let mut found = [0; 64];
    memory.read(0, &mut found).unwrap();
    assert_eq!(found[..4], 7_u32.to_ne_bytes());
    drop((memory, backend));
    // The backend goes with the thread that has its last handle.
    let backend = Arc::new(VulkanBackend::on(&display).unwrap());
    std::thread::spawn(move || drop(backend)).join().unwrap();
    VulkanBackend::on(&display).unwrap().finish().unwrap();
}
