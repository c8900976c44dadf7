//! Commands that are submitted together, as audits do.

use super::{Both, both};
use crate::kernels::FILL;
use interop_core::describe::panics;
use interop_core::{
    Arg, BufferView, ComputeBackend, ComputeMemory, Display, Error, Kernel, KernelSource, Link, LinkOptions,
    SurfaceDesc, Target, View,
};
use pixelferry_vulkan::VulkanDisplay;
use std::thread;

fn fill(backend: &dyn ComputeBackend, kernel: &dyn Kernel, memory: &mut dyn ComputeMemory, value: u32) {
    let view = View::Buffer(BufferView { offset: 0, len: memory.len() });
    backend.launch(kernel, Target::new(memory, view).unwrap(), &[Arg::U32(value)]).unwrap();
}

fn found(memory: &mut dyn ComputeMemory) -> [u8; 4] {
    let mut found = [0; 4];
    memory.read(0, &mut found).unwrap();
    found
}

/// Number of the display's last submission; `None` without timeline semaphores.
fn submissions(display: &VulkanDisplay, link: &Link) -> Option<u64> {
    Some(display.surface_frame(link.shown().unwrap().surface()).unwrap().ready?.value)
}

#[test]
fn commands_of_a_batch_are_one_submission_and_a_wait_inside_ends_it_early() {
    let Some(Both { display, backend }) = both() else { return };
    let kernel = backend.build(&KernelSource::new("fill").wgsl(FILL)).unwrap();
    let mut link =
        Link::open(backend.clone(), display.clone(), SurfaceDesc::buffer(64), LinkOptions::default()).unwrap();
    link.frame(|next| next.launch(kernel.as_ref(), &[Arg::U32(7)])).unwrap();
    let mut memory: Vec<_> = (0..8).map(|_| backend.allocate(64).unwrap()).collect();
    backend.finish().unwrap();

    let before = submissions(&display, &link);
    display
        .batch(&mut || {
            for (number, memory) in (1..).zip(&mut memory) {
                fill(backend.as_ref(), kernel.as_ref(), memory.as_mut(), number);
            }
            // Memory that the commands use is dropped before they are submitted.
            let mut dropped = backend.allocate(64)?;
            fill(backend.as_ref(), kernel.as_ref(), dropped.as_mut(), 9);
            display.batch(&mut || {
                fill(backend.as_ref(), kernel.as_ref(), memory[0].as_mut(), 10);
                Ok(())
            })
        })
        .unwrap();
    if let Some(before) = before {
        assert_eq!(submissions(&display, &link), Some(before + 1));
    }
    for (number, memory) in [10_u32, 2, 3, 4, 5, 6, 7, 8].into_iter().zip(&mut memory) {
        assert_eq!(found(memory.as_mut()), number.to_ne_bytes());
    }

    display
        .batch(&mut || {
            for number in 20..25_u32 {
                fill(backend.as_ref(), kernel.as_ref(), memory[0].as_mut(), number);
                assert_eq!(found(memory[0].as_mut()), number.to_ne_bytes());
            }
            fill(backend.as_ref(), kernel.as_ref(), memory[1].as_mut(), 30);
            backend.finish()
        })
        .unwrap();
    assert_eq!(found(memory[1].as_mut()), 30_u32.to_ne_bytes());
}

#[test]
fn a_batch_that_fails_or_panics_leaves_the_display_usable() {
    let Some(Both { display, backend }) = both() else { return };
    let kernel = backend.build(&KernelSource::new("fill").wgsl(FILL)).unwrap();
    let mut memory = backend.allocate(64).unwrap();
    let failed = display.batch(&mut || {
        fill(backend.as_ref(), kernel.as_ref(), memory.as_mut(), 1);
        Err(Error::invalid("batch", "the test fails"))
    });
    assert!(failed.unwrap_err().to_string().contains("the test fails"));
    assert_eq!(found(memory.as_mut()), 1_u32.to_ne_bytes());

    let panicked = panics::catch(|| {
        display.batch(&mut || {
            let mut lost = backend.allocate(64)?;
            fill(backend.as_ref(), kernel.as_ref(), lost.as_mut(), 2);
            panic!("the test panics")
        })
    });
    assert_eq!(panicked.unwrap_err().message(), "the test panics");
    for number in 3..50_u32 {
        fill(backend.as_ref(), kernel.as_ref(), memory.as_mut(), number);
        assert_eq!(found(memory.as_mut()), number.to_ne_bytes());
    }
}

#[test]
fn other_threads_wait_with_their_commands_and_lose_none() {
    let Some(Both { display, backend }) = both() else { return };
    let kernel = backend.build(&KernelSource::new("fill").wgsl(FILL)).unwrap();
    thread::scope(|scope| {
        for thread in 0..3_u32 {
            let (display, backend, kernel) = (&display, &backend, &kernel);
            scope.spawn(move || {
                let mut memory = backend.allocate(64).unwrap();
                for turn in 0..100_u32 {
                    let value = thread << 16 | turn;
                    let mut work = || {
                        for step in 0..3 {
                            fill(backend.as_ref(), kernel.as_ref(), memory.as_mut(), value << 2 | step);
                        }
                        Ok(())
                    };
                    // One thread has no batches.
                    if thread == 0 {
                        work().unwrap()
                    } else {
                        display.batch(&mut work).unwrap()
                    }
                    assert_eq!(found(memory.as_mut()), (value << 2 | 2).to_ne_bytes());
                }
            });
        }
    });
}
