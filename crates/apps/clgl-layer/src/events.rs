//! Events of the layer's commands that programs hold, and user events that work may wait for.

use crate::cl::handles::Handle;
use crate::registry::Registry;
use std::sync::{LazyLock, Mutex};

/// What an event is.
pub enum EventKind {
    /// A command of the layer; the driver sees a marker or a user event.
    Command(u32),
    /// A user event of a sharing context; `true` means that it is incomplete.
    User(Handle, bool),
}

/// All such events.
pub static EVENTS: LazyLock<Registry<EventKind>> = LazyLock::new(|| Registry(Mutex::default()));

/// `CL_COMMAND_ACQUIRE_GL_OBJECTS`, `CL_COMMAND_RELEASE_GL_OBJECTS`, `CL_COMMAND_GL_FENCE_SYNC_OBJECT_KHR`.
pub const ACQUIRE: u32 = 0x11FF;
pub const RELEASE: u32 = 0x1200;
pub const FENCE: u32 = 0x200D;

/// The program completes a user event.
pub fn completed(event: Handle) {
    if let Some(EventKind::User(_, pending)) = EVENTS.lock().get_mut(&event).map(|(kind, _)| kind) {
        *pending = false;
    }
}

/// `CL_EVENT_COMMAND_TYPE` of the layer's commands.
pub fn command_type(event: Handle) -> Option<u32> {
    match EVENTS.lock().get(&event)?.0 {
        EventKind::Command(kind) => Some(kind),
        EventKind::User(..) => None,
    }
}

/// Returns whether a context has work that may wait for the program itself; a call must not wait for that.
pub fn any_pending(context: Handle) -> bool {
    EVENTS.lock().values().any(|(kind, _)| matches!(*kind, EventKind::User(of, true) if of == context))
}
