//! One backend and one kernel used by several threads.

use crate::suite::{content, on_every_device, vouched};
use interop_core::conformance::pattern_in;
use interop_core::{Arg, BufferView, ComputeBackend, Extent, PixelFormat, Target, View};
use opencl_backend::OpenClBackend;

fn shared_between_threads<T: Send + Sync>() {}

#[test]
fn launches_keep_their_own_arguments() {
    shared_between_threads::<OpenClBackend>();
    on_every_device(|backend| {
        let text = "__kernel void k(PF_IMAGE(float, out), uint n) {
                      int x = get_global_id(0), y = get_global_id(1);
                      if (x < out_width && y < out_height) PF_AT(out, x, y) = as_float(n);
                    }";
        let kernel = backend.build(&vouched("k", text)).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                let kernel = &kernel;
                scope.spawn(move || {
                    let mut memory = backend.allocate(33 * 17 * 4).unwrap();
                    for turn in 0..50 {
                        let n = 1 + thread * 1000 + turn;
                        let target = Target::image(memory.as_mut(), Extent::new(33, 17), PixelFormat::R32F).unwrap();
                        backend.launch(kernel.as_ref(), target, &[Arg::U32(n)]).unwrap();
                        assert!(content(memory.as_mut()) == n.to_ne_bytes().repeat(33 * 17), "{thread}/{turn}");
                    }
                });
            }
        });
    });
}

#[test]
fn the_pattern_and_transfers_work_from_several_threads() {
    on_every_device(|backend| {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let view = View::Buffer(BufferView { offset: 0, len: 5000 + thread });
                scope.spawn(move || pattern_in(backend, view, thread as u32).unwrap());
            }
        });
    });
}
