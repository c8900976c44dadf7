//! Findings about two devices that a user can act on.

use crate::device::DeviceIdentity;
use crate::report::Diagnosis;

pub(super) fn pairing(compute: &DeviceIdentity, display: &DeviceIdentity) -> Vec<Diagnosis> {
    let mut found = Vec::new();
    if display.software && !compute.software {
        found.push(Diagnosis {
            name: "software-display",
            finding: format!("{} computes on hardware, but {} draws on the CPU", compute, display),
            advice: "Install the GPU vendor's OpenGL driver, or check that this session is not on a remote or virtual \
                     display; with NVIDIA and no display, the EGL vendor file (10_nvidia.json) must be there"
                .into(),
        });
    }
    if compute.software && !display.software {
        found.push(Diagnosis {
            name: "software-compute",
            finding: format!("{} draws on hardware, but {} computes on the CPU", display, compute),
            advice: "Install the GPU vendor's compute driver (OpenCL ICD or CUDA)".into(),
        });
    }
    if let (Some(a), Some(b)) = (compute.uuid, display.uuid)
        && a != b
    {
        found.push(Diagnosis {
            name: "different-devices",
            finding: format!("{compute} ({a}) and {display} ({b}) are not the same device"),
            advice: "Frames cross the host; pick the compute device that drives the display for direct sharing".into(),
        });
    }
    found
}
