//! The order of operations within and between queues.

use super::rig::{Outcome, Rig, bytes, ensure, items, mixed, same};
use interop_core::compute::Priority;
use pixelferry::{ComputeMemory, ComputeQueue, Error, QueueOptions};
use pixelferry_tests::{Dice, by_level};

pub fn chain(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let (mut out, mut a) = (rig.memory(1000, 0), rig.memory(1000, 0));
    queue.write(a.as_mut(), 0, bytes(&[7; 1000]).into(), &[])?;
    let mut expected = 0;
    for k in 0..50 {
        rig.mix(queue.as_ref(), out.as_mut(), a.as_ref(), k, &[])?;
        expected = mixed(expected, 7, k);
    }
    let read = queue.read(out.as_ref(), 0..4000, &[])?.wait()?;
    same("items", items(&read), vec![expected; 1000])
}

/// Random operations on few memories, dealt out to `queues` and (`by_default`) to the backend's own calls; the same one
/// after another on the host says what must come out.
fn dealt(rig: &Rig, queues: &[Box<dyn ComputeQueue>], by_default: bool, seed: u64) -> Outcome {
    const ITEMS: usize = 3000;
    let mut dice = Dice(seed);
    let mut memories: Vec<Box<dyn ComputeMemory>> = (0..4).map(|i| rig.memory(ITEMS, i)).collect();
    let mut model: Vec<Vec<u32>> = (0..4).map(|i| vec![i; ITEMS]).collect();
    let mut reads = Vec::new();
    for step in 0..300u32 {
        let (x, mut y) = (dice.below(4), dice.below(3));
        y += usize::from(y >= x);
        let ([out, a], [out_model, a_model]) = (pair(&mut memories, x, y), pair(&mut model, x, y));
        let (start, own) = (dice.below(ITEMS), by_default && dice.below(3) == 0);
        let len = 1 + dice.below(ITEMS - start);
        let (range, queue) = (4 * start..4 * (start + len), &queues[dice.below(queues.len())]);
        match dice.below(6) {
            0 | 1 => {
                if own {
                    rig.mix_by_default(out.as_mut(), a.as_ref(), step)?;
                } else {
                    rig.mix(queue.as_ref(), out.as_mut(), a.as_ref(), step, &[])?;
                }
                out_model.iter_mut().zip(a_model.iter()).for_each(|(v, a)| *v = mixed(*v, *a, step));
            }
            2 => {
                if own {
                    rig.backend.copy(a.as_ref(), out.as_mut(), range)?;
                } else {
                    queue.copy(a.as_ref(), range, out.as_mut(), 4 * start, &[])?;
                }
                out_model[start..start + len].copy_from_slice(&a_model[start..start + len]);
            }
            3 => {
                let new = bytes(&vec![step; len]);
                if own {
                    out.write(range.start, &new)?;
                } else {
                    queue.write(out.as_mut(), range.start, new.into(), &[])?;
                }
                out_model[start..start + len].fill(step);
            }
            4 => {
                queue.fill(out.as_mut(), range, &step.to_ne_bytes(), &[])?;
                out_model[start..start + len].fill(step);
            }
            _ if own => {
                let mut found = vec![0; 4 * len];
                out.read(range.start, &mut found)?;
                ensure("a read in between is wrong", items(&found) == out_model[start..start + len])?;
            }
            _ => reads.push((queue.read(out.as_ref(), range, &[])?, out_model[start..start + len].to_vec())),
        }
    }
    for (read, expected) in reads {
        ensure("a read-back in between is wrong", items(&read.wait()?) == expected)?;
    }
    for (memory, expected) in memories.iter_mut().zip(model) {
        let mut found = vec![0; 4 * ITEMS];
        memory.read(0, &mut found)?;
        ensure("the result is wrong", items(&found) == expected)?;
    }
    Ok(())
}

fn pair<T>(list: &mut [T], x: usize, y: usize) -> [&mut T; 2] {
    list.get_disjoint_mut([x, y]).unwrap()
}

pub fn several_queues(rig: &Rig) -> Outcome {
    (0..by_level(1, 4, 4))
        .try_for_each(|seed| dealt(rig, &[rig.in_order(), rig.in_order(), rig.in_order()], false, seed))
}

pub fn out_of_order(rig: &Rig) -> Outcome {
    let queues = [rig.queue(QueueOptions::out_of_order()), rig.queue(QueueOptions::out_of_order()), rig.in_order()];
    dealt(rig, &queues[..1], false, 10)?;
    (11..by_level(12, 14, 14)).try_for_each(|seed| dealt(rig, &queues, false, seed))
}

pub fn with_default_calls(rig: &Rig) -> Outcome {
    let queues = [rig.in_order(), rig.queue(QueueOptions::out_of_order())];
    (20..by_level(22, 24, 24)).try_for_each(|seed| dealt(rig, &queues, true, seed))
}

pub fn ranges(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let (mut a, mut b) = (rig.memory(16, 0), rig.memory(16, 0));
    for size in [1, 2, 4, 8, 16] {
        let pattern: Vec<u8> = (1..=size as u8).collect();
        queue.fill(a.as_mut(), 16..48, &pattern, &[])?;
        queue.fill(b.as_mut(), 0..64, &[0], &[])?;
        queue.copy(a.as_ref(), 16..48, b.as_mut(), 24, &[])?;
        let found = queue.read(b.as_ref(), 0..64, &[])?.wait()?;
        let expected: Vec<u8> =
            (0..64).map(|i| if (24..56).contains(&i) { pattern[(i - 24) % size] } else { 0 }).collect();
        same("bytes", found.to_vec(), expected)?;
    }
    let mut buffer = queue.host_buffer(8)?;
    same("a fresh buffer", buffer.len(), 8)?;
    buffer.copy_from_slice(&[9; 8]);
    queue.write(a.as_mut(), 3, buffer, &[])?;
    same("bytes", queue.read(a.as_ref(), 2..12, &[])?.wait()?[1..9].to_vec(), vec![9; 8])
}

pub fn barrier(rig: &Rig) -> Outcome {
    let queue = rig.queue(QueueOptions::out_of_order());
    let (mut m, mut n) = (rig.memory(8, 0), rig.memory(8, 0));
    let (user, wait) = rig.held();
    let before = queue.fill(m.as_mut(), 0..32, &[1], &wait)?;
    let barrier = queue.barrier(&[])?;
    let after = queue.fill(n.as_mut(), 0..32, &[1], &[])?;
    std::thread::sleep(std::time::Duration::from_millis(20));
    ensure("the barrier let something pass", !(before.is_settled() || barrier.is_settled() || after.is_settled()))?;
    user.complete();
    after.wait()?;
    ensure("the barrier did not hold", before.is_settled() && barrier.is_settled())
}

pub fn marker(rig: &Rig) -> Outcome {
    let queue = rig.queue(QueueOptions::out_of_order());
    let (mut m, mut n) = (rig.memory(8, 0), rig.memory(8, 0));
    let (user, wait) = rig.held();
    let held = queue.fill(m.as_mut(), 0..32, &[1], &wait)?;
    let free = queue.fill(n.as_mut(), 0..32, &[1], &[])?;
    queue.marker(&[free])?.wait()?;
    let all = queue.marker(&[])?;
    std::thread::sleep(std::time::Duration::from_millis(20));
    ensure("a marker ran ahead", !all.is_settled() && !held.is_settled())?;
    user.complete();
    all.wait()?;
    ensure("a marker ran ahead", held.is_settled())
}

pub fn finish(rig: &Rig) -> Outcome {
    for options in [QueueOptions::in_order(), QueueOptions::out_of_order()] {
        let queue = rig.queue(options);
        same("options", queue.options(), options)?;
        queue.finish()?;
        let mut memories: Vec<_> = (0..8).map(|_| rig.memory(100_000, 0)).collect();
        let mut events = Vec::new();
        for m in &mut memories {
            events.push(queue.fill(m.as_mut(), 0..400_000, &[1], &[])?);
        }
        queue.flush()?;
        queue.finish()?;
        ensure("finish came back early", events.iter().all(|e| e.is_settled()))?;
    }
    Ok(())
}

pub fn priorities(rig: &Rig) -> Outcome {
    for priority in [Priority::Low, Priority::Normal, Priority::High] {
        match rig.backend.queue(QueueOptions::in_order().with_priority(priority)) {
            Ok(queue) => queue.marker(&[])?.wait()?,
            Err(Error::Unsupported { .. }) if priority != Priority::Normal => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}
