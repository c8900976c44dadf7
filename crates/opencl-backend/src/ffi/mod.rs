//! The edge to OpenCL: every `unsafe` block of the crate, behind functions that are safe to call.
//!
//! The calls go through the functions that opencl3 re-exports from cl3. Its own object types are not used, because
//! their `Drop` ends the program when a driver reports an error; [`handle::Handle`] logs it instead.
//!
//! A kernel is code that the caller supplies, like a library linked in: that it stays inside its memory is the
//! caller's promise, and no wrapper can check it.

mod buffer;
mod handle;
mod pinned;
mod profile;
mod program;
mod query;
mod session;

pub use buffer::Buffer;
pub use pinned::Pinned;
pub use profile::{TimedCommand, collect};
pub use program::{ArgValue, Kernel, LaunchFailure, ParamInfo, Program};
pub use query::{DeviceId, PlatformId};
pub use session::Session;

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
