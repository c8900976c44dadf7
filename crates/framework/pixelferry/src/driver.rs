//! For authors of backends, displays and paths: the interfaces to implement, and the types that pass between the two
//! sides.
//!
//! Programs that compute, show and measure frames need none of this: a [`Link`](crate::Link) makes these calls for
//! them. To add a driver, implement [`BackendDriver`] or [`DisplayDriver`], describe the memory that it shares with
//! [`ComputeCaps`] or [`DisplayCaps`], and pass [`conformance`]. To add a path, write a [`PathSpec`] and pass it to
//! [`Policy::paths`](crate::Policy::paths). Names that users need as well are only at the top level.
//!
//! The modules are the complete modules of `interop-core`; top-level names of that crate that users do not need are
//! here. Each item documents its errors and thread rules.

pub use crate::pair::backend_in;
pub use interop_core::compute::{BackendDriver, CheckToken, MemoryDriver};
pub use interop_core::display::{
    Content, DisplayDriver, InPlaceDriver, Reach, SemaphoreDriver, ShowTarget, StagingDriver, StoredDriver,
    SurfaceDriver, TargetPixels,
};
pub use interop_core::{
    ComputeCaps, ComputeSemaphore, DeviceClock, DeviceLuid, DeviceSpan, DeviceUuid, DisplayCaps, DisplaySemaphore,
    FrameTag, GlContext, GlName, HandleType, HostBlock, MemoryCap, MemoryHandle, MemoryKind, MemoryShape, OsHandle,
    PathSpec, Paths, QueueId, SemaphoreCap, SemaphoreHandle, SharedHandle, SharingPath, Staging, StagingKind,
    SurfacePart, compute, conformance, describe, devices, display, draw, engine, leak_if_forked, link, owned, path,
    select,
};
