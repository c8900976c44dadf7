//! Queries the properties of a device.

use interop_core::{Api, DeviceIdentity, MemoryKind, Result};
use pixelferry_opencl::{Device, DeviceType};

/// Limits for launches and allocations.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Largest single allocation, in bytes.
    pub max_allocation: u64,
    /// Largest work group in each dimension, in work items.
    pub max_work_item_sizes: Vec<usize>,
    /// Largest work group, in work items.
    pub max_work_group: usize,
}

/// The type of device, best for a display first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceKind {
    Gpu,
    Cpu,
    Other,
}

/// All properties of a device, queried once.
#[derive(Debug, Clone)]
pub struct Description {
    pub identity: DeviceIdentity,
    pub sort: DeviceKind,
    pub limits: Limits,
    pub version: String,
}

/// Queries a device; the inner `Err` says why it is unusable here.
pub fn describe(device: &Device) -> Result<Result<Description, String>> {
    let mut name = device.name().to_owned();
    if device.parent().is_some() {
        // Drivers give a part the same name as the whole device, but measurements of one do not apply to the other.
        name = format!("{name}, a part of {} units", device.max_compute_units()?);
    }
    let version = device.version()?;
    if let Err(reason) = check_usable(device, &version)? {
        return Ok(Err(format!("{name}: {reason}")));
    }
    let kinds = device.device_type()?;
    let sort = match kinds {
        kinds if kinds.contains(DeviceType::GPU) => DeviceKind::Gpu,
        kinds if kinds.contains(DeviceType::CPU) => DeviceKind::Cpu,
        _ => DeviceKind::Other,
    };
    let mut identity = DeviceIdentity::new(Api::OpenCl, name)
        .with_vendor(device.vendor()?)
        .with_driver(format!("{}, {}", device.platform().version()?, device.driver_version()))
        .with_memory(memory_kind(device, sort))
        .with_software(sort == DeviceKind::Cpu);
    // Queried only where the device lists the extension; an unreadable answer leaves the field empty.
    identity.uuid = device.uuid().ok().flatten();
    identity.luid = device.luid().ok().flatten();
    identity.pci = device.pci().ok().flatten();
    let limits = Limits {
        max_allocation: device.max_mem_alloc_size()?,
        max_work_item_sizes: device.max_work_item_sizes()?,
        max_work_group: device.max_work_group_size()?,
    };
    Ok(Ok(Description { identity, sort, limits, version }))
}

fn check_usable(device: &Device, version: &str) -> Result<Result<(), String>> {
    // Before 1.2 there is no kernel-argument information and no write-invalidating map.
    if device.cl_version() < (1, 2) {
        return Ok(Err(format!("'{version}' is older than OpenCL 1.2")));
    }
    if !device.available()? {
        return Ok(Err("the driver reports it as unavailable".into()));
    }
    if !device.compiler_available()? {
        return Ok(Err("its driver has no compiler".into()));
    }
    if device.endian_little()? != cfg!(target_endian = "little") {
        return Ok(Err("its byte order differs from the host's".into()));
    }
    Ok(Ok(()))
}

fn memory_kind(device: &Device, sort: DeviceKind) -> MemoryKind {
    match (sort, device.host_unified_memory()) {
        (DeviceKind::Cpu, _) => MemoryKind::Host,
        (_, Ok(false)) => MemoryKind::Discrete,
        (_, Ok(true)) => MemoryKind::Integrated,
        // Deprecated since 2.0, so a driver may have removed it.
        (_, Err(_)) => MemoryKind::Unknown,
    }
}
