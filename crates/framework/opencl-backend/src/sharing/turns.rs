//! The type [`Turns`]: OpenCL's turns with memory that another API owns as well.

use crate::backend_state::BackendState;
use crate::cl::{Event, GlMemory};
use crate::sharing::gl_sync::GlSync;
use crate::sharing::handle_memory::{HandleFns, raw};
use interop_core::describe::PlainMutex;
use interop_core::{Error, Result};
use std::ffi::c_void;

/// The turns with one object, of which the other API has the first. The memory in the methods'
/// arguments is always the same object.
pub struct Turns {
    method: TurnMethod,
    /// The release that was queued last, until it is waited for.
    released: PlainMutex<Option<Event>>,
}

enum TurnMethod {
    /// An object of `cl_khr_gl_sharing`.
    Gl(GlSync),
    /// Memory of `cl_khr_external_memory`.
    Handle(HandleFns, PlainMutex<HandleTurn>),
}

/// Whether OpenCL has memory of a handle: it does during a turn of the caller's and of each command. Locked until the driver
/// has queued the change.
#[derive(Default)]
struct HandleTurn {
    is_acquired: bool,
    commands: usize,
}

impl HandleTurn {
    fn is_over(&self) -> bool {
        !self.is_acquired && self.commands == 0
    }
}

impl Turns {
    pub fn of_gl(shared: &BackendState) -> Self {
        let sync = if shared.has_gl_events() { GlSync::Implicit } else { GlSync::Finish };
        Self { method: TurnMethod::Gl(sync), released: PlainMutex::default() }
    }

    pub fn of_handle(fns: HandleFns) -> Self {
        Self { method: TurnMethod::Handle(fns, PlainMutex::default()), released: PlainMutex::default() }
    }

    /// Sets the synchronisation with OpenGL from now on; has no effect on other memory.
    pub fn set_gl_sync(&mut self, sync: GlSync) {
        if let TurnMethod::Gl(own) = &mut self.method {
            *own = sync;
        }
    }

    pub fn is_acquired(&self, memory: GlMemory<'_>) -> bool {
        match &self.method {
            TurnMethod::Gl(_) => memory.is_acquired(),
            TurnMethod::Handle(_, turn) => !turn.lock().is_over(),
        }
    }

    /// Queues the beginning of OpenCL's turn; does nothing during a turn.
    pub fn acquire(&self, shared: &BackendState, memory: GlMemory<'_>) -> Result<()> {
        let queue = shared.queue();
        match &self.method {
            TurnMethod::Gl(_) if memory.is_acquired() => Ok(()),
            TurnMethod::Gl(sync) => {
                // Without events, `acquire_gl` itself waits for OpenGL.
                let fence = match sync {
                    GlSync::Implicit => None,
                    _ if !shared.has_gl_events() => None,
                    GlSync::Events => Some(queue.context().gl_fence()?),
                    GlSync::Finish => {
                        queue.context().gl_fence()?.wait()?;
                        None
                    }
                };
                queue.acquire_gl(&[memory], fence.as_slice()).map(drop)
            }
            TurnMethod::Handle(fns, turn) => {
                let mut turn = turn.lock();
                if turn.is_over() {
                    fns.acquire(queue, memory)?;
                }
                turn.is_acquired = true;
                Ok(())
            }
        }
    }

    /// Queues the end of OpenCL's turn; does nothing outside a turn.
    pub fn release(&self, shared: &BackendState, memory: GlMemory<'_>) -> Result<()> {
        match &self.method {
            TurnMethod::Gl(_) if !memory.is_acquired() => Ok(()),
            TurnMethod::Gl(_) => {
                self.released.replace(Some(shared.queue().release_gl(&[memory], &[])?));
                shared.queue().flush()
            }
            TurnMethod::Handle(..) => self.end(shared, memory, |turn| turn.is_acquired = false),
        }
    }

    /// Ends a turn with memory of a handle, and releases the memory after the last one.
    fn end(&self, shared: &BackendState, memory: GlMemory<'_>, end: impl FnOnce(&mut HandleTurn)) -> Result<()> {
        let TurnMethod::Handle(fns, turn) = &self.method else { return Ok(()) };
        let mut turn = turn.lock();
        let was_over = turn.is_over();
        end(&mut turn);
        if was_over || !turn.is_over() {
            return Ok(());
        }
        fns.release(shared.queue(), memory)?;
        self.released.replace(Some(shared.queue().marker(&[])?));
        shared.queue().flush()
    }

    /// Waits until the other API has the memory, or lets that API wait where it can.
    pub fn wait(&self, shared: &BackendState) -> Result<()> {
        match (self.released.take(), &self.method) {
            (None, _) | (_, TurnMethod::Gl(GlSync::Implicit)) => Ok(()),
            (Some(event), TurnMethod::Gl(GlSync::Events)) => shared.context().gl_wait(&event),
            (Some(event), _) => event.wait(),
        }
    }

    /// Takes the turn for commands that are queued while the returned value lives, unless it is already taken. OpenGL's
    /// turn is not taken: only the caller knows whether OpenGL has finished, so commands are rejected.
    pub fn enter<'a>(&'a self, shared: &'a BackendState, memory: GlMemory<'a>) -> Result<Option<CommandTurn<'a>>> {
        let TurnMethod::Handle(fns, turn) = &self.method else { return Ok(None) };
        let mut turn = turn.lock();
        if turn.is_over() {
            fns.acquire(shared.queue(), memory)?;
        }
        turn.commands += 1;
        Ok(Some(CommandTurn { turns: self, shared, memory }))
    }

    /// Returns the `cl_mem` for foreign commands in the backend's queue, while OpenCL has it.
    pub fn lent_out(&self, memory: GlMemory<'_>) -> Result<*mut c_void> {
        match self.is_acquired(memory) {
            true => Ok(raw(memory)),
            false => Err(Error::invalid("raw", "acquire it first, and release it before OpenGL uses it")),
        }
    }
}

/// A turn that was taken for one command and ends in the queue after it.
pub struct CommandTurn<'a> {
    turns: &'a Turns,
    shared: &'a BackendState,
    memory: GlMemory<'a>,
}

impl Drop for CommandTurn<'_> {
    fn drop(&mut self) {
        let end = |turn: &mut HandleTurn| turn.commands = turn.commands.saturating_sub(1);
        if let Err(error) = self.turns.end(self.shared, self.memory, end) {
            tracing::warn!(%error, "cannot end a turn after a command");
        }
    }
}
