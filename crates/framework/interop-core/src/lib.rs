//! The core of pixelferry, independent of any backend.
//!
//! A *compute* side ([`ComputeBackend`]) and a *display* side ([`Display`]) each describe, as plain data
//! ([`ComputeCaps`], [`DisplayCaps`]), which memory they can export and import. A *sharing path* ([`SharingPath`], one
//! row of [`path::PATHS`] or of a program's own [`Paths`]) is one way of joining the two. [`select::open_path`]
//! verifies with pixels which paths work and picks one. The result is a [`Link`]; its guards ([`WriteFrame`],
//! [`ShownFrame`]) make it impossible to draw a frame that is still being computed.
//!
//! This crate calls no driver: backends and displays are crates of their own.
//!
//! The modules from the lowest to the highest. Each may import those before it in this table, and `cargo xtask
//! check-imports` enforces that.
//!
//! | module | content | may import |
//! |---|---|---|
//! | [`describe`] | pictures, buffers and their numbers ([`color`](describe::color)), errors, the verification pattern
//! | nothing |
//! | [`devices`] | capabilities and identities of devices, handles that cross APIs, host memory and its users,
//! timelines | [`describe`] |
//! | [`tournament`] | comparing candidates by time, and with which certainty; independent of paths and draws, so that
//! every choice uses it | [`devices`] and below |
//! | [`draw`] | how a frame is drawn, on any display | [`tournament`] and below |
//! | [`display`] | the interface of a display | [`draw`] and below |
//! | [`compute`] | the interface of a backend; queues, events, futures | [`display`] (to open a device in its context)
//! and below |
//! | [`path`] | how bytes reach the display | [`compute`] and below |
//! | [`select`] | which path is chosen, and why: verification with pixels, timing, reports | [`path`] and below |
//! | [`audit`] | frames that are proved while a program runs | [`select`] and below |
//! | [`engine`] | an engine's own textures and buffers, which kernels read and write | [`select`] and below |
//! | [`link`] | the user's object: links, frames, targets | [`select`] and below |
//! | [`conformance`] | tests that every path and display must pass | all of them |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod audit;
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
pub use describe::audit_report::AuditReport;
pub use describe::color::{AlphaMode, Encoding, TargetEncoding, ToneMap};
pub use describe::error::{DriverError, Error, Result};
pub use describe::format::PixelFormat;
pub use describe::geometry::{Extent, ExtentError, Region, RowOrder, Viewport};
pub use describe::path_id::{PathId, PathKind};
pub use describe::surface::{BufferDesc, ImageAccess, ImageDesc, MemoryShape, SurfaceDesc, Unwritten};
pub use describe::verdict::AuditVerdict;
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
pub use display::{
    AnyThread, AnyThreadDisplay, Display, DisplaySemaphore, OneThread, ShowTarget, Staging, StagingKind, Surface,
    SurfacePart, TargetPixels,
};
pub use draw::{DrawOptions, DrawReport, Filter, Fit, Manner, Placement};
pub use engine::{EnginePath, Intake, IntakeGuard, Outlet, OutletFrame, OutletOptions};
pub use link::{
    Detour, Link, LinkCore, LinkOptions, SharedFrame, SharedLink, ShowOutcome, ShownFrame, StartedFrame, WriteFrame,
};
pub use path::{PathSpec, Paths, SharingPath};
pub use select::report::{Diagnosis, Lateness, PathReport, PathState, ProbeReport};
pub use select::{Audit, Mode, PathCost, Policy, Profiles, Ratio, Trials};

#[cfg(test)]
#[path = "../tests/compile_fail.rs"]
mod compile_fail;
