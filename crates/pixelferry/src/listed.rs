//! Devices that are listed, and how each is opened.

use interop_core::{ComputeBackend, DeviceIdentity, Result};
use std::sync::Arc;

/// A backend, where it opens.
pub(crate) type Opened = Result<Arc<dyn ComputeBackend>>;

/// A device that can be opened.
pub(crate) struct Listed {
    pub(crate) identity: DeviceIdentity,
    pub(crate) open: Box<dyn Fn() -> Opened>,
}

/// Those of one API, each with how it is opened.
pub(crate) fn listed<D: 'static>(
    devices: Vec<D>,
    identity: fn(&D) -> DeviceIdentity,
    open: fn(&D) -> Opened,
) -> Result<Vec<Listed>> {
    let listed = |device: D| Listed { identity: identity(&device), open: Box::new(move || open(&device)) };
    Ok(devices.into_iter().map(listed).collect())
}
