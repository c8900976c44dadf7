//! The commands that hand objects to OpenCL and back.

use crate::cl::driver::Driver;
use crate::cl::handles::{self, Handle, OwnEvent, OwnHandle};
use crate::codes::{EVENTS_FAILED, INVALID_COMMAND_QUEUE, INVALID_CONTEXT, INVALID_OPERATION};
use crate::context::SharedContext;
use crate::edge::Raw;
use crate::events;
use crate::explain::refuse;
use crate::gl::fence::ProgramWork;
use crate::gl::work::WorkContext;
use crate::object::SharedObject;
use crate::transfer;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const QUEUE_CONTEXT: u32 = 0x1090;
const QUEUE_DEVICE: u32 = 0x1091;

/// `clEnqueueAcquireGLObjects` or `clEnqueueReleaseGLObjects`.
pub struct TurnCommand {
    acquire: bool,
    /// Objects that the other side has; all others are already in place.
    objects: Vec<Arc<SharedObject>>,
    context: Arc<SharedContext>,
    /// The program's queue, and one of the layer's on the same device.
    queue: Handle,
    own: Arc<OwnHandle>,
}

/// Work of the layer's thread for a command; it keeps everything that it needs alive.
struct TurnJob {
    acquire: bool,
    objects: Vec<(Arc<SharedObject>, OwnHandle)>,
    own: Arc<OwnHandle>,
}

impl TurnJob {
    /// Transfers all objects or none.
    fn run(&self, work: &WorkContext) -> Result<(), i32> {
        work.gl.error();
        self.objects.iter().try_for_each(|(object, _)| object.check(work))?;
        self.objects.iter().try_for_each(|(object, _)| transfer::copy(work, object, self.own.handle, self.acquire))?;
        if !self.acquire {
            // Makes the result visible to the program's next call. SAFETY: takes no arguments.
            unsafe { (work.gl.finish)() };
        }
        work.check("transferring objects")
    }
}

impl TurnCommand {
    /// Checks a list of objects, which must not be empty.
    pub fn new(queue: Handle, objects: Vec<Arc<SharedObject>>, acquire: bool) -> Result<Self, i32> {
        let context = Arc::clone(&objects.first().ok_or(INVALID_OPERATION)?.context);
        // In a forked process the driver may wait forever.
        context.thread().check()?;
        let of_queue =
            handles::handle(Driver::get_command_queue_info, queue, QUEUE_CONTEXT).map_err(|_| INVALID_COMMAND_QUEUE)?;
        let device =
            handles::handle(Driver::get_command_queue_info, queue, QUEUE_DEVICE).map_err(|_| INVALID_COMMAND_QUEUE)?;
        if of_queue != context.handle || objects.iter().any(|object| !Arc::ptr_eq(&object.context, &context)) {
            return Err(refuse(INVALID_CONTEXT, "objects of another context than the queue's"));
        }
        let own = context.queue(device)?;
        if cfg!(feature = "strict") && objects.iter().any(|object| object.acquired.load(Ordering::Relaxed) == acquire) {
            return Err(refuse(INVALID_OPERATION, "objects acquired twice, or released without having been acquired"));
        }
        let turns = |object: &Arc<SharedObject>| object.acquired.swap(acquire, Ordering::Relaxed) != acquire;
        let objects = objects.into_iter().filter(turns).collect();
        Ok(Self { acquire, objects, context, queue, own })
    }

    fn turn_back(&self) {
        self.objects.iter().for_each(|object| object.acquired.store(!self.acquire, Ordering::Relaxed));
    }

    /// Performs or schedules the command. Returns an event of the program's queue if the program wants one.
    pub fn enqueue(&self, after: &[Raw], wants_event: bool) -> Result<Option<OwnEvent>, i32> {
        let work = self.context.program_work();
        let enqueued = if events::any_pending(self.context.handle) {
            self.defer(after, work).map(Some)
        } else {
            self.perform(after, work, wants_event)
        };
        enqueued.inspect_err(|_| self.turn_back())
    }

    fn job(&self) -> Result<TurnJob, i32> {
        let keep = |object: &Arc<SharedObject>| Ok((Arc::clone(object), OwnHandle::retained_memory(object.memory)?));
        let objects = self.objects.iter().map(keep).collect::<Result<Vec<_>, i32>>()?;
        Ok(TurnJob { acquire: self.acquire, objects, own: Arc::clone(&self.own) })
    }

    /// Performs it within the call, so that the program's next OpenGL call sees the result.
    fn perform(&self, after: &[Raw], begun: ProgramWork, wants_event: bool) -> Result<Option<OwnEvent>, i32> {
        let before = OwnEvent::marker(self.queue, after)?;
        handles::flush(self.queue)?;
        let waited = before.wait();
        let job = self.job()?;
        self.context.thread().ask(move |work| {
            begun.finish(work);
            // A failure of earlier work is the command's failure.
            waited.map_err(|_| EVENTS_FAILED)?;
            job.run(work)
        })?;
        if !wants_event {
            return Ok(None);
        }
        OwnEvent::marker(self.queue, &[before.0.handle.raw()]).map(Some)
    }

    /// Performs it after earlier work, while the call returns: earlier work may wait for the program itself.
    fn defer(&self, after: &[Raw], begun: ProgramWork) -> Result<OwnEvent, i32> {
        // Report errors that are known now.
        let objects = self.objects.clone();
        self.context.thread().ask(move |work| {
            begun.finish(work);
            objects.iter().try_for_each(|object| object.check(work))
        })?;
        let job = self.job()?;
        let before = OwnEvent::marker(self.queue, after)?;
        let done = Arc::new(OwnEvent::user(self.context.handle)?);
        let (context, ready) = (Arc::clone(&self.context), Arc::clone(&done));
        let then = move |status: i32| {
            let event = Arc::clone(&ready);
            let owner = Arc::clone(&context);
            let posted = context.thread().post(move |work| {
                let answer = if status < 0 { Err(EVENTS_FAILED) } else { job.run(work) };
                event.complete(answer.err().unwrap_or(0));
                // Drop these on this thread, not on the driver's.
                drop((job, event, owner));
            });
            if let Err(code) = posted {
                ready.complete(code);
            }
        };
        before.when_complete(then)?;
        // Flush before the barrier: rusticl reports a command's end when everything flushed with it has ended. Enqueue
        // nothing after it: in rusticl 22.3, clFinish does not wait if nothing is left to flush.
        handles::flush(self.queue)?;
        OwnEvent::barrier(self.queue, &done)
    }
}
