//! The interface to the CUDA driver: all `unsafe` code of this crate, in types that own their resources.
//!
//! Every method makes the context current on the calling thread and restores the previous one. Nothing here panics;
//! failures during drops are logged.

pub mod api;
pub mod command;
pub mod context;
pub mod copy;
pub mod device_memory;
#[cfg(test)]
pub mod double;
pub mod event;
pub mod external_memory;
pub mod foreign_memory;
pub mod gate;
pub mod graphics;
pub mod host_memory;
pub mod module;
pub mod nvrtc;
#[cfg_attr(unix, path = "os/unix.rs")]
#[cfg_attr(windows, path = "os/windows.rs")]
pub mod os;
pub mod probe;
pub mod registry;
pub mod semaphore;
pub mod shared_memory;
pub mod span;
pub mod stream;
pub mod submit_queue;

pub use api::MissingApi;
pub use context::Queue;
pub use device_memory::DeviceBlock;
pub use span::Span;
pub use stream::Stream;

/// A failed driver call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// The entry point, as the library exports it.
    pub operation: &'static str,
    /// A `CUresult`, or an `nvrtcResult` for entry points whose name starts with `nvrtc`.
    pub code: u32,
}

/// `CUDA_ERROR_INVALID_VALUE`.
pub const INVALID_VALUE: u32 = 1;

impl Failure {
    pub const fn check(operation: &'static str, code: u32) -> Result<(), Self> {
        match code {
            0 => Ok(()),
            code => Err(Self { operation, code }),
        }
    }

    /// Logs a failure in a `Drop`, which cannot return it.
    pub fn log(result: Result<(), Self>) {
        if let Err(Self { operation, code }) = result {
            tracing::debug!(operation, code, "a CUDA call failed during cleanup");
        }
    }
}
