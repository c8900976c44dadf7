//! What commands do to buffers.

use pixelferry::opencl_backend::cl::{Event, PendingRead};
use std::ops::Range;

/// What a command does where it succeeds. Ranges and positions are those of the model.
pub enum Effect {
    Nothing,
    Set {
        to: u32,
        range: Range<usize>,
        bytes: Vec<u8>,
    },
    /// Single bytes: where they go, and what they become.
    Scatter {
        to: u32,
        bytes: Vec<(usize, u8)>,
    },
    Copy {
        from: u32,
        range: Range<usize>,
        to: u32,
        start: usize,
    },
    /// Single bytes: where they come from, where they go.
    Move {
        from: u32,
        to: u32,
        bytes: Vec<(usize, usize)>,
    },
    Stir {
        from: u32,
        of: Range<usize>,
        to: u32,
        range: Range<usize>,
    },
    Saw {
        from: u32,
        range: Range<usize>,
        bytes: Vec<u8>,
    },
    Read {
        from: u32,
        range: Range<usize>,
        bytes: PendingRead<u8>,
    },
    /// Bytes on their way, each with its place.
    Gathered {
        from: u32,
        places: Vec<Option<usize>>,
        bytes: PendingRead<u8>,
    },
}

/// A command in the order of the calls.
pub struct Entry {
    /// `None` for one that blocked.
    pub event: Option<Event>,
    pub wait: Vec<Event>,
    pub effect: Effect,
}
