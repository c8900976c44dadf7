//! State that the display's objects share.

use super::hub::Hub;
use cpu_fallback::MemoryDisplay;
use interop_core::devices::owned::Maker;
use interop_core::{DeviceIdentity, Display, DisplayCaps, Error, Result};
use std::rc::Rc;
use std::sync::Arc;

/// State shared by all objects of a stream's display.
pub(crate) struct State {
    pub identity: DeviceIdentity,
    pub caps: DisplayCaps,
    pub memory: Rc<MemoryDisplay>,
    pub device: Option<Rc<dyn Display>>,
    pub hub: Arc<Hub>,
}

impl Maker for State {
    fn name(&self) -> String {
        self.identity.to_string()
    }
}

impl State {
    /// The display whose memory other processes open.
    pub(crate) fn device(&self) -> Result<&dyn Display> {
        let none = || Error::unsupported(&self.identity, "it was opened without a device whose memory is shared");
        self.device.as_deref().ok_or_else(none)
    }
}
