//! Findings about a pairing, with advice for the user.

use super::policy::Policy;
use super::report::Diagnosis;
use crate::describe::surface::MemoryShape;
use crate::devices::capability::{HandleType, Support};
use crate::devices::identity::DeviceIdentity;
use crate::path::Pairing;

/// Returns all findings that need no attempt of a path.
pub(super) fn pairing(pairing: &Pairing<'_>, policy: &Policy) -> Vec<Diagnosis> {
    let mut found = devices(pairing.backend.device(), pairing.display.device());
    found.extend(missing_extension(pairing));
    if !policy.overridden.is_empty() {
        found.push(Diagnosis::new(
            "override-in-force",
            format!("the environment sets {}", policy.overridden.join(", ")),
            "Unset it to let pixelferry choose",
        ));
    }
    found
}

/// Finds a pair on one device where one side could share its memory if the other side's driver listed the extension.
fn missing_extension(pairing: &Pairing<'_>) -> Option<Diagnosis> {
    let (compute, display) = (pairing.backend.caps(), pairing.display.caps());
    let shares = |handle| compute.can_export(handle, MemoryShape::Linear).is_yes();
    let Support::No(reason) = display.can_import(HandleType::OPAQUE, MemoryShape::Linear) else { return None };
    shares(HandleType::OPAQUE).then(|| {
        Diagnosis::new(
            "missing-extension",
            format!("{} exports its memory, but {}: {reason}", pairing.backend.device(), pairing.display.device()),
            "Update the display's driver; until then, frames take other paths",
        )
    })
}

fn devices(compute: &DeviceIdentity, display: &DeviceIdentity) -> Vec<Diagnosis> {
    let mut found = Vec::new();
    if display.software && !compute.software {
        found.push(Diagnosis::new(
            "software-display",
            format!("{} computes on hardware, but {} draws on the CPU", compute, display),
            "Install the GPU vendor's OpenGL driver, or check that this session is not on a remote or virtual \
                     display; with NVIDIA and no display, the EGL vendor file (10_nvidia.json) must be there",
        ));
    }
    if compute.software && !display.software {
        found.push(Diagnosis::new(
            "software-compute",
            format!("{} draws on hardware, but {} computes on the CPU", display, compute),
            "Install the GPU vendor's compute driver (OpenCL ICD or CUDA)",
        ));
    }
    if !compute.software
        && !display.software
        && let Support::No(finding) = compute.same_device(display)
    {
        found.push(Diagnosis::new(
            "display-on-another-gpu",
            finding,
            "Compute on the GPU that draws, or open the display for the compute device (HeadlessOptions::\
             same_device_as); otherwise frames use peer access, or host memory where the GPUs lack it",
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::identity::{Api, DeviceLuid, DeviceUuid, MemoryKind};

    fn device(api: Api, software: bool, uuid: Option<u8>, pci: Option<&str>) -> DeviceIdentity {
        DeviceIdentity {
            api,
            name: "device".into(),
            vendor: String::new(),
            driver: String::new(),
            uuid: uuid.map(|u| DeviceUuid([u; 16])),
            luid: None,
            ordinal: None,
            pci: pci.map(str::to_owned),
            memory: MemoryKind::Discrete,
            software,
        }
    }

    #[test]
    fn every_finding_has_its_name() {
        let names = |compute: &DeviceIdentity, display: &DeviceIdentity| -> Vec<_> {
            devices(compute, display).iter().map(|d| d.name).collect()
        };
        let gpu = device(Api::Cuda, false, Some(1), Some("0000:01:00.0"));
        assert_eq!(names(&gpu, &device(Api::OpenGl, true, Some(9), None)), ["software-display"]);
        assert_eq!(names(&device(Api::OpenCl, true, Some(9), None), &gpu), ["software-compute"]);
        assert_eq!(names(&gpu, &device(Api::OpenGl, false, Some(2), None)), ["display-on-another-gpu"]);
        assert_eq!(names(&gpu, &device(Api::OpenGl, false, None, Some("0000:02:00.0"))), ["display-on-another-gpu"]);
        // The UUID counts before the address, which a virtual machine may change.
        assert!(names(&gpu, &device(Api::OpenGl, false, Some(1), Some("0000:02:00.0"))).is_empty());
        assert!(names(&gpu, &device(Api::OpenGl, false, None, None)).is_empty());
        // So does the adapter that Windows tells of.
        let on = |luid: u8, pci| DeviceIdentity {
            luid: Some(DeviceLuid([luid; 8])),
            ..device(Api::OpenGl, false, None, Some(pci))
        };
        assert!(names(&on(1, "0000:01:00.0"), &on(1, "0000:02:00.0")).is_empty());
        assert_eq!(names(&on(1, "0000:01:00.0"), &on(2, "0000:01:00.0")), ["display-on-another-gpu"]);
    }
}
