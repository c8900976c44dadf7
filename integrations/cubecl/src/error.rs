//! Converts errors of CubeCL to pixelferry's.

use pixelferry::api::wgpu::WgpuDevice;
use pixelferry::driver::describe::panics::catch;
use pixelferry::{DriverError, Error, Result};
use std::fmt::Display;

/// Calls CubeCL. Its errors and panics become errors of `operation`.
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

const HINT: &str = "If the device was lost, make a new guest and new links; otherwise check the kernel.";
