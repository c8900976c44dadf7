//! The type [`Turns`]: OpenCL's turns with memory that another API owns as well.

use crate::backend_state::BackendState;
use crate::cl::{Event, GlMemory};
use crate::sharing::gl_sync::GlSync;
use crate::sharing::handle_memory::{HandleFns, raw};
use interop_core::{Error, Result};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;

/// The turns with one object, of which the other API has the first. For one thread only. The memory in the methods'
/// arguments is always the same object.
pub struct Turns {
    method: TurnMethod,
    /// The release that was queued last, until it is waited for.
    released: RefCell<Option<Event>>,
}

enum TurnMethod {
    /// An object of `cl_khr_gl_sharing`.
    Gl(GlSync),
    /// Memory of `cl_khr_external_memory`; true while it is acquired.
    Handle(HandleFns, Cell<bool>),
}

impl Turns {
    pub fn of_gl(shared: &BackendState) -> Self {
        let sync = if shared.has_gl_events() { GlSync::Implicit } else { GlSync::Finish };
        Self { method: TurnMethod::Gl(sync), released: RefCell::default() }
    }

    pub fn of_handle(fns: HandleFns) -> Self {
        Self { method: TurnMethod::Handle(fns, Cell::new(false)), released: RefCell::default() }
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
            TurnMethod::Handle(_, acquired) => acquired.get(),
        }
    }

    /// Queues the beginning of OpenCL's turn; does nothing during a turn.
    pub fn acquire(&self, shared: &BackendState, memory: GlMemory<'_>) -> Result<()> {
        if self.is_acquired(memory) {
            return Ok(());
        }
        let queue = shared.queue();
        match &self.method {
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
            TurnMethod::Handle(fns, acquired) => {
                fns.acquire(queue, memory)?;
                acquired.set(true);
                Ok(())
            }
        }
    }

    /// Queues the end of OpenCL's turn; does nothing outside a turn.
    pub fn release(&self, shared: &BackendState, memory: GlMemory<'_>) -> Result<()> {
        if !self.is_acquired(memory) {
            return Ok(());
        }
        let queue = shared.queue();
        let event = match &self.method {
            TurnMethod::Gl(_) => queue.release_gl(&[memory], &[])?,
            TurnMethod::Handle(fns, acquired) => {
                fns.release(queue, memory)?;
                acquired.set(false);
                queue.marker(&[])?
            }
        };
        self.released.replace(Some(event));
        queue.flush()
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
        if matches!(self.method, TurnMethod::Gl(_)) || self.is_acquired(memory) {
            return Ok(None);
        }
        self.acquire(shared, memory)?;
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
        if let Err(error) = self.turns.release(self.shared, self.memory) {
            tracing::warn!(%error, "cannot end a turn after a command");
        }
    }
}
