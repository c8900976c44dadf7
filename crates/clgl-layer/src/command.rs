//! The commands that give objects to OpenCL and back.

use crate::cl::handles::{self, Handle, InfoSubject, OwnEvent, OwnHandle};
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

const QUEUE_CONTEXT: u32 = 0x1090;
const QUEUE_DEVICE: u32 = 0x1091;

/// `clEnqueueAcquireGLObjects` or `clEnqueueReleaseGLObjects`.
pub struct TurnCommand {
    acquire: bool,
    objects: Vec<Arc<SharedObject>>,
    /// Those that the other side has: the others are where they are to be.
    turned: Vec<Arc<SharedObject>>,
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
        // In a forked process the driver may wait for ever.
        context.thread().check()?;
        let of_queue = handles::handle(InfoSubject::Queue, queue, QUEUE_CONTEXT).map_err(|_| INVALID_COMMAND_QUEUE)?;
        let device = handles::handle(InfoSubject::Queue, queue, QUEUE_DEVICE).map_err(|_| INVALID_COMMAND_QUEUE)?;
        if of_queue != context.handle || objects.iter().any(|object| !Arc::ptr_eq(&object.context, &context)) {
            return Err(refuse(INVALID_CONTEXT, "objects of another context than the queue's"));
        }
        let own = context.queue(device)?;
        let mut command = Self { acquire, objects, turned: Vec::new(), context, queue, own };
        command.turn()?;
        Ok(command)
    }

    fn turn(&mut self) -> Result<(), i32> {
        for object in &self.objects {
            match object.turn(self.acquire) {
                Ok(true) => self.turned.push(Arc::clone(object)),
                Ok(false) => {}
                Err(code) => {
                    self.turn_back();
                    return Err(code);
                }
            }
        }
        Ok(())
    }

    fn turn_back(&self) {
        self.turned.iter().for_each(|object| object.turn_back(self.acquire));
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
        let objects = self.turned.iter().map(keep).collect::<Result<Vec<_>, i32>>()?;
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
        let objects = self.turned.clone();
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
