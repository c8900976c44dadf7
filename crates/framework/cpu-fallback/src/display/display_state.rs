//! State shared by the display and its objects.

use interop_core::devices::maker_object::Maker;
use interop_core::{DeviceIdentity, DisplayCaps, Error, Result, SurfaceDesc};

/// State shared by the display's objects; its address also distinguishes them from objects of other displays.
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

    /// Checks that this machine's memory can hold the surface. Returns the bytes of one frame.
    pub(crate) fn check(&self, desc: &SurfaceDesc) -> Result<usize> {
        desc.check(&self.device.to_string(), &self.caps)
    }
}
