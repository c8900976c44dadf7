//! Whose turn it is with memory that another API owns, too: the pairs of acquire and release that extensions define
//! (`cl_khr_gl_sharing`, `cl_khr_external_memory`).

use super::extension::function;
use super::gl::{GlSync, GlTurn};
use super::{Event, Failure, NOT_ACQUIRED, PlatformId, Session};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr;

/// `clEnqueueAcquireGLObjects` and its like; all have this signature.
type Enqueue = unsafe extern "system" fn(
    queue: *mut c_void,
    count: u32,
    objects: *const *mut c_void,
    wait_count: u32,
    wait_for: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32;

/// One pair of functions.
#[derive(Clone, Copy)]
pub struct TurnFns {
    acquire: (Enqueue, &'static str),
    release: (Enqueue, &'static str),
}

impl TurnFns {
    /// Those of `cl_khr_external_memory`, which the device must list.
    pub fn external(platform: PlatformId) -> Result<Self, Failure> {
        Ok(Self {
            acquire: (
                function!(platform, c"clEnqueueAcquireExternalMemObjectsKHR" as Enqueue),
                "clEnqueueAcquireExternalMemObjectsKHR",
            ),
            release: (
                function!(platform, c"clEnqueueReleaseExternalMemObjectsKHR" as Enqueue),
                "clEnqueueReleaseExternalMemObjectsKHR",
            ),
        })
    }

    /// Those of `cl_khr_gl_sharing`, which the device must list.
    pub fn gl(platform: PlatformId) -> Result<Self, Failure> {
        Ok(Self {
            acquire: (function!(platform, c"clEnqueueAcquireGLObjects" as Enqueue), "clEnqueueAcquireGLObjects"),
            release: (function!(platform, c"clEnqueueReleaseGLObjects" as Enqueue), "clEnqueueReleaseGLObjects"),
        })
    }

    /// Queues one of the two for `object`.
    ///
    /// # Safety
    /// The object is live, of this session's context, and of the kind that the functions are for.
    unsafe fn queue(
        (function, name): (Enqueue, &'static str),
        session: &Session,
        object: *mut c_void,
        after: Option<&Event>,
    ) -> Result<Event, Failure> {
        let mut event = ptr::null_mut();
        let after = after.map(Event::raw);
        let (count, list) = (u32::from(after.is_some()), after.as_ref().map_or(ptr::null(), ptr::from_ref));
        // SAFETY: queue, object and events are live, the lists are as long as is said, and one event is written.
        let code = unsafe { function(session.queue().raw(), 1, &raw const object, count, list, &raw mut event) };
        // SAFETY: a new event, whose one reference is ours.
        unsafe { Event::own(name, if code == 0 { Ok(event) } else { Err(code) }, Some(session.queue())) }
    }
}

/// One object's turns. Not for several threads.
pub struct Turns {
    fns: TurnFns,
    acquired: Cell<bool>,
    /// The release that was queued last, until it was waited for.
    released: RefCell<Option<Event>>,
    gl: Option<GlTurn>,
}

impl Turns {
    /// For an object that the other API has first.
    pub fn new(fns: TurnFns) -> Self {
        Self { fns, acquired: Cell::new(false), released: RefCell::default(), gl: None }
    }

    /// For an object of OpenGL's.
    pub fn with_gl(fns: TurnFns, gl: GlTurn) -> Self {
        Self { gl: Some(gl), ..Self::new(fns) }
    }

    /// How OpenGL is kept apart from now on; without effect on objects of others.
    pub fn set_gl_sync(&mut self, sync: GlSync) {
        if let Some(gl) = &mut self.gl {
            gl.set(sync);
        }
    }

    pub fn is_acquired(&self) -> bool {
        self.acquired.get()
    }

    /// # Safety
    /// `object` is live, of this session, and the one that these turns are for; here and below.
    pub(super) unsafe fn acquire(&self, session: &Session, object: *mut c_void) -> Result<(), Failure> {
        if !self.acquired.get() {
            let after = match &self.gl {
                Some(gl) => gl.check_current(self.fns.acquire.1).and_then(|()| gl.begin(session))?,
                None => None,
            };
            // SAFETY: the caller's promise.
            unsafe { TurnFns::queue(self.fns.acquire, session, object, after.as_ref()) }?;
            self.acquired.set(true);
        }
        Ok(())
    }

    /// # Safety
    /// As of [`Turns::acquire`].
    pub(super) unsafe fn release(&self, session: &Session, object: *mut c_void) -> Result<(), Failure> {
        if self.acquired.get() {
            if let Some(gl) = &self.gl {
                gl.check_current(self.fns.release.1)?;
            }
            // SAFETY: the caller's promise.
            let event = unsafe { TurnFns::queue(self.fns.release, session, object, None) }?;
            self.acquired.set(false);
            self.released.replace(Some(event));
            session.flush()?;
        }
        Ok(())
    }

    /// Waits until the other API has the object, or lets that wait where it can.
    pub fn wait(&self, session: &Session) -> Result<(), Failure> {
        match (self.released.take(), &self.gl) {
            (Some(event), Some(gl)) => gl.end(session, &event),
            (Some(event), None) => event.wait(),
            (None, _) => Ok(()),
        }
    }
}

/// A turn that was taken for one command, and ends in the queue after it.
pub(super) struct Borrowed<'a> {
    pub session: &'a Session,
    pub turns: &'a Turns,
    pub object: *mut c_void,
}

/// Takes the turn where there are turns to take and it is not taken yet. What is OpenGL's is not taken: whether OpenGL is
/// done with it is for the caller to know.
pub(super) fn enter<'a>(
    session: &'a Session,
    turns: Option<&'a Turns>,
    object: *mut c_void,
) -> Result<Option<Borrowed<'a>>, Failure> {
    let Some(turns) = turns.filter(|turns| !turns.is_acquired()) else { return Ok(None) };
    if turns.gl.is_some() {
        return Err(Failure { operation: "a command on an OpenGL object", code: NOT_ACQUIRED });
    }
    // SAFETY: the callers pass a live object of theirs with its own turns and session.
    unsafe { turns.acquire(session, object) }?;
    Ok(Some(Borrowed { session, turns, object }))
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        // SAFETY: whoever borrowed it keeps the object alive, and it was acquired of this session.
        if let Err(failure) = unsafe { self.turns.release(self.session, self.object) } {
            tracing::warn!(code = failure.code, "{} failed after a command", failure.operation);
        }
    }
}
