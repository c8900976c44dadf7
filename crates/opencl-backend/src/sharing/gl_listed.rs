//! Whether a device says that it shares with OpenGL.

use crate::device::OpenClDevice;
use interop_core::Support;

/// What the device must list; macOS has the same by another name.
const EXTENSIONS: [&str; 2] = ["cl_khr_gl_sharing", "cl_APPLE_gl_sharing"];

/// Whether the device's extension list says that it shares with OpenGL. Nothing else is asked: several drivers accept a
/// GL context without having the extension, and end the process later.
pub fn listed(device: &OpenClDevice) -> Support {
    listed_by(|name| device.has_extension(name))
}

/// Whether the extensions allow sharing with OpenGL; `has` says whether one is listed.
pub fn listed_by(has: impl Fn(&str) -> bool) -> Support {
    let lists = EXTENSIONS.iter().any(|name| has(name));
    Support::when(lists, "the device's extension list has no cl_khr_gl_sharing")
}
