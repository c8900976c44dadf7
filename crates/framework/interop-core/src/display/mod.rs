//! The display side: the interface of a display, and the checks in front of it.
//!
//! Users own a [`Surface`] and a [`Staging`]. Both check their calls once, so the calls of a display's
//! [`StoredDriver`], [`InPlaceDriver`] or [`StagingDriver`] have valid arguments.

pub mod checks;
mod content;
mod contract;
mod semaphore;
mod show_target;
mod staging;
mod surface;
mod surface_part;
mod threads;
mod watch;

pub use content::{Bytes, Content, Pixels};
pub use contract::{Display, DisplayDriver};
pub use semaphore::{DisplaySemaphore, SemaphoreDriver};
pub use show_target::{ShowTarget, TargetPixels};
pub use staging::{Reach, Staging, StagingDriver, StagingKind};
pub use surface::{InPlaceDriver, StoredDriver, Surface, SurfaceDriver};
pub use surface_part::SurfacePart;
pub(crate) use threads::is_same;
pub use threads::{AnyThread, AnyThreadDisplay, OneThread};
pub use watch::{Call, Hook, Watch};
