//! Events: user events, failures, callbacks, status, times.

use super::rig::{Lacks, Outcome, Rig, bytes, ensure, items, mixed, same};
use interop_core::compute::{HostStorage, UserEvent, now};
use interop_core::describe::panics::catch;
use pixelferry::{ComputeBackend, CpuBackend, Error, EventStatus, HostBuffer, QueueOptions};
use std::panic::panic_any;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

pub fn held(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let (mut out, a) = (rig.memory(100, 1), rig.memory(100, 2));
    let (user, wait) = rig.held();
    let event = rig.mix(queue.as_ref(), out.as_mut(), a.as_ref(), 5, &wait)?;
    let read = queue.read(out.as_ref(), 0..400, &[])?;
    std::thread::sleep(Duration::from_millis(20));
    same("status", (event.status(), read.event().status()), (EventStatus::Queued, EventStatus::Queued))?;
    // From another thread, while this one waits.
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        user.complete();
    });
    same("items", items(&read.wait()?), vec![mixed(1, 2, 5); 100])?;
    same("status", event.status(), EventStatus::Complete)
}

pub fn failed(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let mut out = rig.memory(100, 1);
    for dropped in [false, true] {
        let (user, wait) = rig.held();
        let first = queue.fill(out.as_mut(), 0..400, &[9], &wait)?;
        let second = queue.read(out.as_ref(), 0..400, std::slice::from_ref(&first))?;
        // Ordered after them, but not made to wait for their success.
        let third = queue.read(out.as_ref(), 0..400, &[])?;
        if dropped {
            drop(user)
        } else {
            user.fail("the disk is full")
        }
        let error = first.wait().unwrap_err();
        ensure("the error's kind", matches!(error, Error::EventFailed { .. }))?;
        ensure("the reason is lost", dropped || error.to_string().contains("the disk is full"))?;
        ensure("a failure was not passed on", second.wait().is_err())?;
        same("status", first.status(), EventStatus::Failed)?;
        same("the command ran nonetheless", items(&third.wait()?), vec![1; 100])?;
        // An event that has failed already.
        ensure("late", queue.fill(out.as_mut(), 0..400, &[9], &[first])?.wait().is_err())?;
    }
    Ok(())
}

pub fn deep_chain(rig: &Rig) -> Outcome {
    let queue = rig.queue(QueueOptions::out_of_order());
    let (user, [mut last]) = rig.held();
    for _ in 0..10_000 {
        last = queue.marker(&[last])?;
    }
    user.fail("on purpose");
    ensure("the failure was lost on its way", last.wait().is_err())
}

pub fn foreign(rig: &Rig) -> Outcome {
    let cpu = CpuBackend::new()?;
    let (other, queue) = (cpu.queue(QueueOptions::in_order())?, rig.in_order());
    let mut m = rig.memory(10, 3);
    let user = UserEvent::new();
    let there = other.marker(&[user.event()])?;
    let here = queue.fill(m.as_mut(), 0..40, &[0], &[there])?;
    let back = other.marker(std::slice::from_ref(&here))?;
    ensure("it did not wait", !here.is_settled())?;
    user.complete();
    back.wait()?;
    same("status", here.status(), EventStatus::Complete)
}

pub fn callbacks(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let mut m = rig.memory(10, 3);
    let count = Arc::new(AtomicU32::new(0));
    let (user, wait) = rig.held();
    let event = queue.fill(m.as_mut(), 0..40, &[0], &wait)?;
    let (sender, receiver) = mpsc::channel();
    let add = |by: u32| {
        let (count, sender) = (count.clone(), sender.clone());
        move |outcome: &pixelferry::Result<()>| {
            assert!(outcome.is_ok());
            count.fetch_add(by, Ordering::Relaxed);
            let _ = sender.send(());
        }
    };
    event.on_complete(add(1));
    event.on_complete(|_| panic!("a callback's panic, on purpose"));
    event.on_complete(add(10));
    user.complete();
    event.wait()?;
    // The event is complete before its callbacks are called.
    for _ in 0..2 {
        receiver.recv()?;
    }
    event.on_complete(add(100));
    same("calls", count.load(Ordering::Relaxed), 111)?;
    event.on_complete(|_| panic!("a late callback's panic, on purpose"));
    // The threads are still there.
    queue.fill(m.as_mut(), 0..40, &[0], &[])?.wait()?;
    Ok(())
}

/// Payload of a panic, and memory that a command is given: whoever drops it panics.
struct Bomb(Vec<u8>);

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in a drop, on purpose");
    }
}

// SAFETY: the vector's own bytes, which stay where they are until it is dropped.
unsafe impl HostStorage for Bomb {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

pub fn bombs(rig: &Rig) -> Outcome {
    let bomb = |_: &pixelferry::Result<()>| panic_any(Bomb(Vec::new()));
    for options in [QueueOptions::in_order(), QueueOptions::out_of_order()] {
        let queue = rig.queue(options);
        let mut m = rig.memory(10, 3);
        // As many as there are threads, and more.
        for n in 0..20 {
            let user = UserEvent::new();
            user.event().on_complete(bomb);
            user.complete();
            let given_up = UserEvent::new();
            let event = given_up.event();
            event.on_complete(bomb);
            let unwound = catch(move || {
                let _given_up = given_up;
                panic!("with an event on the way, on purpose");
            });
            ensure("the event lives on", unwound.is_err() && event.outcome().is_some_and(|o| o.is_err()))?;
            let (user, wait) = rig.held();
            let event = queue.fill(m.as_mut(), 0..40, &[n], &wait)?;
            event.on_complete(bomb);
            user.complete();
            event.wait()?;
            let storage = HostBuffer::with_storage(Box::new(Bomb(vec![n; 4])));
            // The command may be told to have failed where its own thread drops the storage first.
            let _ = queue.write(m.as_mut(), 0, storage, &[])?.wait();
        }
        same("items", items(&queue.read(m.as_ref(), 4..40, &[])?.wait()?), vec![0x1313_1313; 9])?;
    }
    Ok(())
}

pub fn status(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let (mut out, a) = (rig.memory(1 << 20, 1), rig.memory(1 << 20, 2));
    for k in 0..10 {
        let event = rig.mix(queue.as_ref(), out.as_mut(), a.as_ref(), k, &[])?;
        let mut last = EventStatus::Queued;
        while last < EventStatus::Complete {
            let status = event.status();
            ensure("the status went back", status >= last)?;
            last = status;
        }
        same("status", last, EventStatus::Complete)?;
        ensure("outcome", event.outcome().is_some_and(|o| o.is_ok()))?;
    }
    Ok(())
}

pub fn profiling(rig: &Rig) -> Outcome {
    let (mut out, a) = (rig.memory(1 << 18, 1), rig.memory(1 << 18, 2));
    let plain = rig.in_order();
    let event = rig.mix(plain.as_ref(), out.as_mut(), a.as_ref(), 1, &[])?;
    event.wait()?;
    ensure("times without profiling", event.profile().is_none())?;
    let opening = now();
    let queue = match rig.backend.queue(QueueOptions::in_order().with_profiling()) {
        Err(Error::Unsupported { reason, .. }) => return Err(Lacks(reason).into()),
        other => other?,
    };
    // A device's clock is set against the host's meanwhile, so it is off by less than that took; and a clock runs unevenly.
    let slack = now() - opening + 500_000;
    let mut ends = 0;
    for k in 0..5 {
        let begin = now();
        let event = if k == 4 {
            queue.write(out.as_mut(), 0, bytes(&[1; 1000]).into(), &[])?
        } else {
            rig.mix(queue.as_ref(), out.as_mut(), a.as_ref(), k, &[])?
        };
        // Asked in this order: it may end between the two.
        ensure("times of what is not over", event.profile().is_none() || event.is_settled())?;
        event.wait()?;
        let (p, end) = (event.profile().ok_or("no times")?, now());
        let rising = begin <= p.queued && p.queued <= p.submitted && p.started <= p.ended;
        let near = p.submitted <= p.started + slack && p.ended <= end + slack && ends <= p.started + slack;
        ends = p.ended;
        ensure(&format!("{begin} {p:?} {end}"), rising && near)?;
    }
    Ok(())
}
