//! Identity of a device: name, driver, UUID and kind of memory.

use super::capability::Support;
use serde::{Serialize, Serializer};
use std::fmt;

/// The API through which a device is driven.
///
/// ```
/// use interop_core::Api;
///
/// assert_eq!(Api::OpenCl.to_string(), "OpenCL");
/// assert_eq!(Api::Other("Metal").to_string(), "Metal");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Api {
    /// The CPU itself: threads on the compute side, plain memory on the display side.
    Cpu,
    /// OpenCL.
    OpenCl,
    /// CUDA.
    Cuda,
    /// OpenGL.
    OpenGl,
    /// Vulkan, on an engine's own device.
    Vulkan,
    /// wgpu.
    Wgpu,
    /// An API that this library does not know, under the name that its backend or display gives.
    #[serde(untagged)]
    Other(&'static str),
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Cpu => "CPU",
            Self::OpenCl => "OpenCL",
            Self::Cuda => "CUDA",
            Self::OpenGl => "OpenGL",
            Self::Vulkan => "Vulkan",
            Self::Wgpu => "wgpu",
            Self::Other(name) => name,
        })
    }
}

/// Location of a device's memory. It decides the static order of paths.
///
/// ```
/// use interop_core::MemoryKind;
///
/// assert!(MemoryKind::Integrated.is_host_memory());
/// assert!(!MemoryKind::Discrete.is_host_memory(), "frames cross the bus");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MemoryKind {
    /// The device is the CPU: its memory is the host's.
    Host,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A GPU with memory of its own.
    Discrete,
    /// The API does not report it.
    Unknown,
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Host => "host",
            Self::Integrated => "integrated",
            Self::Discrete => "discrete",
            Self::Unknown => "unknown",
        })
    }
}

impl MemoryKind {
    /// True where the CPU accesses the device's memory at full speed.
    pub const fn is_host_memory(self) -> bool {
        matches!(self, Self::Host | Self::Integrated)
    }
}

/// Device UUID, the same in every API on one machine (`cl_khr_device_uuid`, `GL_EXT_memory_object` `DEVICE_UUID_EXT`,
/// Vulkan `deviceUUID`, CUDA `cuDeviceGetUuid`). Compare it within one process only.
///
/// ```
/// use interop_core::DeviceUuid;
///
/// let uuid = DeviceUuid([0xab; 16]);
/// assert_eq!(uuid.to_string(), "abababab-abab-abab-abab-abababababab");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceUuid(pub [u8; 16]);

impl fmt::Display for DeviceUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, b) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{b:02x}")?;
        }
        Ok(())
    }
}

/// Locally unique ID of an adapter, valid while Windows runs (`GL_EXT_memory_object_win32` `DEVICE_LUID_EXT`, Vulkan
/// `deviceLUID`, `cl_khr_device_uuid`), as bytes in memory order. Compare it within one process only.
///
/// ```
/// use interop_core::DeviceLuid;
///
/// assert_eq!(DeviceLuid([1, 0, 0, 0, 0, 0, 0, 0]).to_string(), "LUID 0000000000000001");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceLuid(pub [u8; 8]);

impl fmt::Display for DeviceLuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LUID {:016x}", u64::from_le_bytes(self.0))
    }
}

/// Serialises a type as the text that it displays.
macro_rules! as_text {
    ($($id:ident),*) => {$(
        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $id {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
    )*};
}
as_text!(DeviceUuid, DeviceLuid);

/// All properties that a device reports about itself.
///
/// ```
/// use interop_core::{Api, DeviceIdentity, DeviceUuid, MemoryKind};
///
/// let computes = DeviceIdentity::new(Api::OpenCl, "GPU 0")
///     .with_uuid(DeviceUuid([1; 16]))
///     .with_memory(MemoryKind::Discrete);
/// let draws = computes.clone().with_api(Api::OpenGl);
/// assert!(computes.same_device(&draws).is_yes());
/// let another = draws.with_uuid(DeviceUuid([2; 16]));
/// assert!(!computes.same_device(&another).is_yes());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DeviceIdentity {
    /// The API that drives the device.
    pub api: Api,
    /// Device name, as the driver reports it.
    pub name: String,
    /// Vendor, as the driver reports it.
    pub vendor: String,
    /// Platform and driver version, as the driver reports them.
    pub driver: String,
    /// UUID that is the same in every API, where the API reports it.
    pub uuid: Option<DeviceUuid>,
    /// The adapter's LUID on Windows, where the API reports it.
    pub luid: Option<DeviceLuid>,
    /// The API's number of the device, where other APIs identify it by that (`EGL_NV_device_cuda`).
    pub ordinal: Option<u32>,
    /// PCI address `domain:bus:device.function`, where known.
    pub pci: Option<String>,
    /// Location of its memory.
    pub memory: MemoryKind,
    /// True where the device is a program that runs on the CPU (llvmpipe, PoCL), not hardware.
    pub software: bool,
}

crate::setters!(DeviceIdentity {
    /// Sets the API that drives the device.
    with_api(api: Api);
    /// Sets the device's name.
    with_name(name: impl Into<String>);
    /// Sets the vendor's name.
    with_vendor(vendor: impl Into<String>);
    /// Sets the platform and driver version.
    with_driver(driver: impl Into<String>);
    /// Sets the UUID.
    with_uuid(uuid: impl Into<Option<DeviceUuid>>);
    /// Sets the LUID.
    with_luid(luid: impl Into<Option<DeviceLuid>>);
    /// Sets the device's number in its API.
    with_ordinal(ordinal: impl Into<Option<u32>>);
    /// Sets the PCI address, `domain:bus:device.function`.
    with_pci(pci: impl Into<Option<String>>);
    /// Sets the location of the device's memory.
    with_memory(memory: MemoryKind);
    /// Sets whether the device is a program that runs on the CPU.
    with_software(software: bool);
});

impl DeviceIdentity {
    /// A hardware device of this name; all else is unknown.
    pub fn new(api: Api, name: impl Into<String>) -> Self {
        Self {
            api,
            name: name.into(),
            vendor: String::new(),
            driver: String::new(),
            uuid: None,
            luid: None,
            ordinal: None,
            pci: None,
            memory: MemoryKind::Unknown,
            software: false,
        }
    }

    /// Tells whether two identities describe one device: by UUID, otherwise by LUID, otherwise by PCI address. Where
    /// both sides share none of these the answer is yes, and verification with pixels decides.
    pub fn same_device(&self, other: &Self) -> Support {
        let no = |a: &dyn fmt::Display, b: &dyn fmt::Display| {
            Support::No(format!("not one device: {self} is {a}, {other} is {b}"))
        };
        let (uuids, luids) = (self.uuid.zip(other.uuid), self.luid.zip(other.luid));
        match (uuids, luids, &self.pci, &other.pci) {
            (Some((a, b)), ..) if a != b => no(&a, &b),
            (Some(_), ..) => Support::Yes,
            (_, Some((a, b)), ..) if a != b => no(&a, &b),
            (_, Some(_), ..) => Support::Yes,
            (.., Some(a), Some(b)) if a != b => no(a, b),
            _ => Support::Yes,
        }
    }
}

impl fmt::Display for DeviceIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.api, self.name)
    }
}

/// Returns a vendor's name by its PCI number, or by its Khronos number where it has no PCI number
/// (`VkPhysicalDeviceProperties`).
///
/// ```
/// use interop_core::devices::identity::vendor_name;
///
/// assert_eq!(vendor_name(0x10de), "NVIDIA");
/// assert_eq!(vendor_name(0x10005), "Mesa");
/// assert_eq!(vendor_name(0x1234), "vendor 0x1234");
/// ```
pub fn vendor_name(number: u32) -> String {
    match number {
        0x1002 => "AMD".into(),
        0x10de => "NVIDIA".into(),
        0x13b5 => "Arm".into(),
        0x5143 => "Qualcomm".into(),
        0x8086 => "Intel".into(),
        0x1_0005 => "Mesa".into(),
        other => format!("vendor {other:#06x}"),
    }
}
