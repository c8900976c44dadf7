//! The side that shows: what a display must offer.

pub mod checks;
mod contract;
mod part;
mod staging;
mod surface;

pub use contract::{Display, DisplaySemaphore};
pub use part::Part;
pub use staging::{HostWrites, Staging, StagingKind};
pub use surface::Surface;
