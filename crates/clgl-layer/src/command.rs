//! The commands that give objects to OpenCL and back.

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
    /// Those that the other side has: the others are where they are to be.
    objects: Vec<Arc<SharedObject>>,
    context: Arc<SharedContext>,
    /// The program's queue, and one of the layer's own on the same device.
    queue: Handle,
    own: Arc<OwnHandle>,
}

/// What the layer's thread does for a command; it keeps what it needs.
struct TurnJob {
    acquire: bool,
    objects: Vec<(Arc<SharedObject>, OwnHandle)>,
    own: Arc<OwnHandle>,
}

impl TurnJob {
    /// All of the objects, or none of them.
    fn run(&self, work: &WorkContext) -> Result<(), i32> {
        work.gl.error();
        self.objects.iter().try_for_each(|(object, _)| object.check(work))?;
        self.objects.iter().try_for_each(|(object, _)| transfer::copy(work, object, self.own.handle, self.acquire))?;
        if !self.acquire {
            // The program's next call sees it.
            // SAFETY: takes nothing.
            unsafe { (work.gl.finish)() };
        }
        work.check("objects take turns")
    }
}

impl TurnCommand {
    /// Takes a list of objects, which is not empty.
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

    /// Does it, or sees to it that it is done. The answer is an event of the program's queue where it wants one.
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

    /// Within the call, so that the program's next call of OpenGL's sees it.
    fn perform(&self, after: &[Raw], begun: ProgramWork, wants_event: bool) -> Result<Option<OwnEvent>, i32> {
        let before = OwnEvent::marker(self.queue, after)?;
        handles::flush(self.queue)?;
        let waited = before.wait();
        let job = self.job()?;
        self.context.thread().ask(move |work| {
            begun.finish(work);
            // A failure of what came before is the command's.
            waited.map_err(|_| EVENTS_FAILED)?;
            job.run(work)
        })?;
        if !wants_event {
            return Ok(None);
        }
        OwnEvent::marker(self.queue, &[before.0.handle.raw()]).map(Some)
    }

    /// When what comes before it is done, while the call returns: that may wait for the program itself.
    fn defer(&self, after: &[Raw], begun: ProgramWork) -> Result<OwnEvent, i32> {
        // What is wrong now is told now.
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
                // On this thread, and not on the driver's.
                drop((job, event, owner));
            });
            if let Err(code) = posted {
                ready.complete(code);
            }
        };
        before.when_complete(then)?;
        // Before the barrier: rusticl tells of a command's end when all that was handed over with it has ended. And nothing
        // behind it: rusticl 22.3's clFinish does not wait where nothing is left to hand over.
        handles::flush(self.queue)?;
        OwnEvent::barrier(self.queue, &done)
    }
}
