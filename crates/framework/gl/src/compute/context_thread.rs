//! Where a backend's calls run: on the caller's thread, or on a thread with a context of its own.

use interop_core::describe::PlainMutex;
use interop_core::describe::process::ForkGuard;
use interop_core::describe::threads;
use interop_core::{Error, Result};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

type Job = Box<dyn FnOnce() + Send>;

/// The thread that has the context.
pub enum ContextThread {
    /// The thread on which the display's context is current; each call checks that it is the caller's.
    Callers,
    /// A thread of the backend.
    Own(Worker),
}

impl ContextThread {
    /// Runs `f` on that thread, and waits for it.
    pub fn run<R: Send + 'static>(&self, f: impl FnOnce() -> Result<R> + Send + 'static) -> Result<R> {
        match self {
            Self::Callers => f(),
            Self::Own(worker) => worker.run(f)?,
        }
    }
}

/// A thread that runs jobs in order, and ends when this is dropped.
pub struct Worker {
    /// `None` only during the drop.
    jobs: ForkGuard<Option<PlainMutex<Sender<Job>>>>,
    thread: ForkGuard<Option<JoinHandle<()>>>,
}

impl Worker {
    /// Starts the thread with the result of `make`, which runs there: a value that lives as long as the thread, and an
    /// answer.
    pub fn start<K: 'static, R: Send + 'static>(
        make: impl FnOnce() -> Result<(K, R)> + Send + 'static,
    ) -> Result<(Self, R)> {
        let (jobs, todo) = channel::<Job>();
        let (answer, answered) = channel();
        let body = move || match make() {
            Ok((kept, made)) => {
                if answer.send(Ok(made)).is_ok() {
                    todo.iter().for_each(|job| job());
                }
                drop(kept);
            }
            Err(error) => drop(answer.send(Err(error))),
        };
        let thread = threads::spawn("pixelferry gl", body);
        let thread = thread.map_err(|reason| {
            Error::unavailable("a thread for OpenGL", reason, "End other programs, or raise the limit of threads.")
        })?;
        let worker = Self { jobs: ForkGuard::new(Some(PlainMutex::new(jobs))), thread: ForkGuard::new(Some(thread)) };
        let made = answered.recv().map_err(|_| gone())??;
        Ok((worker, made))
    }

    fn run<R: Send + 'static>(&self, f: impl FnOnce() -> R + Send + 'static) -> Result<R> {
        let (answer, answered) = channel();
        let job = Box::new(move || drop(answer.send(f())));
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.lock().send(job).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())
    }
}

/// Error for a thread that has ended, which only a panic can cause.
fn gone() -> Error {
    Error::unavailable("the thread of OpenGL's backend", "it has panicked", "Open the backend again.")
}

impl Drop for Worker {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        *self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // A panic of the thread was already reported.
            let _ = thread.join();
        }
    }
}
