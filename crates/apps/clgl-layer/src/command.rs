//! The commands that hand objects to OpenCL and back.

use crate::cl::handles::{self, Handle, OwnEvent, OwnHandle};
use crate::codes::{EVENTS_FAILED, INVALID_COMMAND_QUEUE, INVALID_CONTEXT, INVALID_OPERATION, OUT_OF_HOST_MEMORY};
use crate::context::SharedContext;
use crate::edge::Raw;
use crate::events;
use crate::explain::refuse;
use crate::gl::fence::ProgramWork;
use crate::gl::work::WorkContext;
use crate::object::SharedObject;
use crate::transfer::Transfer;
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
    /// The program's queue, and its device.
    queue: Handle,
    device: Handle,
}

/// Copies all objects or none.
fn copy(work: &WorkContext, transfers: &mut [Transfer], acquire: bool) -> Result<(), i32> {
    work.gl.error();
    transfers.iter().try_for_each(|transfer| transfer.object.check(work))?;
    transfers.iter_mut().try_for_each(|transfer| transfer.copy(work))?;
    if !acquire {
        // Makes the result visible to the program's next call. SAFETY: takes no arguments.
        unsafe { (work.gl.finish)() };
    }
    work.check("transferring objects")
}

impl TurnCommand {
    /// Checks a list of objects, which must not be empty.
    pub fn new(queue: Handle, objects: Vec<Arc<SharedObject>>, acquire: bool) -> Result<Self, i32> {
        let context = Arc::clone(&objects.first().ok_or(INVALID_OPERATION)?.context);
        // In a forked process the driver may wait forever.
        context.thread().check()?;
        let of_queue = handles::handle(|driver| driver.get_command_queue_info, queue, QUEUE_CONTEXT)
            .map_err(|_| INVALID_COMMAND_QUEUE)?;
        let device = handles::handle(|driver| driver.get_command_queue_info, queue, QUEUE_DEVICE)
            .map_err(|_| INVALID_COMMAND_QUEUE)?;
        if of_queue != context.handle || objects.iter().any(|object| !Arc::ptr_eq(&object.context, &context)) {
            return Err(refuse(INVALID_CONTEXT, "objects of another context than the queue's"));
        }
        if cfg!(feature = "strict") && objects.iter().any(|object| object.acquired.load(Ordering::Relaxed) == acquire) {
            return Err(refuse(INVALID_OPERATION, "objects acquired twice, or released without having been acquired"));
        }
        let turns = |object: &Arc<SharedObject>| object.acquired.swap(acquire, Ordering::Relaxed) != acquire;
        let objects = objects.into_iter().filter(turns).collect();
        Ok(Self { acquire, objects, context, queue, device })
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

    /// Performs it within the call, so that the program's next OpenGL call sees the result.
    fn perform(&self, after: &[Raw], begun: ProgramWork, wants_event: bool) -> Result<Option<OwnEvent>, i32> {
        let (before, acquire) = (OwnEvent::marker(self.queue, after)?, self.acquire);
        let begin = |object| Transfer::begin(object, self.queue, Some(&before), acquire);
        let mut transfers = self.objects.iter().map(begin).collect::<Result<Vec<_>, i32>>();
        let transfers = self.context.thread().ask(move |work| {
            begun.finish(work);
            copy(work, transfers.as_deref_mut().map_err(|code| *code)?, acquire)?;
            transfers
        })?;
        let mut done = vec![before];
        for transfer in transfers {
            done.extend(transfer.end()?);
        }
        let done: Vec<_> = done.iter().map(|event| event.0.handle.raw()).collect();
        wants_event.then(|| OwnEvent::marker(self.queue, &done)).transpose()
    }

    /// Performs it after earlier work, while the call returns: earlier work may wait for the program itself.
    fn defer(&self, after: &[Raw], begun: ProgramWork) -> Result<OwnEvent, i32> {
        // Report errors that are known now.
        let objects = self.objects.clone();
        self.context.thread().ask(move |work| {
            begun.finish(work);
            objects.iter().try_for_each(|object| object.check(work))
        })?;
        // Work in the program's queues may wait for the copies. A queue of the layer's must not outlive the command,
        // because it keeps the context.
        let own = OwnHandle::queue(self.context.handle, self.device).map_err(|_| OUT_OF_HOST_MEMORY)?;
        let (acquire, objects) = (self.acquire, self.objects.clone());
        let keep = |object: &Arc<SharedObject>| OwnHandle::retained_memory(object.memory);
        let kept = objects.iter().map(keep).collect::<Result<Vec<_>, i32>>()?;
        let before = OwnEvent::marker(self.queue, after)?;
        let done = Arc::new(OwnEvent::user(self.context.handle)?);
        let (context, ready) = (Arc::clone(&self.context), Arc::clone(&done));
        let then = move |status: i32| {
            let event = Arc::clone(&ready);
            let owner = Arc::clone(&context);
            let posted = context.thread().post(move |work| {
                let perform = || {
                    let begin = |object| Transfer::begin(object, own.handle, None, acquire);
                    let mut transfers = objects.iter().map(begin).collect::<Result<Vec<_>, i32>>()?;
                    copy(work, &mut transfers, acquire)?;
                    transfers.into_iter().try_for_each(|of| of.end()?.map_or(Ok(()), |done| done.wait()))
                };
                let answer = if status < 0 { Err(EVENTS_FAILED) } else { perform() };
                event.complete(answer.err().unwrap_or(0));
                // Drop these on this thread, not on the driver's.
                drop((objects, kept, own, event, owner));
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
