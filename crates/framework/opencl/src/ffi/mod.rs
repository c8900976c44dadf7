//! The edge to OpenCL below the public types: handles, the order of commands, and drivers' quirks.
//!
//! The calls go through the functions that opencl3 re-exports from cl3. Its own object types are not used, because
//! their `Drop` ends the program when a driver reports an error; [`handle::Handle`] logs it instead.
//!
//! A kernel is code that the caller supplies, like a linked library. That it stays inside its memory is the caller's
//! promise, which no wrapper can check.

pub(crate) mod adopt;
mod callback;
mod extension;
mod gl;
pub(crate) mod gl_context;
mod gl_fns;
mod gl_open;
mod gl_share;
pub(crate) mod handle;
mod image;
mod kernel;
pub(crate) mod lone_event;
mod map;
pub(crate) mod may_fail;
mod mem;
pub(crate) mod notify;
mod program;
pub(crate) mod query;
mod rect;
pub(crate) mod status;
pub(crate) mod track;

pub use extension::{find as extension_function, why_no_library};
pub use gl_context::{current_device_of, devices_of};
pub use gl_open::GlObject;
pub use gl_share::GlShare;
pub use image::ImageBox;
pub use kernel::{Kernel, LaunchFailure, Range};
pub use map::{MapMode, MappedBytes};
pub use mem::{HostMem, ImageShape, Mem};
pub use notify::OnError;
pub use program::Program;
pub use query::{DeviceId, PlatformId};
pub use rect::RectLayout;
pub use status::{Status, of_user_event};
pub use track::{OVERLAP, holder_of};

/// Codes of our own, which no driver uses. They say that the GL context is not current on this thread, a GL object is
/// used outside a turn, or OpenGL lacks a function.
pub const WRONG_CONTEXT: i32 = -2102;
pub const NOT_ACQUIRED: i32 = -2103;
pub const GL_FUNCTION_MISSING: i32 = -2104;
/// Code of our own: a turn was to begin with a GL object that is in the middle of one.
pub const ACQUIRED: i32 = -2106;
/// Code of our own: the memory is no GL object.
pub const NO_GL_OBJECT: i32 = -2107;
/// Code of our own: the object belongs to another context or program.
pub const FOREIGN: i32 = -2105;

/// A call that did not return `CL_SUCCESS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// The API function.
    pub operation: &'static str,
    /// Its code; opencl3 adds -2000 (no library) and -2001 (no such function).
    pub code: i32,
}

pub(crate) fn check<T>(operation: &'static str, result: Result<T, i32>) -> Result<T, Failure> {
    result.map_err(|code| Failure { operation, code })
}
