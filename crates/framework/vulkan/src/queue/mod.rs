//! Submissions to the engine's queue, and their completion.

pub(crate) mod commands;
pub(crate) mod pool;
pub(crate) mod queue_lock;
pub(crate) mod submissions;
