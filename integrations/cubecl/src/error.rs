//! Errors of CubeCL, as pixelferry's errors.

use pixelferry::api::wgpu::WgpuDevice;
use pixelferry::driver::describe::panics::catch;
use pixelferry::{DriverError, Error, Result};
use std::fmt::Display;

/// Calls CubeCL. What it reports, and a panic of its own, is an error of `operation`.
pub fn call<T, E: Display>(
    device: &WgpuDevice,
    operation: &'static str,
    f: impl FnOnce() -> Result<T, E>,
) -> Result<T> {
    match catch(f) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            let failed = DriverError::new(operation, device.identity.to_string(), 0, format!("CubeCL: {error}"));
            Err(failed.with_hint(HINT).into())
        }
        Err(panicked) => {
            Err(Error::Panicked { what: format!("CubeCL in {operation}"), reason: panicked.message().to_owned() })
        }
    }
}

const HINT: &str = "Where the device was lost, make a new guest and new links; else look at the kernel.";
