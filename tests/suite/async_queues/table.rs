//! The cases by name, and what came of each on a backend.

use super::rig::{Lacks, Open, Outcome, Rig};
use super::{drops, errors, events, futures, order};
use pixelferry::driver::describe::panics::catch;
use pixelferry::{ComputeBackend, Error, QueueOptions};
use pixelferry_tests::receive;
use std::sync::{Arc, mpsc};

type Case = fn(&Rig) -> Outcome;

const CASES: &[(&str, Case)] = &[
    ("in order: a chain of commands", order::chain),
    ("several queues give what one gives", order::several_queues),
    ("out of order gives what in order gives", order::out_of_order),
    ("the backend's own calls take part", order::with_default_calls),
    ("fill, copy with offsets, ranges", order::ranges),
    ("barrier", order::barrier),
    ("marker", order::marker),
    ("flush and finish", order::finish),
    ("priorities", order::priorities),
    ("user event holds and lets go", events::held),
    ("failed user event fails what waits", events::failed),
    ("ten thousand failures in a chain", events::deep_chain),
    ("event of another backend in a wait list", events::foreign),
    ("callbacks, one of which panics", events::callbacks),
    ("panics that carry what panics again", events::bombs),
    ("status", events::status),
    ("profiling", events::profiling),
    ("bad input is refused, nothing is queued", errors::refused),
    ("memory of others is refused", errors::shared_memory),
    ("memory that says more than it has is refused", errors::boast),
    ("a future under pollster", futures::pollster),
    ("hundred read-backs at once under tokio", futures::tokio_many),
    ("timeout, select and cancellation under tokio", futures::tokio_cancel),
    ("a dropped future leaves no waker", futures::no_waker_left),
    ("read-backs are dropped early", drops::read_back),
    ("memory and kernel are dropped early", drops::memory),
    ("queue and backend are dropped early", drops::backend),
    ("everything is forgotten", drops::forgotten),
];

/// Runs all cases, prints the table, judges.
pub fn run(backend: &Arc<dyn ComputeBackend>, open: Open) {
    if let Err(Error::Unsupported { reason, .. }) = backend.queue(QueueOptions::in_order()) {
        panic!("{} has no queues: {reason}", backend.device());
    }
    let (rig, mut failed) = (Rig::new(backend, open), 0);
    println!("\n| {} | |\n|---|---|", backend.device());
    for (name, case) in CASES {
        let outcome = in_time(rig.clone(), *case);
        failed += usize::from(outcome.is_err());
        println!("| {name} | {} |", outcome.unwrap_or_else(|e| format!("FAIL: {e}")));
    }
    println!();
    assert_eq!(failed, 0, "see the table");
}

/// Returns what the table says.
fn verdict(outcome: Outcome) -> Result<String, String> {
    match outcome {
        Ok(()) => Ok("PASS".into()),
        Err(e) => e.downcast::<Lacks>().map(|lacks| lacks.to_string()).map_err(|e| e.to_string()),
    }
}

fn in_time(rig: Rig, case: Case) -> Result<String, String> {
    let (done, outcome) = mpsc::channel();
    let run = move || {
        let run = || verdict(case(&rig));
        let _ = done.send(catch(run).unwrap_or_else(|panic| Err(panic.to_string())));
    };
    std::thread::spawn(run);
    receive(&outcome).unwrap_or_else(|_| Err("it hangs".into()))
}
