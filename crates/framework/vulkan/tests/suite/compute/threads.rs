//! Other threads use a backend in a display's queue, and drop what is left of it.

use super::{Both, both};
use crate::kernels::FILL;
use interop_core::{Arg, BufferView, ComputeBackend, KernelSource, Target, View};
use pixelferry_vulkan::VulkanBackend;
use std::sync::Arc;
use std::thread;

#[test]
fn each_thread_has_its_own_memory_and_all_have_one_kernel() {
    let Some(Both { display, backend }) = both() else { return };
    let kernel = backend.build(&KernelSource::new("fill").wgsl(FILL)).unwrap();
    let view = View::Buffer(BufferView { offset: 0, len: 64 });
    thread::scope(|scope| {
        for number in 0..4_u32 {
            let (backend, kernel) = (&backend, &kernel);
            scope.spawn(move || {
                for turn in 0..50 {
                    let mut memory = backend.allocate(64).unwrap();
                    let target = Target::new(memory.as_mut(), view).unwrap();
                    backend.launch(kernel.as_ref(), target, &[Arg::U32(number << 8 | turn)]).unwrap();
                    let mut found = [0; 64];
                    memory.read(0, &mut found).unwrap();
                    assert_eq!(found[..4], (number << 8 | turn).to_ne_bytes());
                }
            });
        }
    });
    drop((kernel, backend));
    // The backend goes with the thread that has its last handle.
    let backend = Arc::new(VulkanBackend::on(&display).unwrap());
    thread::spawn(move || drop(backend)).join().unwrap();
    VulkanBackend::on(&display).unwrap().finish().unwrap();
}
