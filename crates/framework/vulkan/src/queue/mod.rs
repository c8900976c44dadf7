//! Submissions to the engine's queue, and their completion.

pub(crate) mod commands;
pub(crate) mod pool;
pub(crate) mod queue_lock;
mod recording;
pub(crate) mod slot;
pub(crate) mod submissions;
