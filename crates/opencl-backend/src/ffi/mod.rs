//! The edge to OpenCL: every `unsafe` block of the crate, behind functions that are safe to call.
//!
//! The calls go through the functions that opencl3 re-exports from cl3. Its own object types are not used, because
//! their `Drop` ends the program when a driver reports an error; [`handle::Handle`] logs it instead.
//!
//! A kernel is code that the caller supplies, like a library linked in: that it stays inside its memory is the
//! caller's promise, and no wrapper can check it.

mod buffer;
mod callback;
pub mod command;
mod context;
mod event;
mod fission;
mod handle;
mod image;
mod kernel;
pub mod lane;
mod map;
mod mem;
mod native;
mod pending;
mod pinned;
mod profile;
mod program;
mod query;
mod queue;
mod rect;
mod session;
mod track;
mod transfer;

pub use buffer::Buffer;
pub use context::{Context, Device};
pub use event::{Event, Status, UserEvent};
pub use image::{Image, ImageBox};
pub use kernel::{ArgValue, Kernel, LaunchFailure, ParamInfo, Range};
pub use map::{MapMode, Mapped};
pub use mem::{HostMem, ImageShape, Mem, Sampler, image_formats};
pub use native::NativeLaunch;
pub use pending::{Owned, Reading};
pub use pinned::Pinned;
pub use profile::{TimedCommand, collect};
pub use program::Program;
pub use query::{DeviceId, PlatformId};
pub use queue::{Queue, QueueProperties};
pub use rect::RectLayout;
pub use session::Session;
pub use track::{MAPPED, OVERLAP};
pub use transfer::{Element, RectTransfer};

/// A call that did not return `CL_SUCCESS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// The API function.
    pub operation: &'static str,
    /// Its code; opencl3 adds -2000 (no library) and -2001 (no such function).
    pub code: i32,
}

fn check<T>(operation: &'static str, result: Result<T, i32>) -> Result<T, Failure> {
    result.map_err(|code| Failure { operation, code })
}
