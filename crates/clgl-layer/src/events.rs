//! Events that programs hold of the layer's commands, and user events that work may wait for.

use crate::cl::handles::Handle;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// What an event is to its program.
enum EventKind {
    /// A command of the layer's; the driver knows it as a marker or as a user event.
    Command(u32),
    /// A user event of a context that shares; `true`: it is not complete.
    User(Handle, bool),
}

struct EventEntry {
    kind: EventKind,
    /// How often the program holds it.
    references: u32,
}

fn events() -> MutexGuard<'static, HashMap<Handle, EventEntry>> {
    static EVENTS: LazyLock<Mutex<HashMap<Handle, EventEntry>>> = LazyLock::new(Mutex::default);
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `CL_COMMAND_ACQUIRE_GL_OBJECTS`, `CL_COMMAND_RELEASE_GL_OBJECTS`, `CL_COMMAND_GL_FENCE_SYNC_OBJECT_KHR`.
pub const ACQUIRE: u32 = 0x11FF;
pub const RELEASE: u32 = 0x1200;
pub const FENCE: u32 = 0x200D;

/// The program is given an event of a command of the layer's.
pub fn command(event: Handle, kind: u32) {
    events().insert(event, EventEntry { kind: EventKind::Command(kind), references: 1 });
}

/// The program has made a user event in a context that shares.
pub fn user(event: Handle, context: Handle) {
    events().insert(event, EventEntry { kind: EventKind::User(context, true), references: 1 });
}

/// The program completes a user event.
pub fn completed(event: Handle) {
    if let Some(EventEntry { kind: EventKind::User(_, pending), .. }) = events().get_mut(&event) {
        *pending = false;
    }
}

pub fn retained(event: Handle) {
    if let Some(held) = events().get_mut(&event) {
        held.references += 1;
    }
}

pub fn released(event: Handle) {
    let mut events = events();
    let Some(held) = events.get_mut(&event) else { return };
    held.references -= 1;
    if held.references == 0 {
        events.remove(&event);
    }
}

/// `CL_EVENT_COMMAND_TYPE` of the layer's commands.
pub fn command_type(event: Handle) -> Option<u32> {
    match events().get(&event)?.kind {
        EventKind::Command(kind) => Some(kind),
        EventKind::User(..) => None,
    }
}

/// Whether a context has work that may wait for the program itself: a call must not wait for it.
pub fn any_pending(context: Handle) -> bool {
    events().values().any(|held| matches!(held.kind, EventKind::User(of, true) if of == context))
}
