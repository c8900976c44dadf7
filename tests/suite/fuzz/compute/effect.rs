//! What operations do to memory.

use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::{Event, ImageView, ReadBack, View};
use std::ops::Range;

/// What an operation does where it succeeds.
pub enum Effect {
    Nothing,
    /// It cannot succeed.
    Fails,
    Write {
        to: u32,
        offset: usize,
        bytes: Vec<u8>,
    },
    Fill {
        to: u32,
        range: Range<usize>,
        pattern: Vec<u8>,
    },
    Copy {
        from: u32,
        range: Range<usize>,
        to: u32,
        offset: usize,
    },
    Stamp {
        to: u32,
        range: Range<usize>,
        seed: u32,
    },
    Mix {
        to: u32,
        range: Range<usize>,
        from: u32,
    },
    Image {
        to: u32,
        view: ImageView,
        seed: u32,
    },
    Pattern {
        to: u32,
        view: View,
        pattern: Pattern,
    },
    /// Bytes that were read; they must be those of this moment.
    Saw {
        from: u32,
        range: Range<usize>,
        bytes: Vec<u8>,
    },
    /// Bytes on their way.
    Read {
        from: u32,
        range: Range<usize>,
        bytes: ReadBack,
    },
}

/// An operation in the order of the calls.
pub struct Entry {
    /// `None` for one that blocked.
    pub event: Option<Event>,
    pub wait: Vec<Event>,
    pub effect: Effect,
}
