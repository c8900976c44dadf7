//! Check that a device shares with OpenGL, and with this context, according to its driver.

use crate::Device;
use crate::ffi::devices_of;
use interop_core::{Error, GlContext, Result, Support};

/// Extensions of which the device must list one; macOS has the same under another name.
const EXTENSIONS: [&str; 2] = ["cl_khr_gl_sharing", "cl_APPLE_gl_sharing"];

/// Tells whether the extensions allow sharing with OpenGL; `has` says whether one is listed. Nothing else is asked:
/// several drivers accept a GL context without having the extension, and end the process later.
pub fn listed_by(has: impl Fn(&str) -> bool) -> Support {
    let lists = EXTENSIONS.iter().any(|name| has(name));
    Support::when(lists, "the device's extension list has no cl_khr_gl_sharing")
}

/// Drivers look for the context itself.
pub fn check_current(gl: &dyn GlContext) -> Result<()> {
    if gl.is_current() { Ok(()) } else { Err(Error::WrongContext { operation: "", device: "OpenGL".into() }) }
}

/// Refuses a device that does not share with the context, which must be current. `lists` says whether it lists the extension.
pub fn check_shares((device, name): (&Device, &str), lists: Support, gl: &dyn GlContext) -> Result<()> {
    let unsupported = |reason: String| Error::unsupported(name.to_owned(), reason);
    if let Support::No(reason) = lists {
        return Err(unsupported(reason));
    }
    check_current(gl)?;
    let ids = devices_of(device.ids().0, gl).map_err(|f| f.on(name))?;
    if !ids.contains(&device.ids().1) {
        return Err(unsupported("its driver does not name it among the devices of the current GL context".into()));
    }
    Ok(())
}
