//! Findings about two devices that a user can act on.

use crate::capability::Support;
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
    if !compute.software
        && !display.software
        && let Support::No(finding) = compute.is_one_with(display)
    {
        found.push(Diagnosis {
            name: "display-on-another-gpu",
            finding,
            advice: "Compute on the GPU that draws, or open the display for the compute device (HeadlessOptions::\
                     same_device_as); else frames cross by peer access where the GPUs have it, or by the host"
                .into(),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Api, DeviceUuid, MemoryKind};

    fn device(api: Api, software: bool, uuid: Option<u8>, pci: Option<&str>) -> DeviceIdentity {
        DeviceIdentity {
            api,
            name: "device".into(),
            vendor: String::new(),
            driver: String::new(),
            uuid: uuid.map(|u| DeviceUuid([u; 16])),
            ordinal: None,
            pci: pci.map(str::to_owned),
            memory: MemoryKind::Discrete,
            software,
        }
    }

    #[test]
    fn every_finding_has_its_name() {
        let names = |compute: &DeviceIdentity, display: &DeviceIdentity| -> Vec<_> {
            pairing(compute, display).iter().map(|d| d.name).collect()
        };
        let gpu = device(Api::Cuda, false, Some(1), Some("0000:01:00.0"));
        assert_eq!(names(&gpu, &device(Api::OpenGl, true, Some(9), None)), ["software-display"]);
        assert_eq!(names(&device(Api::OpenCl, true, Some(9), None), &gpu), ["software-compute"]);
        assert_eq!(names(&gpu, &device(Api::OpenGl, false, Some(2), None)), ["display-on-another-gpu"]);
        assert_eq!(names(&gpu, &device(Api::OpenGl, false, None, Some("0000:02:00.0"))), ["display-on-another-gpu"]);
        // The UUID counts before the address, which a virtual machine may change.
        assert!(names(&gpu, &device(Api::OpenGl, false, Some(1), Some("0000:02:00.0"))).is_empty());
        assert!(names(&gpu, &device(Api::OpenGl, false, None, None)).is_empty());
    }
}
