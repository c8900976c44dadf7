//! What the display and its objects share.

use interop_core::devices::owned::Maker;
use interop_core::{DeviceIdentity, DisplayCaps, Error, Result, SurfaceDesc};

/// What the display's objects know of it; also how it tells them from those of others.
pub(crate) struct DisplayState {
    pub(crate) device: DeviceIdentity,
    pub(crate) caps: DisplayCaps,
}

impl Maker for DisplayState {
    fn name(&self) -> String {
        self.device.to_string()
    }
}

impl DisplayState {
    pub(crate) fn unsupported(&self, reason: String) -> Error {
        Error::unsupported(self.device.to_string(), reason)
    }

    /// Refuses sizes that this machine's memory cannot hold. Returns the bytes of one frame.
    pub(crate) fn check(&self, desc: &SurfaceDesc) -> Result<usize> {
        desc.check(&self.device.to_string(), &self.caps)
    }
}
