//! The backend-agnostic heart of pixelferry.
//!
//! A *compute* side ([`ComputeBackend`]) and a *display* side ([`Display`]) each say, as plain data
//! ([`ComputeCaps`], [`DisplayCaps`]), what memory they can hand over and take. A *sharing path*
//! ([`SharingPath`], one row of [`path::PATHS`], or of a program's own [`Paths`]) is one way of joining the two. [`select::open_path`] proves
//! with pixels which joins work and picks one; a [`Link`] is the result, and its guards
//! ([`WriteFrame`], [`ShownFrame`]) make it impossible to draw a frame that is still being computed.
//!
//! This crate knows no driver: backends and displays are crates of their own.
//!
//! Rooms from the lowest to the highest; each may import those above it in this table, and `cargo xtask check-imports` sees
//! to that:
//!
//! | room | what it holds | what it may import |
//! |---|---|---|
//! | [`describe`] | what pictures, buffers and their numbers are ([`color`](describe::color)), errors, the pattern | nothing |
//! | [`devices`] | what devices say of themselves, handles that cross, host memory and who may look at it, timelines | [`describe`] |
//! | [`tournament`] | who of several is quickest, and how sure that is; knows no path and no draw, so that all who choose use it | [`devices`] and below |
//! | [`draw`] | how a frame is drawn, whatever draws it | [`tournament`] and below |
//! | [`display`] | what a display must do | [`draw`] and below |
//! | [`compute`] | what a backend must do; queues, events, futures | [`display`] (to open a device in its context) and below |
//! | [`path`] | how bytes get across | [`compute`] and below |
//! | [`select`] | which way is taken, and why: proof by pixels, timing, reports | [`path`] and below |
//! | [`engine`] | an engine's own textures and buffers: what it rendered there, for kernels, and what kernels write there | [`select`] and below |
//! | [`link`] | what the user holds | [`select`] and below |
//! | [`conformance`] | what every path and display must pass | all of them |

pub mod compute;
pub mod conformance;
pub mod describe;
pub mod devices;
pub mod display;
pub mod draw;
pub mod engine;
pub mod link;
pub mod path;
pub mod select;
pub mod tournament;

pub use compute::{
    Arg, Argument, ComputeBackend, ComputeMemory, ComputeSemaphore, Kernel, KernelSource, MemoryDriver, Target,
};
pub use compute::{
    ComputeQueue, Event, EventStatus, HostBuffer, Priority, QueueOptions, RawMemory, RawTarget, ReadBack, UserEvent,
};
pub use describe::color::{AlphaMode, Encoding, TargetEncoding, ToneMap};
pub use describe::error::{DriverError, Error, Result};
pub use describe::format::PixelFormat;
pub use describe::geometry::{Extent, ExtentError, Region, RowOrder};
pub use describe::path_id::{PathId, PathKind};
pub use describe::surface::{BufferDesc, ImageAccess, ImageDesc, MemoryShape, SurfaceDesc, Unwritten};
pub use describe::view::{BufferView, ImageView, View};
pub use devices::capability::{ComputeCaps, DisplayCaps, HandleType, MemoryCap, SemaphoreCap, Support, SyncKind};
pub use devices::gl_context::{GlContext, GlName};
pub use devices::host_block::HostBlock;
pub use devices::identity::{Api, DeviceIdentity, DeviceLuid, DeviceUuid, MemoryKind};
pub use devices::language::Language;
pub use devices::os_handle::OsHandle;
pub use devices::queue_id::QueueId;
pub use devices::shared_handle::{MemoryHandle, SemaphoreHandle, SharedHandle};
pub use devices::timeline::{DeviceClock, DeviceSpan, FrameTag};
pub use display::{Display, DisplaySemaphore, Part, ShowTarget, Staging, StagingKind, Surface, TargetPixels};
pub use draw::{DrawOptions, Drawn, Filter, Fit, Manner, Placement};
pub use engine::{EnginePath, Intake, Outlet, OutletFrame, OutletOptions, Taken};
pub use link::{Detour, Link, LinkOptions, SharedFrame, SharedLink, Showed, ShownFrame, StartedFrame, WriteFrame};
pub use path::{PathSpec, Paths, SharingPath};
pub use select::report::{Diagnosis, Lateness, PathReport, PathState, ProbeReport};
pub use select::{Measured, Mode, Policy, Profiles, Ratio, Trials};

#[cfg(test)]
#[path = "../tests/compile_fail.rs"]
mod compile_fail;
