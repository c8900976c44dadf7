//! Properties of a device in the framework's terms.

use interop_core::{Api, DeviceIdentity, DeviceLuid, DeviceUuid, MemoryKind};
use opencl3::device as cl;
use opencl3::platform::platform as clp;
use pixelferry_opencl::Device;
use pixelferry_opencl::base::{DeviceId, Failure};
use pixelferry_opencl::base::{parse_version, pci};

/// Limits that launches and allocations keep to.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Largest single allocation, bytes.
    pub max_allocation: u64,
    /// Largest work group in each dimension.
    pub max_work_item_sizes: Vec<usize>,
    /// Largest work group.
    pub max_work_group: usize,
}

/// The sort of device, best for a display first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    Gpu,
    Cpu,
    Other,
}

/// Everything asked of a device once.
#[derive(Debug, Clone)]
pub struct Description {
    pub identity: DeviceIdentity,
    pub sort: Sort,
    pub limits: Limits,
    pub extensions: String,
    pub version: String,
}

impl Description {
    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions.split_ascii_whitespace().any(|e| e == name)
    }
}

/// Asks a device; the inner `Err` says why it is of no use here.
pub fn describe(raw: &Device) -> Result<Result<Description, String>, Failure> {
    let (platform, device) = raw.ids();
    let mut name = device.text(cl::CL_DEVICE_NAME)?;
    if raw.parent().is_some() {
        // Drivers call a part what they call the whole, but what was measured of one says nothing of the other.
        name = format!("{name}, a part of {} units", device.u32(cl::CL_DEVICE_MAX_COMPUTE_UNITS)?);
    }
    let version = device.text(cl::CL_DEVICE_VERSION)?;
    if let Err(reason) = check_usable(device, &version)? {
        return Ok(Err(format!("{name}: {reason}")));
    }
    let bits = device.u64(cl::CL_DEVICE_TYPE)?;
    let sort = match bits {
        b if b & cl::CL_DEVICE_TYPE_GPU != 0 => Sort::Gpu,
        b if b & cl::CL_DEVICE_TYPE_CPU != 0 => Sort::Cpu,
        _ => Sort::Other,
    };
    let mut described = Description {
        identity: DeviceIdentity::new(Api::OpenCl, name)
            .with_vendor(device.text(cl::CL_DEVICE_VENDOR)?)
            .with_driver(format!(
                "{}, {}",
                platform.text(clp::CL_PLATFORM_VERSION)?,
                device.text(cl::CL_DRIVER_VERSION)?
            ))
            .with_memory(memory_kind(device, sort))
            .with_software(sort == Sort::Cpu),
        sort,
        limits: Limits {
            max_allocation: device.u64(cl::CL_DEVICE_MAX_MEM_ALLOC_SIZE)?,
            max_work_item_sizes: device.sizes(cl::CL_DEVICE_MAX_WORK_ITEM_SIZES)?,
            max_work_group: usize::from_ne_bytes(device.array(cl::CL_DEVICE_MAX_WORK_GROUP_SIZE)?),
        },
        extensions: device.text(cl::CL_DEVICE_EXTENSIONS)?,
        version,
    };
    // Asked only where the device lists the extension; an answer that cannot be read leaves the field empty.
    if described.has_extension("cl_khr_device_uuid") {
        described.identity.uuid = device.array(cl::CL_DEVICE_UUID_KHR).ok().map(DeviceUuid);
        let valid = device.u32(cl::CL_DEVICE_LUID_VALID_KHR).is_ok_and(|valid| valid != 0);
        described.identity.luid = valid.then(|| device.array(cl::CL_DEVICE_LUID_KHR).ok().map(DeviceLuid)).flatten();
    }
    if described.has_extension("cl_khr_pci_bus_info") {
        described.identity.pci = device.array(cl::CL_DEVICE_PCI_BUS_INFO_KHR).ok().map(|b| pci(&b));
    }
    Ok(Ok(described))
}

fn check_usable(device: DeviceId, version: &str) -> Result<Result<(), String>, Failure> {
    // Before 1.2 there is no kernel-argument information and no write-invalidating map.
    if parse_version(version).is_none_or(|v| v < (1, 2)) {
        return Ok(Err(format!("'{version}' is older than OpenCL 1.2")));
    }
    if device.u32(cl::CL_DEVICE_AVAILABLE)? == 0 {
        return Ok(Err("the driver says that it is not available".into()));
    }
    if device.u32(cl::CL_DEVICE_COMPILER_AVAILABLE)? == 0 {
        return Ok(Err("its driver has no compiler".into()));
    }
    if (device.u32(cl::CL_DEVICE_ENDIAN_LITTLE)? != 0) != cfg!(target_endian = "little") {
        return Ok(Err("its byte order is not the host's".into()));
    }
    Ok(Ok(()))
}

fn memory_kind(device: DeviceId, sort: Sort) -> MemoryKind {
    match (sort, device.u32(cl::CL_DEVICE_HOST_UNIFIED_MEMORY)) {
        (Sort::Cpu, _) => MemoryKind::Host,
        (_, Ok(0)) => MemoryKind::Discrete,
        (_, Ok(_)) => MemoryKind::Integrated,
        // Deprecated since 2.0; a driver may have dropped it.
        (_, Err(_)) => MemoryKind::Unknown,
    }
}
