//! Sharing paths: how a frame gets from the compute side to the display.
//!
//! A mechanism is one file and one row (or a few, for its variants) in [`PATHS`]. [`PathSpec::check_support`] compares
//! only the published capabilities of both sides, and [`PathSpec::open`] creates the resources.
//! [`crate::select::verify`] determines whether pixels really arrive. A program adds its own paths with [`Paths`].
//!
//! # The age of a frame
//! In latency mode the shown frame is the last finished one. In pipelined mode it is the one finished
//! [`frames_behind`](SharingPath::frames_behind) frames before. The host waits only for that older frame, which is long
//! done, so neither device waits for the other. A GPU that must switch between a compute and a graphics context then
//! switches once for several frames. The very first frame is shown at once, so that there is always one.

mod canvas;
mod contract;
mod cost;
mod direct;
mod host_round_trip;
mod layout;
mod opened_path;
mod pairing;
mod paths;
mod pattern_frame;
mod pbo_staging;
mod pieces;
mod plugged_path;
mod shared_memory;
mod slot_sync;
mod spec;
mod table;
mod unwritten;

pub use crate::describe::path_id::{PathId, PathKind};
pub use canvas::Canvas;
pub use contract::SharingPath;
pub use cost::{Cost, Medium};
pub use direct::DirectPath;
pub use host_round_trip::HostRoundTrip;
pub use layout::{FrameLayout, FrameTransfer};
pub use opened_path::OpenedPath;
pub(crate) use pairing::Direction;
pub use pairing::Pairing;
pub use paths::Paths;
pub(crate) use pattern_frame::{begin_from_zero, blank, pattern_frame, pattern_part};
pub use pbo_staging::PboStaging;
pub use pieces::Piece;
pub use plugged_path::PluggedPath;
pub use shared_memory::{ReadMethod, SharedMemory};
pub(crate) use slot_sync::RING_SLOTS;
pub use spec::PathSpec;
pub use table::PATHS;
pub(crate) use table::is_object;
pub(crate) use unwritten::clear;
