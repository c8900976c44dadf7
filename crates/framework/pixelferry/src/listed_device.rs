//! Listed devices, and functions that open them.

use interop_core::{ComputeBackend, DeviceIdentity, Result};
use std::sync::Arc;

/// Result of opening a backend.
pub(crate) type BackendResult = Result<Arc<dyn ComputeBackend>>;

/// A listed device that can be opened.
pub(crate) struct ListedDevice {
    pub(crate) identity: DeviceIdentity,
    pub(crate) open: Box<dyn Fn() -> BackendResult>,
}

/// Lists the devices of one API, each with a function that opens it.
pub(crate) fn listed<D: 'static>(
    devices: Vec<D>,
    identity: fn(&D) -> DeviceIdentity,
    open: fn(&D) -> BackendResult,
) -> Result<Vec<ListedDevice>> {
    let listed = |device: D| ListedDevice { identity: identity(&device), open: Box::new(move || open(&device)) };
    Ok(devices.into_iter().map(listed).collect())
}
