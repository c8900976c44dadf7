//! The thread that owns the layer's context. All OpenGL work is done there, so that no thread of the program loses its
//! current context.

use super::glx;
use super::signals::without_signals;
use super::system::OwnContext;
use super::work::{TextureUnits, WorkContext};
use crate::codes::{INVALID_OPERATION, OUT_OF_HOST_MEMORY};
use crate::edge::caught;
use crate::explain::refuse;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, Once, PoisonError};
use std::thread::JoinHandle;

/// Threads that are ending on their own, because they released the last object of a context.
static ENDING: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// Joins them before the window system's own exit, because they destroy a context.
extern "C" fn wait_for_ending() {
    let ending = std::mem::take(&mut *ENDING.lock().unwrap_or_else(PoisonError::into_inner));
    ending.into_iter().for_each(|handle| drop(handle.join()));
}

type Job = Box<dyn FnOnce(&mut WorkContext) + Send>;

pub struct GlThread {
    /// `None` once the thread is ending.
    jobs: Option<Sender<Job>>,
    handle: Option<JoinHandle<()>>,
    /// A forked child does not have the thread.
    process: u32,
    display: usize,
}

impl GlThread {
    /// Starts the thread and makes the context current there.
    pub fn start(own: OwnContext, display: usize) -> Result<Self, i32> {
        static AT_EXIT: Once = Once::new();
        // SAFETY: the library is never unloaded.
        AT_EXIT.call_once(|| _ = unsafe { libc::atexit(wait_for_ending) });
        let (jobs, receiver) = channel();
        let (ready, started) = channel();
        let run = move || run(own, display, &receiver, &ready);
        let builder = std::thread::Builder::new().name("clgl".to_owned());
        let spawned = without_signals(|| builder.spawn(run));
        let handle = spawned.map_err(|e| refuse(OUT_OF_HOST_MEMORY, format_args!("cannot start a thread: {e}")))?;
        started.recv().map_err(|_| OUT_OF_HOST_MEMORY)??;
        Ok(Self { jobs: Some(jobs), handle: Some(handle), process: std::process::id(), display })
    }

    /// Refuses work that could not be done.
    pub fn check(&self) -> Result<(), i32> {
        if self.process != std::process::id() {
            return Err(refuse(INVALID_OPERATION, "a forked process does not have its parent's GL context"));
        }
        if glx::is_closed(self.display) {
            return Err(refuse(INVALID_OPERATION, "the program has closed the display of its GL context"));
        }
        Ok(())
    }

    /// Posts a job.
    pub fn post(&self, job: impl FnOnce(&mut WorkContext) + Send + 'static) -> Result<(), i32> {
        self.check()?;
        let jobs = self.jobs.as_ref().ok_or(INVALID_OPERATION)?;
        jobs.send(Box::new(job)).map_err(|_| INVALID_OPERATION)
    }

    /// Posts a job and waits for its result.
    pub fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut WorkContext) -> Result<T, i32> + Send + 'static,
    ) -> Result<T, i32> {
        let (answer, answered) = channel();
        self.post(move |work| {
            // The sender waits below.
            let _ = answer.send(job(work));
        })?;
        answered.recv().map_err(|_| OUT_OF_HOST_MEMORY)?
    }

    /// Finishes work for deleted objects, so that the thread ends with its context unless objects remain.
    pub fn settle(&self) {
        if self.handle.as_ref().is_some_and(|handle| handle.thread().id() != std::thread::current().id()) {
            let _ = self.ask(|_| Ok(()));
        }
    }
}

impl Drop for GlThread {
    fn drop(&mut self) {
        self.jobs = None;
        // The thread does not exist, or waits forever because its display is closed.
        let lost = self.process != std::process::id() || glx::is_closed(self.display);
        let Some(handle) = self.handle.take().filter(|_| !lost) else { return };
        if handle.thread().id() == std::thread::current().id() {
            ENDING.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
        } else {
            // Join, so that the program may close its display. A panic there was already handled.
            let _ = handle.join();
        }
    }
}

fn run(mut own: OwnContext, display: usize, jobs: &Receiver<Job>, ready: &Sender<Result<(), i32>>) {
    let entered = caught(|| {
        let (gl, robust) = own.enter()?;
        let units = TextureUnits::new(&gl);
        Ok(WorkContext { gl, robust, units })
    });
    let mut work = match entered {
        Ok(work) => work,
        Err(code) => {
            let _ = ready.send(Err(code));
            return;
        }
    };
    let _ = ready.send(Ok(()));
    while let Ok(job) = jobs.recv() {
        if glx::is_closed(display) {
            continue;
        }
        let _ = caught(|| {
            job(&mut work);
            Ok(())
        });
    }
    while glx::is_closed(display) {
        // Ending the thread would destroy its context, whose display is gone.
        std::thread::park();
    }
    drop(own);
}
