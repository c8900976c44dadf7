//! State that the display's objects share.

use super::hub::Hub;
use cpu_fallback::MemoryDisplay;
use interop_core::devices::maker_object::Maker;
use interop_core::{DeviceIdentity, Display, DisplayCaps, Error, Result};
use std::sync::Arc;

/// State that all objects of a stream's display share.
pub(crate) struct DisplayState {
    pub identity: DeviceIdentity,
    pub caps: DisplayCaps,
    pub memory: Arc<MemoryDisplay>,
    pub device: Option<Arc<dyn Display>>,
    pub hub: Arc<Hub>,
}

impl Maker for DisplayState {
    fn name(&self) -> String {
        self.identity.to_string()
    }
}

impl DisplayState {
    /// Returns the display whose memory other processes can open.
    pub(crate) fn device(&self) -> Result<&dyn Display> {
        let none = || Error::unsupported(&self.identity, "the stream was opened without a device that shares memory");
        self.device.as_deref().ok_or_else(none)
    }
}
