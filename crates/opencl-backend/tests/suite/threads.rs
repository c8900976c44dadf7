//! One backend and one kernel used by several threads.

use crate::{content, on_every_device, vouched};
use interop_core::describe::pattern::Pattern;
use interop_core::{Arg, ComputeBackend, Extent, PixelFormat, Target};
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
                scope.spawn(move || {
                    let mut memory = backend.allocate(5000 + thread).unwrap();
                    let target = Target::buffer(memory.as_mut());
                    let view = target.view();
                    let pattern = Pattern::for_view(&view, thread as u32);
                    backend.write_pattern(target, &pattern).unwrap();
                    let mut expected = vec![0; memory.len()];
                    pattern.write(&view, &mut expected);
                    let all = 0..memory.len();
                    memory
                        .map_read(all, &mut |bytes| {
                            assert!(bytes == expected);
                            Ok(())
                        })
                        .unwrap();
                });
            }
        });
    });
}
