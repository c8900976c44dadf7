//! Identity of the device that draws.

use crate::api::features::Features;
use crate::api::raw::{NUM_DEVICE_UUIDS_EXT, RawFns};
use crate::api::version::named;
use glow::HasContext as _;
use interop_core::{Api, DeviceIdentity, DeviceLuid, DeviceUuid, MemoryKind};
#[cfg(all(unix, not(target_vendor = "apple")))]
use std::path::Path;

/// Properties of the device that the window system knows before GL is queried.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin {
    /// PCI address, where the EGL device names a DRM node.
    pub pci: Option<String>,
    /// `EGL_MESA_device_software` was listed.
    pub software: bool,
}

/// Returns the PCI address of a DRM node such as `/dev/dri/card0`: the last component of the link target of
/// `/sys/class/drm/card0/device`.
#[cfg(all(unix, not(target_vendor = "apple")))]
pub(crate) fn pci_of_drm_node(node: &Path) -> Option<String> {
    let link = Path::new("/sys/class/drm").join(node.file_name()?).join("device");
    let device = std::fs::canonicalize(link).ok()?;
    let name = device.file_name()?.to_str()?;
    // 0000:01:00.0; platform devices have other names.
    let is_pci = name.split(':').count() == 3 && name.contains('.');
    is_pci.then(|| name.to_owned())
}

/// Recognises software renderers by their names in `GL_RENDERER`.
fn is_software(renderer: &str) -> bool {
    let renderer = renderer.to_ascii_lowercase();
    ["llvmpipe", "softpipe", "swrast", "software rasterizer", "swiftshader", "lavapipe", "gdi generic"]
        .iter()
        .any(|name| renderer.contains(name))
}

/// Returns the memory kind as far as the vendor's name determines it; OpenGL does not report where a device keeps its
/// memory. (AMD lists its memory-info extensions for integrated GPUs, too.)
fn memory_kind(vendor: &str, renderer: &str, software: bool) -> MemoryKind {
    let (vendor, renderer) = (vendor.to_ascii_lowercase(), renderer.to_ascii_lowercase());
    if software {
        MemoryKind::Host
    } else if vendor.contains("nvidia") && !["tegra", "orin", "thor"].iter().any(|n| renderer.contains(n)) {
        MemoryKind::Discrete
    } else if vendor.contains("intel") && !renderer.contains("arc") {
        MemoryKind::Integrated
    } else {
        MemoryKind::Unknown
    }
}

/// Queries the identity of the current context's device.
///
/// # Safety
/// The context is current; `raw` was loaded for it.
pub(crate) unsafe fn identify(
    gl: &glow::Context,
    raw: &RawFns,
    features: &Features,
    origin: &Origin,
) -> DeviceIdentity {
    // SAFETY: these three strings exist in every version; the queries of UUID and LUID are gated by extension and count.
    let (vendor, renderer, version, uuid, luid) = unsafe {
        let has_uuid = features.memory_object && gl.get_parameter_i32(NUM_DEVICE_UUIDS_EXT) > 0;
        (
            gl.get_parameter_string(glow::VENDOR),
            gl.get_parameter_string(glow::RENDERER),
            gl.get_parameter_string(glow::VERSION),
            if has_uuid { raw.device_uuid() } else { None },
            if features.luid { raw.device_luid() } else { None },
        )
    };
    let software = origin.software || is_software(&renderer);
    let memory = memory_kind(&vendor, &renderer, software);
    DeviceIdentity::new(Api::OpenGl, renderer)
        .with_memory(memory)
        .with_vendor(vendor)
        .with_driver(named(&version))
        .with_uuid(uuid.map(DeviceUuid))
        .with_luid(luid.map(DeviceLuid))
        .with_pci(origin.pci.clone())
        .with_software(software)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_memory_by_name() {
        assert_eq!(memory_kind("Mesa", "llvmpipe (LLVM 15)", true), MemoryKind::Host);
        assert_eq!(memory_kind("NVIDIA Corporation", "NVIDIA H200/PCIe/SSE2", false), MemoryKind::Discrete);
        assert_eq!(
            memory_kind("NVIDIA Corporation", "NVIDIA Tegra Orin (nvgpu)/integrated", false),
            MemoryKind::Unknown
        );
        assert_eq!(memory_kind("Intel", "Mesa Intel(R) UHD Graphics 620", false), MemoryKind::Integrated);
        assert_eq!(memory_kind("Intel", "Mesa Intel(R) Arc(tm) A770", false), MemoryKind::Unknown);
        assert_eq!(memory_kind("AMD", "AMD Radeon RX 7900 XT", false), MemoryKind::Unknown);
    }

    #[test]
    fn software_by_name() {
        assert!(is_software("llvmpipe (LLVM 15.0.6, 256 bits)"));
        assert!(is_software("Software Rasterizer"));
        assert!(!is_software("NVIDIA H200/PCIe/SSE2"));
    }

    #[cfg(all(unix, not(target_vendor = "apple")))]
    #[test]
    fn a_node_that_does_not_exist_has_no_address() {
        assert_eq!(pci_of_drm_node(Path::new("/dev/dri/card-none")), None);
        assert_eq!(pci_of_drm_node(Path::new("/")), None);
    }
}
