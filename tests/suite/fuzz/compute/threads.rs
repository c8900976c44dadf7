//! Several threads at once.

use super::{Engine, World};
use crate::fuzz::kernels::stamp_all;
use crate::fuzz::{Choices, Turn, TurnResult, hold};
use pixelferry::{Arg, ComputeQueue, Event, Target, UserEvent};
use proptest::test_runner::TestCaseError;

/// Returns what one thread does with memory of its own, and queues that all share.
fn work(engine: &Engine, queues: &[(usize, &dyn ComputeQueue)], owner: usize, mut t: Choices) -> TurnResult {
    let mut memory = engine.backend.allocate(1 + t.below(3000))?;
    let mut expected = t.bytes(memory.len());
    memory.write(0, &expected)?;
    let own: Vec<_> = queues.iter().filter(|(of, _)| *of == owner).map(|(_, queue)| *queue).collect();
    let mut last: Option<Event> = None;
    for _ in 0..4 {
        let (seed, wait) = (t.word(), last.iter().filter(|_| t.one_in(2)).cloned().collect::<Vec<_>>());
        let target = Target::buffer(memory.as_mut());
        let kernel = engine.stamp()?;
        if own.is_empty() || t.one_in(3) {
            engine.backend.launch(kernel.as_ref(), target, &[Arg::U32(seed)])?;
        } else {
            last = Some(t.pick(&own).launch(kernel.as_ref(), target, &[Arg::U32(seed)], &wait)?);
        }
        stamp_all(&mut expected, seed);
    }
    let mut found = vec![0; expected.len()];
    match own.first() {
        Some(queue) if t.one_in(2) => {
            found = queue.read(memory.as_ref(), 0..found.len(), &[])?.wait()?.to_vec();
        }
        _ => memory.read(0, &mut found)?,
    }
    hold!(found == expected, "memory that one thread alone uses holds something else");
    Ok(())
}

impl World<'_> {
    /// Threads that allocate, launch, wait and drop beside each other.
    pub(super) fn beside(&mut self, t: &mut Turn) -> TurnResult {
        let queues: Vec<_> = self.queues.iter().map(|q| (q.owner, q.queue.as_ref())).collect();
        let engines = self.engines;
        t.did("compute: several threads", format_args!(""));
        let user = UserEvent::new();
        let awaited = user.event();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..3)
                .map(|_| {
                    let (owner, seed, queues) = (t.below(engines.len()), t.split(), &queues);
                    scope.spawn(move || work(&engines[owner], queues, owner, seed))
                })
                .collect();
            let waiter = scope.spawn(move || awaited.wait().is_ok());
            user.complete();
            hold!(waiter.join().is_ok_and(|ok| ok), "an event that was completed failed");
            for worker in workers {
                worker.join().map_err(|_| TestCaseError::fail("a thread panicked"))??;
            }
            Ok(())
        })
    }
}
