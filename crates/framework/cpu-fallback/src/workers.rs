//! The threads of a queue.

use interop_core::compute::{Completer, no_thread, now};
use interop_core::describe::PlainMutex;
use interop_core::describe::panics::catch;
use interop_core::describe::process::ForkGuard;
use interop_core::describe::threads;
use interop_core::{Error, Result};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// An operation that is ready to start.
pub(crate) struct Job {
    pub(crate) completer: Completer,
    pub(crate) work: Box<dyn FnOnce() -> Result<()> + Send>,
}

/// Sender of a queue's jobs to its worker threads. The threads end when this is dropped and all jobs are done.
pub(crate) struct Workers {
    sender: ForkGuard<Sender<Job>>,
}

impl Workers {
    pub(crate) fn new(threads: usize, profiling: bool) -> Result<Self> {
        let (sender, receiver) = channel();
        let receiver = Arc::new(PlainMutex::new(receiver));
        for index in 0..threads {
            let receiver = receiver.clone();
            let name = format!("pixelferry-queue-{index}");
            // Threads that were started end with the sender.
            threads::spawn(name, move || work(&receiver, profiling)).map_err(no_thread)?;
        }
        Ok(Self { sender: ForkGuard::new(sender) })
    }

    pub(crate) fn start(&self, job: Job) {
        if let Err(forked) = self.sender.mark().check("a queue's threads") {
            return job.completer.complete_profiled(Err(forked), None);
        }
        // Fails only where every thread has ended; the job's event fails when the job is dropped.
        let _ = self.sender.send(job);
    }
}

fn work(receiver: &PlainMutex<Receiver<Job>>, profiling: bool) {
    let next = || receiver.lock().recv();
    while let Ok(Job { completer, work }) = next() {
        completer.running();
        let started = now();
        // A kernel's panic was caught before; values that the work owns may panic when they are dropped.
        let outcome = catch(work).unwrap_or_else(|panic| Err(Error::EventFailed { reason: panic.to_string() }));
        completer.complete_profiled(outcome, profiling.then(|| (started, now())));
    }
}
