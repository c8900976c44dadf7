//! Check that a device can share with OpenGL, and with this context, according to its driver.

use crate::Device;
use crate::ffi::devices_of;
use interop_core::{Error, GlContext, Result};

/// Extensions of which the device must list one; macOS has it under another name.
const EXTENSIONS: [&str; 2] = ["cl_khr_gl_sharing", "cl_APPLE_gl_sharing"];

impl Device {
    /// Returns true where `CL_DEVICE_EXTENSIONS` lists `cl_khr_gl_sharing`, or `cl_APPLE_gl_sharing`. Nothing else is
    /// queried: several drivers accept a GL context without having the extension, and crash later.
    pub fn lists_gl_sharing(&self) -> bool {
        EXTENSIONS.iter().any(|name| self.has_extension(name))
    }

    /// Returns an error for a device that cannot share with the context, which must be current.
    pub(crate) fn check_shares(&self, gl: &dyn GlContext) -> Result<()> {
        let unsupported = |reason: &str| Err(Error::unsupported(self.name(), reason));
        if !self.lists_gl_sharing() {
            return unsupported("the device's extension list has no cl_khr_gl_sharing");
        }
        check_current(gl)?;
        let (platform, id) = self.ids();
        match devices_of(platform, gl).map_err(|f| f.on(self.name()))?.contains(&id) {
            true => Ok(()),
            false => unsupported("its driver does not list it among the devices of the current GL context"),
        }
    }
}

/// Drivers find the context themselves.
pub fn check_current(gl: &dyn GlContext) -> Result<()> {
    if gl.is_current() { Ok(()) } else { Err(Error::WrongContext { operation: "", device: "OpenGL".into() }) }
}
