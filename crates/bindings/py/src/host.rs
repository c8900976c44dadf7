//! The threads of stages, and how work gets there.
//!
//! OpenGL contexts and windows stay on the thread that made them, but Python calls from any thread, and its garbage
//! collector drops on any. Each viewer without a window therefore has a stage thread of its own, and all windows share
//! one ([`crate::window`]), because a process can have only one event loop. Callers wait with the interpreter released.

use crate::failure::{Failure, check_process};
use crate::job::{Job, answered, awaited, closed, guarded};
use crate::stage::Stage;
use crate::window::WindowHandle;
use pixelferry::driver::describe::panics::ended;
use pixelferry::driver::describe::process::{self, ForkGuard};
use pixelferry::driver::describe::threads;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

/// Where a viewer's stage is.
pub enum Host {
    Thread(StageThread),
    Window(WindowHandle),
}

impl Host {
    /// Runs `work` there and waits for it. Do not call this with the interpreter attached.
    pub fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Stage) -> Result<R, Failure> + Send + 'static,
    ) -> Result<R, Failure> {
        let post = |job| match self {
            Self::Thread(thread) => thread.post(job),
            Self::Window(window) => window.post(job),
        };
        let work = |stage: &mut Stage| guarded(|| work(stage)).map_err(|failure| stage.explained(failure));
        answered(post, work)?
    }

    /// Returns whether the program closed it, rather than the user.
    pub fn was_closed_by_program(&self) -> bool {
        match self {
            Self::Thread(thread) => !thread.is_open(),
            Self::Window(window) => window.was_closed_by_program(),
        }
    }

    /// Returns whether it accepts work.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Thread(thread) => thread.is_open(),
            Self::Window(window) => window.is_open(),
        }
    }

    /// Ends the stage and waits for that. May be called again.
    pub fn close(&self) {
        match self {
            Self::Thread(thread) => thread.close(),
            Self::Window(window) => window.close(),
        }
    }
}

/// A thread with a stage.
pub struct StageThread(ForkGuard<Mutex<Option<Open>>>);

/// Sends work, and is joined at the end.
type Open = (Sender<Job>, JoinHandle<()>);

impl StageThread {
    /// Starts the thread, which calls `make`.
    pub fn start(make: impl FnOnce() -> Result<Stage, Failure> + Send + 'static) -> Result<Self, Failure> {
        process::check("drawing")?;
        let (sender, jobs) = channel::<Job>();
        let (ready, made) = channel();
        let work = move || {
            let mut stage = match guarded(make) {
                Ok(stage) => stage,
                Err(failure) => return drop(ready.send(Err(failure))),
            };
            if ready.send(Ok(())).is_ok() {
                serve(&mut stage, &jobs);
            }
        };
        let thread = threads::spawn("pixelferry", work);
        let thread = thread.map_err(|e| Failure::Device(format!("cannot start a thread: {e}")))?;
        awaited(&made)?.ok_or_else(closed)??;
        Ok(Self(ForkGuard::new(Mutex::new(Some((sender, thread))))))
    }

    pub fn post(&self, job: Job) -> Result<(), Failure> {
        check_process(self.0.mark(), "the object")?;
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((sender, _)) = open.as_ref() else { return Err(closed()) };
        sender.send(job).map_err(|_| closed())
    }

    pub fn is_open(&self) -> bool {
        self.0.mark().is_here() && self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    pub fn close(&self) {
        if !self.0.mark().is_here() {
            return;
        }
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((sender, thread)) = open {
            // The thread ends after the work that it was given.
            drop(sender);
            let _ = ended(thread.join());
        }
    }
}

fn serve(stage: &mut Stage, jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        job(stage);
    }
}
