//! An engine's own textures and buffers, which it names once and keeps: kernels read what it rendered there
//! ([`Intake`]), and write what it draws ([`Outlet`]).
//!
//! The paths are those of [`crate::path::PATHS`] that say so, with their names and their needs. Each that both sides
//! offer is opened with a surface of its own, proved by pixels there, and timed; then the engine's object takes the
//! place of that surface in the fastest.

mod intake;
mod outlet;
mod proof;
mod reach;

pub use intake::{Intake, Taken};
pub use outlet::{Outlet, OutletFrame, OutletOptions};
pub(crate) use proof::compare;
pub use reach::EnginePath;
