//! Events: user events, failures, callbacks, status, times.

use crate::rig::{Lacks, Outcome, Rig, bytes, ensure, items, mixed, same};
use interop_core::compute::{UserEvent, now};
use pixelferry::{ComputeBackend, CpuBackend, Error, EventStatus, QueueOptions};
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
        receiver.recv_timeout(Duration::from_secs(10))?;
    }
    event.on_complete(add(100));
    same("calls", count.load(Ordering::Relaxed), 111)?;
    event.on_complete(|_| panic!("a late callback's panic, on purpose"));
    // The threads are still there.
    queue.fill(m.as_mut(), 0..40, &[0], &[])?.wait()?;
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
    let queue = match rig.backend.queue(QueueOptions::in_order().with_profiling()) {
        Err(Error::Unsupported { reason, .. }) => return Err(Lacks(reason).into()),
        other => other?,
    };
    // A device's clock is set against the host's to within this many nanoseconds.
    let slack = 500_000;
    let mut ends = 0;
    for k in 0..5 {
        let begin = now();
        let event = if k == 4 {
            queue.write(out.as_mut(), 0, bytes(&[1; 1000]).into(), &[])?
        } else {
            rig.mix(queue.as_ref(), out.as_mut(), a.as_ref(), k, &[])?
        };
        ensure("times of what is not over", event.is_settled() || event.profile().is_none())?;
        event.wait()?;
        let (p, end) = (event.profile().ok_or("no times")?, now());
        let rising = begin <= p.queued && p.queued <= p.submitted && p.started <= p.ended;
        let near = p.submitted <= p.started + slack && p.ended <= end + slack && ends <= p.started + slack;
        ends = p.ended;
        ensure(&format!("{begin} {p:?} {end}"), rising && near)?;
    }
    Ok(())
}
