//! Memory between the passes of one operation.

use interop_core::{ComputeMemory, Event};

/// Memory between the passes of one operation, kept from call to call, because the queue is in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Scratch {
    /// One value for each work group.
    Partials,
    /// A reduction's result.
    Result,
    /// A histogram's counts.
    Counts,
    /// One value for each tile of a scan.
    Tiles,
    /// The state of a one-pass scan. Old content never looks like a current state.
    State,
}

/// Memory between passes.
pub(crate) struct ScratchMemory {
    pub memory: Box<dyn ComputeMemory>,
    /// Number of the latest one-pass scan that used it, in [`Scratch::State`]: the tag of its values.
    pub epoch: u32,
    /// Event of its last use in a queue.
    pub last: Option<Event>,
}
