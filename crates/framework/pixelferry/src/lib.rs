#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
pub mod api;
mod auto_link;
mod availability;
mod backend_rows;
mod backends;
mod choice;
pub mod command;
mod display_rows;
mod displays;
pub mod doctor;
pub mod driver;
mod files;
#[cfg(doc)]
pub mod guide;
mod headless;

#[cfg(all(feature = "stream", target_os = "linux"))]
pub mod isolation;
mod listed_device;
mod pair;
#[cfg(feature = "picture")]
mod picture;
pub mod prelude;
mod probe;
pub mod report;
#[cfg(all(feature = "picture", feature = "window"))]
mod show;
#[cfg(all(feature = "stream", target_os = "linux"))]
pub mod stream;

/// Backend, display and path, chosen together.
pub use auto_link::{AutoLink, InitialContent, LinkBuilder, OpenedLink, Scratch};
pub use backend_rows::BackendChoice;
pub use backends::{open_all_backends, open_backend};
/// The display on a compute device, which its own kernels draw.
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub use compute_display::{ComputeDisplay, ComputeTarget};
pub use cpu_fallback::{CpuArgs, CpuBackend, CpuBuffer, CpuImage, CpuKernelExt, MemoryDisplay};
pub use display_rows::DisplayChoice;
pub use displays::{open_all_headless, open_headless};
pub use headless::HeadlessDisplay;
pub use interop_core::{
    AlphaMode, AnyThread, AnyThreadDisplay, Api, Arg, Argument, Audit, AuditReport, AuditVerdict, BufferDesc,
    BufferView, ComputeBackend, ComputeMemory, ComputeQueue, Detour, DeviceIdentity, Display, DrawOptions, DrawReport,
    DriverError, Encoding, EnginePath, Error, Event, EventStatus, Extent, ExtentError, Filter, Fit, HostBuffer,
    ImageAccess, ImageDesc, ImageView, Intake, IntakeGuard, Kernel, KernelSource, Language, Link, LinkCore,
    LinkOptions, Manner, Mode, OneThread, Outlet, OutletFrame, OutletOptions, PathId, PathKind, PixelFormat, Placement,
    Policy, Priority, Profiles, QueueOptions, RawMemory, RawTarget, ReadBack, Region, Result, RowOrder, SharedFrame,
    SharedLink, ShowOutcome, ShownFrame, StartedFrame, Support, Surface, SurfaceDesc, SyncKind, Target, TargetEncoding,
    ToneMap, Trials, Unwritten, UserEvent, View, WriteFrame,
};
#[cfg(feature = "picture")]
pub use picture::{SaveError, picture, picture_png, picture_with, save_picture, save_picture_with, save_rgba8};
pub use probe::{probe, probe_with};
#[cfg(all(feature = "picture", feature = "window"))]
pub use show::{Show, show};
