//! Values that are dropped or forgotten while operations are under way.

use super::rig::{Outcome, Rig, ensure, items, mixed, same};
use interop_core::compute::UserEvent;
use pixelferry::QueueOptions;

pub fn read_back(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let memory = rig.memory(100_000, 3);
    let mut last = None;
    for i in 0..100 {
        let (user, wait) = rig.held();
        let read = queue.read(memory.as_ref(), 0..400_000, if i % 2 == 0 { &wait } else { &[] })?;
        last = Some(read.event().clone());
        drop(read);
        user.complete();
    }
    Ok(last.map_or(Ok(()), |e| e.wait())?)
}

pub fn memory(rig: &Rig) -> Outcome {
    let queue = rig.queue(QueueOptions::out_of_order());
    let mut kept = rig.memory(50_000, 1);
    let (user, wait) = rig.held();
    let read = {
        let other = Rig::new(&rig.backend, rig.open);
        let (mut out, a) = (rig.memory(50_000, 1), rig.memory(50_000, 2));
        other.mix(queue.as_ref(), out.as_mut(), a.as_ref(), 7, &wait)?;
        queue.copy(out.as_ref(), 0..200_000, kept.as_mut(), 0, &[])?;
        for _ in 0..20 {
            // Under way, not kept, when its memory goes.
            other.mix(queue.as_ref(), rig.memory(50_000, 1).as_mut(), rig.memory(50_000, 1).as_ref(), 7, &[])?;
        }
        queue.read(kept.as_ref(), 0..200_000, &[])?
    };
    user.complete();
    same("items", items(&read.wait()?), vec![mixed(1, 2, 7); 50_000])
}

pub fn backend(rig: &Rig) -> Outcome {
    let (user, wait) = rig.held();
    let read = {
        let rig = Rig::new(&(rig.open)()?, rig.open);
        let queue = rig.in_order();
        let (mut out, a) = (rig.memory(1000, 1), rig.memory(1000, 2));
        rig.mix(queue.as_ref(), out.as_mut(), a.as_ref(), 7, &wait)?;
        queue.read(out.as_ref(), 0..4000, &[])?
    };
    ensure("it did not wait", !read.event().is_settled())?;
    user.complete();
    same("items", items(&read.wait()?), vec![mixed(1, 2, 7); 1000])
}

pub fn forgotten(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let memory = rig.memory(1000, 1);
    std::mem::forget(queue.read(memory.as_ref(), 0..4000, &[])?);
    let user = UserEvent::new();
    std::mem::forget(queue.read(memory.as_ref(), 0..4000, &[user.event()])?);
    // Never completed: what waits for it stays kept, and nothing else waits for that.
    std::mem::forget(user);
    let other = rig.in_order();
    std::mem::forget(queue);
    same("items", items(&other.read(memory.as_ref(), 0..4000, &[])?.wait()?), vec![1; 1000])
}
