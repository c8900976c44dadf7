//! An engine's own textures and buffers, whose names stay fixed: kernels read their rendered content ([`Intake`]) and
//! write content for the engine to draw ([`Outlet`]).
//!
//! The paths are those of [`crate::path::PATHS`] that support it, under the same names and requirements. Each path that
//! both sides offer is opened with a surface of its own, verified with pixels there, and timed. Then the engine's
//! object replaces that surface on the fastest path.

mod intake;
mod outlet;
mod proof;
mod reach;

pub use intake::{Intake, IntakeGuard};
pub use outlet::{Outlet, OutletFrame, OutletOptions};
pub(crate) use proof::compare;
pub use reach::EnginePath;
