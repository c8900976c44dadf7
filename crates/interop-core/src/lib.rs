//! The backend-agnostic heart of pixelferry.
//!
//! A *compute* side ([`ComputeBackend`]) and a *display* side ([`Display`]) each say, as plain data
//! ([`ComputeCaps`], [`DisplayCaps`]), what memory they can hand over and take. A *sharing path*
//! ([`SharingPath`], one row of [`path::PATHS`], or of a program's own [`Paths`]) is one way of joining the two. [`select::open_path`] proves
//! with pixels which joins work and picks one; a [`Link`] is the result, and its guards
//! ([`WriteFrame`], [`ShownFrame`]) make it impossible to draw a frame that is still being computed.
//!
//! This crate knows no driver: backends and displays are crates of their own and know nothing of each other.
//!
//! | to find | look in |
//! |---|---|
//! | what a picture or buffer is | [`surface`], [`format`](mod@format), [`geometry`], [`view`] |
//! | what a device says of itself | [`device`], [`capability`] |
//! | what a backend must do | [`compute`] |
//! | queues, events, futures | [`ComputeQueue`], [`Event`], [`ReadBack`] |
//! | what a display must do | [`display`] |
//! | who may look at which bytes of host memory | [`host_block`], [`borrows`], [`ranges`] |
//! | how a frame is drawn | [`look`] |
//! | what its numbers mean | [`color`] |
//! | handles that cross | [`shared_handle`], [`os_handle`], [`gl_context`] |
//! | how bytes get across | [`path`] |
//! | proof that they did | [`pattern`], [`verify`] |
//! | which way is taken, and why | [`select`], [`report`] |
//! | what the user holds | [`link`] |
//! | what happened when, on the host and on the devices | [`timeline`] |
//! | what every path must pass | [`conformance`] |
//! | panics of callers' code | [`panics`] |

pub mod borrows;
pub mod capability;
pub mod color;
pub mod compute;
pub mod conformance;
pub mod device;
pub mod display;
pub mod error;
pub mod format;
pub mod geometry;
pub mod gl_context;
pub mod host_block;
pub mod language;
mod limits;
pub mod link;
pub mod loading;
pub mod look;
pub mod mismatch;
pub mod os_handle;
pub mod panics;
pub mod path;
pub mod path_id;
pub mod pattern;
pub mod ranges;
pub mod report;
pub mod select;
pub mod shared_handle;
pub mod surface;
pub mod timeline;
pub mod verify;
pub mod view;

pub use capability::{ComputeCaps, DisplayCaps, HandleType, MemoryCap, SemaphoreCap, Support, SyncKind};
pub use color::{AlphaMode, Encoding, TargetEncoding, ToneMap};
pub use compute::{Arg, ComputeBackend, ComputeMemory, ComputeSemaphore, Kernel, KernelSource, Target};
pub use compute::{ComputeQueue, Event, EventStatus, HostBuffer, QueueOptions, ReadBack, UserEvent};
pub use device::{Api, DeviceIdentity, DeviceLuid, DeviceUuid, MemoryKind};
pub use display::{Display, DisplaySemaphore, Part, Staging, StagingKind, Surface};
pub use error::{DriverError, Error, Result};
pub use format::PixelFormat;
pub use geometry::{Extent, Region, RowOrder};
pub use gl_context::{GlContext, GlName};
pub use host_block::HostBlock;
pub use language::Language;
pub use link::{Link, LinkOptions, ShownFrame, WriteFrame};
pub use look::{DrawOptions, Filter, Fit};
pub use os_handle::OsHandle;
pub use path::{PathSpec, Paths, SharingPath};
pub use path_id::{PathId, PathKind};
pub use report::{Diagnosis, Lateness, PathReport, PathState, ProbeReport};
pub use select::{Measured, Mode, Policy, Profiles, Ratio};
pub use shared_handle::{MemoryHandle, SemaphoreHandle, SharedHandle};
pub use surface::{BufferDesc, ImageAccess, ImageDesc, MemoryShape, SurfaceDesc, Unwritten};
pub use timeline::{DeviceClock, DeviceSpan, FrameTag};
pub use view::{BufferView, ImageView, View};
