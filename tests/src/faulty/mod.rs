//! Doubles for fault injection: the CPU backend and the memory display, wrapped, so that any call can be made to fail.
//!
//! Between them every path of the table exists, in plain memory: handles are names in a list of this thread. They also
//! watch the two sides taking turns; what a real device would tear, stall or hang on is a [`Faults::violations`].

// A double passes on every call: a method that a trait gains with a body of its own must not end here unseen.
#![deny(clippy::missing_trait_methods)]

mod backend;
mod counter;
mod display;
mod handles;
mod memory;
mod semaphore;
mod staging;
mod surface;
mod turn;

pub use backend::FaultyBackend;
pub use display::FaultyDisplay;
pub use pixelferry_faults::{Fault, FaultKind, Faults, Side, Step};
