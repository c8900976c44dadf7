//! Doubles that exist only to inject faults: a compute backend and a display of any kind, wrapped, so that any call of the
//! two contracts can be made to fail while a program runs.
//!
//! What passes through is unchanged: surfaces and staging blocks name the wrapped side's own types
//! ([`interop_core::Surface::driver`]), and the backend's double finds the wrapped memory, so that drawing, kernels and every
//! path work as without them. A call that is to fail is still made where not
//! making it could leave a device writing memory that is freed; it reports failure in either case.
//!
//! | to find | look in |
//! |---|---|
//! | which calls there are | [`FaultStep`] |
//! | what is to fail, and how | [`Faults`], [`Fault`], [`FaultKind`] |
//! | the side that writes, wrapped | [`BackendDouble`] |
//! | the side that shows, wrapped | [`DisplayDouble`] |

// A double passes on every call: a method that a trait gains with a body of its own must not end here unseen.
#![deny(clippy::missing_trait_methods)]

mod arm;
mod backend;
mod display;
mod double;
mod forward;
mod queue;
mod step;
mod wrapped_memory;

pub use arm::{Alive, Fault, FaultKind, Faults};
pub use backend::BackendDouble;
pub use display::DisplayDouble;
pub use step::FaultStep;
#[doc(hidden)]
pub use wrapped_memory::{WrappedMemory, Wraps};
