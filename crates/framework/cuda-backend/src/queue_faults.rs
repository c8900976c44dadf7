//! Queues on a double in the driver's place: the right bytes, and every call made to fail once.

use crate::faults::{each_call_fails_once, let_threads_end, open};
use crate::ffi::double;
use interop_core::compute::{ReadBack, UserEvent};
use interop_core::{Arg, ComputeBackend, Error, KernelSource, QueueOptions, Result, Target};

/// The operation's own failure, where there is one.
fn bytes(read: ReadBack, expected: &[u8]) -> Result<()> {
    let found = read.wait()?;
    assert_eq!(&found[..], expected);
    Ok(())
}

fn queued() -> Result<()> {
    let backend = open()?;
    let in_order = backend.queue(QueueOptions::in_order().with_profiling())?;
    let any_order = backend.queue(QueueOptions::out_of_order())?;
    let (mut a, mut b) = (backend.allocate(64)?, backend.allocate(64)?);
    let ptx = include_str!("ptx/pattern.ptx");
    // SAFETY: the kernel writes its target, by its bounds; the double runs nothing.
    let kernel = backend.build(&unsafe { KernelSource::new("pf_pattern_buffer").ptx(ptx) })?;
    let args = [Arg::U32(1), Arg::U32(2), Arg::U32(3)];
    in_order.launch(kernel.as_ref(), Target::buffer(a.as_mut()), &args, &[])?.wait()?;
    in_order.write(a.as_mut(), 0, vec![1; 64].into(), &[])?.wait()?;
    for size in [1, 2, 4, 8] {
        any_order.fill(a.as_mut(), 0..16, &[size; 16][..usize::from(size)], &[])?.wait()?;
    }
    let pattern: Vec<u8> = (0..16).collect();
    any_order.fill(a.as_mut(), 16..32, &pattern, &[])?;
    let copied = any_order.copy(a.as_ref(), 8..40, b.as_mut(), 32, &[])?;
    let read = in_order.read(b.as_ref(), 32..64, &[copied])?;
    // The default stream, in between.
    backend.copy(b.as_ref(), a.as_mut(), 0..64)?;
    let user = UserEvent::new();
    let kept = in_order.read(a.as_ref(), 60..64, &[user.event()])?;
    user.complete();
    bytes(read, &[&[8; 8], &pattern[..], &[1; 8]].concat())?;
    bytes(kept, &[1; 4])?;
    any_order.barrier(&[])?.wait()
}

#[test]
fn queues_fail_cleanly() {
    each_call_fails_once(queued);
}

#[test]
fn a_lost_device_wakes_those_who_wait() {
    double::reset(None);
    {
        let backend = open().unwrap();
        let queue = backend.queue(QueueOptions::in_order()).unwrap();
        let memory = backend.allocate(64).unwrap();
        double::with(|s| s.failing_elsewhere = Some(("cuEventSynchronize", 719)));
        let first = queue.read(memory.as_ref(), 0..64, &[]).unwrap();
        let second = queue.marker(std::slice::from_ref(first.event())).unwrap();
        let error = first.wait().unwrap_err();
        assert!(matches!(error, Error::Driver(_)) && error.to_string().contains("context is lost"), "{error}");
        assert!(second.wait().is_err());
        double::with(|s| s.failing_elsewhere = None);
    }
    let_threads_end();
    assert_eq!(double::with(|s| s.live()), Vec::<&str>::new());
}

#[test]
fn pinned_memory_is_used_again_and_given_back() {
    double::reset(None);
    {
        let backend = open().unwrap();
        let queue = backend.queue(QueueOptions::in_order()).unwrap();
        let address = |b: &[u8]| b.as_ptr().addr();
        let first = queue.host_buffer(1000).unwrap();
        let at = address(&first);
        drop(first);
        let again = queue.host_buffer(800).unwrap();
        assert_eq!((address(&again), again.len()), (at, 800));
        assert_ne!(address(&queue.host_buffer(800).unwrap()), at, "in use");
        drop(again);
        assert_ne!(address(&queue.host_buffer(10).unwrap()), at, "far too large for that");
        assert!(matches!(queue.host_buffer(0), Err(Error::InvalidInput { .. })));
    }
    let_threads_end();
    assert_eq!(double::with(|s| s.live()), Vec::<&str>::new());
}
