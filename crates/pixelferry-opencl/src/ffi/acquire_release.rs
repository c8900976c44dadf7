//! Turns at memory that another API owns, too: the pairs of acquire and release that extensions define
//! (`cl_khr_gl_sharing`, `cl_khr_external_memory`).

use super::gl_turn::GlTurn;
use super::track::Access;
use super::turn_fns::Enqueue;
use super::{Failure, GlSync, Mem, NO_GL_OBJECT, NOT_ACQUIRED, Session, TurnFns};
use crate::{Event, Queue};
use interop_core::Result;
use std::cell::{Cell, RefCell};
use std::ptr;

impl TurnFns {
    /// Queues the beginning, or else the end, of OpenCL's turn with objects of OpenGL's.
    pub fn of_gl(&self, queue: &Queue, mems: &[&Mem], begins: bool, wait: &[Event]) -> Result<Event> {
        let (function, name) = if begins { self.acquire } else { self.release };
        if mems.iter().any(|mem| !mem.is_of_gl()) {
            return Err(queue.error(Failure { operation: name, code: NO_GL_OBJECT }));
        }
        let uses: Vec<_> = mems.iter().map(|mem| mem.used_whole(Access::Write)).collect();
        let objects: Vec<_> = mems.iter().map(|mem| mem.raw()).collect();
        // SAFETY: the objects are live, and what `enqueue_turn` passes.
        queue.enqueue_turn(name, (&uses, begins), wait, |queue, n, list| unsafe {
            Self::call(function, &objects, (queue, n, list))
        })
    }

    /// Queues the beginning or the end of a turn with memory of others, in the session's own queue.
    fn of_others((function, name): (Enqueue, &'static str), session: &Session, mem: &Mem) -> Result<Event> {
        // SAFETY: queue and object are live, and there is nothing to wait for; the event is new, and its one reference is
        // ours.
        unsafe {
            let event = Self::call(function, &[mem.raw()], (session.queue().raw(), 0, ptr::null()));
            Event::own(&session.context, name, event, Some(session.queue()))
        }
    }
}

/// One object's turns. Not for several threads. `mem` is the object that they are for, and `session` its own, in all calls.
pub struct AcquireRelease {
    fns: TurnFns,
    /// True while memory of another API is acquired; OpenGL's objects have that state in their tracker.
    acquired: Cell<bool>,
    /// The release that was queued last, until it was waited for.
    released: RefCell<Option<Event>>,
    gl: Option<GlTurn>,
}

impl AcquireRelease {
    /// For an object that the other API has first.
    pub fn new(fns: TurnFns) -> Self {
        Self { fns, acquired: Cell::new(false), released: RefCell::default(), gl: None }
    }

    /// For an object of OpenGL's.
    pub fn with_gl(fns: TurnFns, gl: GlTurn) -> Self {
        Self { gl: Some(gl), ..Self::new(fns) }
    }

    /// Sets the synchronisation with OpenGL from now on; without effect on objects of others.
    pub fn set_gl_sync(&mut self, sync: GlSync) {
        if let Some(gl) = &mut self.gl {
            gl.set(sync);
        }
    }

    pub fn is_acquired(&self, mem: &Mem) -> bool {
        if self.gl.is_some() { !mem.tracker().is_away() } else { self.acquired.get() }
    }

    pub(crate) fn acquire(&self, session: &Session, mem: &Mem) -> Result<()> {
        if self.is_acquired(mem) {
            return Ok(());
        }
        if let Some(gl) = &self.gl {
            gl.check_current(self.fns.acquire.1).map_err(|f| session.error(f))?;
            let after = gl.begin(&session.context)?;
            return self.fns.of_gl(session.queue(), &[mem], true, after.as_slice()).map(drop);
        }
        TurnFns::of_others(self.fns.acquire, session, mem)?;
        self.acquired.set(true);
        Ok(())
    }

    pub(crate) fn release(&self, session: &Session, mem: &Mem) -> Result<()> {
        if !self.is_acquired(mem) {
            return Ok(());
        }
        let event = match &self.gl {
            Some(gl) => {
                gl.check_current(self.fns.release.1).map_err(|f| session.error(f))?;
                self.fns.of_gl(session.queue(), &[mem], false, &[])?
            }
            None => TurnFns::of_others(self.fns.release, session, mem)?,
        };
        self.acquired.set(false);
        self.released.replace(Some(event));
        session.flush()
    }

    /// Waits until the other API has the object, or lets that wait where it can.
    pub fn wait(&self, session: &Session) -> Result<()> {
        match (self.released.take(), &self.gl) {
            (Some(event), Some(gl)) => gl.end(&session.context, &event),
            (Some(event), None) => event.wait(),
            (None, _) => Ok(()),
        }
    }
}

/// A turn that was taken for one command, and ends in the queue after it.
pub(crate) struct Borrowed<'a> {
    session: &'a Session,
    turns: &'a AcquireRelease,
    mem: &'a Mem,
}

/// Takes the turn where there are turns to take and it is not taken yet. What is OpenGL's is not taken: whether OpenGL is
/// done with it is for the caller to know.
pub(crate) fn enter<'a>(
    session: &'a Session,
    turns: Option<&'a AcquireRelease>,
    mem: &'a Mem,
) -> Result<Option<Borrowed<'a>>> {
    let Some(turns) = turns.filter(|turns| !turns.is_acquired(mem)) else { return Ok(None) };
    if turns.gl.is_some() {
        return Err(session.error(Failure { operation: "a command on an OpenGL object", code: NOT_ACQUIRED }));
    }
    turns.acquire(session, mem)?;
    Ok(Some(Borrowed { session, turns, mem }))
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.turns.release(self.session, self.mem) {
            tracing::warn!(%error, "a turn did not end after a command");
        }
    }
}
