//! Backends by whose kernels displays draw.

use crate::backends::DRIVERS;
#[cfg(any(feature = "cuda", feature = "opencl"))]
use crate::displays::Beside;
use interop_core::Api;
#[cfg(any(feature = "cuda", feature = "opencl"))]
use interop_core::{ComputeBackend, Error};
#[cfg(any(feature = "cuda", feature = "opencl"))]
use std::sync::Arc;

/// True where a display can draw by kernels of this API's devices.
pub(crate) fn draws(api: Api) -> bool {
    DRIVERS.iter().any(|driver| driver.draws && driver.api == api)
}

/// A backend by whose kernels a display can draw: the one that computes, or the best there is.
///
/// # Errors
/// Those of the last API that was tried.
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) fn open_that_draws(beside: Beside<'_>) -> interop_core::Result<Arc<dyn ComputeBackend>> {
    if let Some(backend) = beside.filter(|backend| draws(backend.device().api)) {
        return Ok(Arc::clone(backend));
    }
    let mut last = None;
    for driver in DRIVERS.iter().filter(|driver| driver.draws) {
        match (driver.best)() {
            Ok(backend) => return Ok(backend),
            Err(reason) => last = Some(reason),
        }
    }
    Err(last.unwrap_or_else(|| Error::invalid("open_headless", "no backend draws")))
}

/// Every device by whose kernels a display can draw; those that do not open are left out.
///
/// # Errors
/// Those of the last API where none has a device.
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) fn open_all_that_draw() -> interop_core::Result<Vec<Arc<dyn ComputeBackend>>> {
    let (mut backends, mut last) = (Vec::new(), None);
    for driver in DRIVERS.iter().filter(|driver| driver.draws) {
        match (driver.list)() {
            Ok(listed) => backends.extend(listed.iter().filter_map(|device| (device.open)().ok())),
            Err(reason) => last = Some(reason),
        }
    }
    match last {
        Some(reason) if backends.is_empty() => Err(reason),
        _ => Ok(backends),
    }
}
