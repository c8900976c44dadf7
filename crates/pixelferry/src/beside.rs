//! Backends by whose kernels displays draw.

use crate::backends::DRIVERS;
#[cfg(any(feature = "cuda", feature = "opencl"))]
use interop_core::Error;
use interop_core::{Api, ComputeBackend, DeviceIdentity};
use std::sync::Arc;

/// The side that computes beside a display that is opened, as far as that is known.
#[derive(Clone, Copy)]
pub(crate) enum Beside<'a> {
    Anybody,
    Device(&'a DeviceIdentity),
    Backend(&'a Arc<dyn ComputeBackend>),
}

impl<'a> Beside<'a> {
    pub(crate) fn device(self) -> Option<&'a DeviceIdentity> {
        match self {
            Self::Anybody => None,
            Self::Device(device) => Some(device),
            Self::Backend(backend) => Some(backend.device()),
        }
    }
}

/// True where a display can draw by kernels of this API's devices.
pub(crate) fn draws(api: Api) -> bool {
    DRIVERS.iter().any(|driver| driver.draws && driver.api == api)
}

/// A backend by whose kernels a display can draw: the one that computes, or its device once more, or the best there is.
///
/// # Errors
/// Those of the last API that was tried.
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) fn open_that_draws(beside: Beside<'_>) -> interop_core::Result<Arc<dyn ComputeBackend>> {
    let rows = || DRIVERS.iter().filter(|driver| driver.draws);
    if let Some(own) = beside.device().and_then(|device| rows().find(|driver| driver.api == device.api)) {
        if let Beside::Backend(backend) = beside {
            return Ok(Arc::clone(backend));
        }
        let listed = (own.list)()?;
        if let Some(device) = listed.iter().find(|listed| Some(&listed.identity) == beside.device()) {
            return (device.open)();
        }
    }
    let mut last = None;
    for driver in rows() {
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
