//! What goes into the engine's queue, and when it is done.

pub(crate) mod commands;
pub(crate) mod pool;
pub(crate) mod queue_lock;
pub(crate) mod submissions;
