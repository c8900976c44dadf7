//! The textures of a thread. An OpenGL context is current on one thread, while Python may drop objects on any. A Python
//! object is therefore only a [`Ticket`], and what it stands for stays on its thread.

use crate::failure::{Failure, check_process};
use crate::job::guarded;
use crate::raw::context::UserContext;
use crate::stage::{Screen, Settings, Stage};
use pixelferry::Display;
use pixelferry::driver::describe::panics::contain;
use pixelferry::driver::describe::process::ProcessMark;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

thread_local! {
    static HERE: RefCell<Stages> = RefCell::new(Stages::new());
}

/// Numbers of stages that were dropped on other threads.
type DroppedStages = Arc<Mutex<Vec<u64>>>;

struct Stages {
    process: ProcessMark,
    stages: HashMap<u64, Stage>,
    /// Contexts in use, and those with objects to delete.
    contexts: Vec<Rc<UserContext>>,
    dropped: DroppedStages,
}

impl Stages {
    fn new() -> Self {
        Self {
            process: ProcessMark::here(),
            stages: HashMap::new(),
            contexts: Vec::new(),
            dropped: DroppedStages::default(),
        }
    }

    /// Deletes dropped objects of the current context.
    fn tidy(&mut self) {
        let dropped = std::mem::take(&mut *self.dropped.lock().unwrap_or_else(PoisonError::into_inner));
        for number in dropped {
            self.stages.remove(&number);
        }
        self.contexts.retain(|context| {
            let done = || context.is_here() && context.display().delete_dropped().is_ok();
            Rc::strong_count(context) > 1 || !(done() || context.is_lost())
        });
    }

    /// Returns the current context.
    fn context(&mut self) -> Result<Rc<UserContext>, Failure> {
        if let Some(context) = self.contexts.iter().find(|context| context.is_here()) {
            return Ok(context.clone());
        }
        let context = Rc::new(UserContext::current()?);
        self.contexts.push(context.clone());
        Ok(context)
    }

    fn end(&mut self) {
        let (stages, contexts) = (std::mem::take(&mut self.stages), std::mem::take(&mut self.contexts));
        if !self.process.is_here() {
            // A forked process does not have the drivers.
            return std::mem::forget((stages, contexts));
        }
        contain("thread's textures", || drop((stages, contexts)));
    }
}

impl Drop for Stages {
    fn drop(&mut self) {
        self.end();
    }
}

/// Runs `work` with the state of this thread.
fn here<R>(work: impl FnOnce(&mut Stages) -> Result<R, Failure>) -> Result<R, Failure> {
    let ending = || Failure::Context("this thread is ending".into());
    HERE.try_with(|here| match here.try_borrow_mut() {
        Ok(mut here) => guarded(|| work(&mut here)),
        Err(_) => Err(ending()),
    })
    .unwrap_or_else(|_| Err(ending()))
}

/// Ends all textures of this thread before the interpreter ends.
pub fn end() {
    // It is no failure if nothing is left to end.
    let _ = here(|here| {
        here.end();
        Ok(())
    });
}

/// Refers to a stage of the thread that made it. Any thread may hold and drop it.
pub struct Ticket {
    number: u64,
    thread: ThreadId,
    process: ProcessMark,
    dropped: DroppedStages,
}

impl Ticket {
    /// Makes a stage in the current context.
    pub fn new(settings: Settings) -> Result<Self, Failure> {
        Self::of(settings, |here| Ok(Screen::Program(here.context()?)))
    }

    /// Makes a stage on a display of the program without OpenGL.
    pub fn on(
        settings: Settings,
        display: impl FnOnce() -> Result<Arc<dyn Display>, Failure>,
    ) -> Result<Self, Failure> {
        Self::of(settings, |_| Ok(Screen::Memory(display()?)))
    }

    fn of(settings: Settings, screen: impl FnOnce(&mut Stages) -> Result<Screen, Failure>) -> Result<Self, Failure> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        here(|here| {
            if !here.process.is_here() {
                // This is the first texture of a forked process; those of its parent are not its own.
                *here = Stages::new();
            }
            here.tidy();
            let stage = Stage::new(screen(here)?, settings);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            here.stages.insert(number, stage);
            Ok(Self { number, thread: thread::current().id(), process: here.process, dropped: here.dropped.clone() })
        })
    }

    /// Runs `work` on the stage; works on its thread only.
    pub fn run<R>(&self, work: impl FnOnce(&mut Stage) -> Result<R, Failure>) -> Result<R, Failure> {
        check_process(self.process, "the texture, buffer or source")?;
        if self.thread != thread::current().id() {
            return Err(Failure::Context("this object was created on another thread; use it only there".into()));
        }
        here(|here| {
            here.tidy();
            work(here.stages.get_mut(&self.number).ok_or_else(closed)?)
        })
    }

    /// Ends the stage: at once if its context is current, otherwise at a later call on its thread when it is.
    pub fn close(&self) {
        if !self.process.is_here() {
            return;
        }
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).push(self.number);
        if self.thread == thread::current().id() {
            // A thread that is ending has already ended it.
            let _ = here(|here| {
                here.tidy();
                Ok(())
            });
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.close();
    }
}

/// The error of calls after closing.
pub fn closed() -> Failure {
    Failure::Closed("the texture, buffer or source is closed".into())
}
