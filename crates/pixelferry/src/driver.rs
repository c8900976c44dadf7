//! For authors of backends, displays and paths: the contracts that theirs fulfil, and what passes between the two sides.
//!
//! Programs that compute, show and measure frames need nothing of it: a [`Link`](crate::Link) makes these calls for them.
//! Whoever adds a driver implements [`BackendDriver`] or [`DisplayDriver`], says by
//! [`ComputeCaps`] or [`DisplayCaps`] what memory it shares, and passes [`conformance`]. Whoever adds a path writes a
//! [`PathSpec`] and gives it to [`Policy::paths`](crate::Policy::paths). Names that users need, too, are at the top alone.
//!
//! The modules are those of `interop-core`, with all that it has; names at the top of that crate that users do not need
//! are here. Errors and thread rules stand at each item.

pub use crate::pair::backend_in;
pub use interop_core::compute::{BackendDriver, Checked, MemoryDriver};
pub use interop_core::display::{
    Content, DisplayDriver, InPlaceDriver, Reach, SemaphoreDriver, ShowTarget, StagingDriver, StoredDriver,
    SurfaceDriver, TargetPixels,
};
pub use interop_core::{
    ComputeCaps, ComputeSemaphore, DeviceClock, DeviceLuid, DeviceSpan, DeviceUuid, DisplayCaps, DisplaySemaphore,
    FrameTag, GlContext, GlName, HandleType, HostBlock, MemoryCap, MemoryHandle, MemoryKind, MemoryShape, OsHandle,
    Part, PathSpec, Paths, QueueId, SemaphoreCap, SemaphoreHandle, SharedHandle, SharingPath, Staging, StagingKind,
    compute, conformance, describe, devices, display, draw, engine, leak_if_forked, link, owned, path, select,
};
