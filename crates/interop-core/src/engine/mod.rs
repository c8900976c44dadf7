//! An engine's own textures and buffers, which it names once and keeps: kernels read what it rendered there ([`Intake`]), and
//! write what it draws ([`Outlet`]).
//!
//! The paths are those of [`crate::path`], with their names and their needs. Each that both sides offer is opened, proved by
//! pixels, and timed; the fastest is taken.

mod choose;
mod direct;
mod intake;
mod outlet;
mod proof;
mod reach;
mod way;

pub use choose::EnginePath;
pub use intake::{Intake, Taken};
pub use outlet::{Outlet, OutletFrame, OutletOptions};
pub(crate) use way::is_object;
