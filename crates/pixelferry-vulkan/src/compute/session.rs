//! State shared by everything that one backend made.

use crate::context::device_state::DeviceState;
use crate::context::home::AtHome;
use crate::launch::layouts::Layouts;
use interop_core::devices::owned::Maker;
use interop_core::{ComputeCaps, DeviceIdentity, Result};
use std::rc::Rc;
use wgsl_kernel::Limits;

/// One display's queue.
pub struct Session {
    pub identity: DeviceIdentity,
    pub caps: ComputeCaps,
    pub limits: Limits,
    pub layouts: AtHome<Layouts>,
}

impl Maker for Session {
    fn name(&self) -> String {
        self.identity.to_string()
    }
}

impl Session {
    /// The display, on its thread.
    pub fn shared(&self) -> Result<&Rc<DeviceState>> {
        Ok(self.layouts.get()?.shared())
    }
}
