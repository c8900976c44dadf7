//! Devices that share everything: the CPU backend and the memory display, which also take and give memory by handles, inside
//! doubles that can make any call fail.
//!
//! Between them every path of the table exists, in plain memory: handles are names in a list of this thread. They also
//! watch the two sides taking turns; what a real device would tear, stall or hang on is a [`Faults::violations`].

mod backend;
mod display;
mod handles;
mod semaphore;
mod staging;
mod surface;
mod turn;

use crate::faults::{BackendDouble, DisplayDouble};
use pixelferry::{ComputeBackend, Display};
use std::sync::Arc;

pub use crate::faults::{Fault, FaultKind, FaultStep, Faults};

/// The backend, failing as `faults` says.
///
/// # Panics
/// Where the system gives no threads.
pub fn backend(faults: &Faults) -> Arc<dyn ComputeBackend> {
    faults.leave_ends_out();
    let inner = backend::SharingBackend::new(faults).unwrap_or_else(|error| panic!("{error}"));
    BackendDouble::over(Arc::new(inner), faults)
}

/// The display, failing as `faults` says, in the queue that the backend computes in.
pub fn display(faults: &Faults) -> Arc<dyn Display> {
    display_in(true, faults)
}

/// The same in a queue that is not the backend's.
pub fn display_in_a_queue_of_its_own(faults: &Faults) -> Arc<dyn Display> {
    display_in(false, faults)
}

fn display_in(the_backends_queue: bool, faults: &Faults) -> Arc<dyn Display> {
    faults.leave_ends_out();
    DisplayDouble::over(Arc::new(display::SharingDisplay::new(the_backends_queue, faults)), faults)
}
