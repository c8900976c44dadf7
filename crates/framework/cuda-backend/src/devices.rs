//! Devices of this machine, and their identities.

use crate::error::unavailable;
use crate::ffi::api::Api;
use crate::ffi::probe::{self, Attribute, Device};
use interop_core::describe::process::enter;
use interop_core::{Api as ApiKind, DeviceIdentity, DeviceUuid, Error, MemoryKind, Result};

/// The oldest supported driver version.
const MIN_VERSION: i32 = 12_000;

/// A CUDA device (`cuDeviceGet`) that this process can open.
#[derive(Clone)]
pub struct CudaDevice {
    pub(crate) device: Device,
    identity: DeviceIdentity,
    total_memory: u64,
    capability: (i32, i32),
}

impl CudaDevice {
    /// Returns name, UUID, PCI address, driver and memory kind (`cuDeviceGetName`, `cuDeviceGetUuid`,
    /// `cuDeviceGetPCIBusId`, `cuDriverGetVersion`, `CU_DEVICE_ATTRIBUTE_INTEGRATED`).
    pub fn identity(&self) -> &DeviceIdentity {
        &self.identity
    }

    /// Returns the size of device memory in bytes (`cuDeviceTotalMem`).
    pub fn total_memory(&self) -> u64 {
        self.total_memory
    }

    /// Returns the compute capability (major, minor), e.g. (9, 0): `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and
    /// `_MINOR`.
    pub fn compute_capability(&self) -> (i32, i32) {
        self.capability
    }

    fn describe(device: Device, version: i32) -> Result<Self> {
        let name = device.name().map_err(|f| f.on("a CUDA device"))?;
        let failed = |f: crate::ffi::Failure| f.on(&name);
        let attribute = |a| device.attribute(a).map_err(failed);
        let integrated = attribute(Attribute::Integrated)? != 0;
        let identity = DeviceIdentity::new(ApiKind::Cuda, name.clone())
            .with_vendor("NVIDIA Corporation")
            .with_driver(format!("CUDA driver {}.{}", version / 1000, version % 1000 / 10))
            // Some drivers that replace NVIDIA's lack these two; a device without them can still compute.
            .with_uuid(device.uuid().ok().map(DeviceUuid))
            .with_ordinal(u32::try_from(device.raw).ok())
            .with_pci(device.pci().ok().map(|p| p.to_lowercase()))
            .with_memory(if integrated { MemoryKind::Integrated } else { MemoryKind::Discrete });
        let capability = (attribute(Attribute::ComputeCapabilityMajor)?, attribute(Attribute::ComputeCapabilityMinor)?);
        let total_memory = device.total_memory().map_err(failed)?;
        Ok(Self { device, identity, total_memory, capability })
    }
}

interop_core::debug_as!(CudaDevice, |this| identity = &this.identity);

/// Lists every CUDA device that this process sees, the driver's preferred one first (`cuInit`, `cuDeviceGetCount`,
/// `cuDeviceGet`). Creates no context.
///
/// # Errors
/// [`Error::Unavailable`] where there is no driver, a driver older than CUDA 12.0, or no device.
pub fn devices() -> Result<Vec<CudaDevice>> {
    let api = Api::get()?;
    let _entered = enter("CUDA")?;
    devices_of(api)
}

pub(crate) fn devices_of(api: &'static Api) -> Result<Vec<CudaDevice>> {
    let version = probe::init(api).map_err(|f| f.unavailable())?;
    if version < MIN_VERSION {
        return Err(unavailable(
            format!("the driver offers CUDA {}.{}", version / 1000, version % 1000 / 10),
            "CUDA 12.0 is needed: update NVIDIA's driver to version 525 or later.",
        ));
    }
    let list = probe::devices(api).map_err(|f| f.unavailable())?;
    if list.is_empty() {
        return Err(unavailable(
            "the driver reports no device",
            "Check nvidia-smi, and that CUDA_VISIBLE_DEVICES is not empty.",
        ));
    }
    list.into_iter().map(|device| CudaDevice::describe(device, version)).collect::<Result<_, Error>>()
}
