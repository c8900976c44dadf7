//! Check that a device shares with OpenGL, according to its driver.

use crate::device::OpenClDevice;
use interop_core::Support;
use pixelferry_opencl::base::listed_by;

/// Tells whether the device's extension list says that it shares with OpenGL.
pub fn listed(device: &OpenClDevice) -> Support {
    listed_by(|name| device.has_extension(name))
}
