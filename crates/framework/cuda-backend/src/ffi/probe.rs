//! Properties of the driver and of its devices, before a context exists.

use super::Failure;
use super::api::{Api, call};
use std::ffi::c_char;

/// The attributes that this crate queries with `cuDeviceGetAttribute`.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum Attribute {
    Integrated = 18,
    CanMapHostMemory = 19,
    ComputeCapabilityMajor = 75,
    ComputeCapabilityMinor = 76,
    HostRegisterSupported = 99,
    VirtualMemoryManagement = 102,
    /// Whether memory can be exported with handles of this operating system.
    ExportSupported = super::os::EXPORT_SUPPORTED,
}

/// A device, identified by the driver's own number.
#[derive(Clone, Copy)]
pub struct Device {
    api: &'static Api,
    pub raw: i32,
}

/// Starts the driver. Returns its CUDA version, e.g. 12040.
pub fn init(api: &'static Api) -> Result<i32, Failure> {
    let mut version = 0;
    // SAFETY: takes no memory of ours; may be called again and from any thread.
    unsafe { call!(api.driver, cuInit(0)) }?;
    // SAFETY: writes one number.
    unsafe { call!(api.driver, cuDriverGetVersion(&raw mut version)) }?;
    Ok(version)
}

/// Lists every device that the driver reports to this process.
pub fn devices(api: &'static Api) -> Result<Vec<Device>, Failure> {
    let mut count = 0;
    // SAFETY: writes one number.
    unsafe { call!(api.driver, cuDeviceGetCount(&raw mut count)) }?;
    (0..count)
        .map(|ordinal| {
            let mut raw = 0;
            // SAFETY: writes one number; the ordinal is below the count.
            unsafe { call!(api.driver, cuDeviceGet(&raw mut raw, ordinal)) }?;
            Ok(Device { api, raw })
        })
        .collect()
}

impl Device {
    pub fn api(self) -> &'static Api {
        self.api
    }

    pub fn name(self) -> Result<String, Failure> {
        // SAFETY: the buffer is as long as said.
        self.text(|at, len| unsafe { call!(self.api.driver, cuDeviceGetName(at, len, self.raw)) })
    }

    /// Returns the PCI address as `domain:bus:device.function`.
    pub fn pci(self) -> Result<String, Failure> {
        // SAFETY: the buffer is as long as said.
        self.text(|at, len| unsafe { call!(self.api.driver, cuDeviceGetPCIBusId(at, len, self.raw)) })
    }

    fn text(self, get: impl Fn(*mut c_char, i32) -> Result<(), Failure>) -> Result<String, Failure> {
        let mut bytes = [0u8; 256];
        get(bytes.as_mut_ptr().cast(), bytes.len() as i32)?;
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        Ok(String::from_utf8_lossy(&bytes[..end]).trim().to_owned())
    }

    pub fn uuid(self) -> Result<[u8; 16], Failure> {
        let mut uuid = cudarc::driver::sys::CUuuid { bytes: [0; 16] };
        // SAFETY: writes 16 bytes.
        unsafe { call!(self.api.driver, cuDeviceGetUuid_v2(&raw mut uuid, self.raw)) }?;
        Ok(uuid.bytes.map(|b| b as u8))
    }

    /// Tells whether kernels on this device can write memory of `other`.
    pub fn can_access_peer(self, other: Self) -> Result<bool, Failure> {
        let mut can = 0;
        // SAFETY: writes one number.
        unsafe { call!(self.api.driver, cuDeviceCanAccessPeer(&raw mut can, self.raw, other.raw)) }?;
        Ok(can != 0)
    }

    pub fn total_memory(self) -> Result<u64, Failure> {
        let mut bytes = 0;
        // SAFETY: writes one number.
        unsafe { call!(self.api.driver, cuDeviceTotalMem_v2(&raw mut bytes, self.raw)) }?;
        Ok(bytes as u64)
    }

    pub fn attribute(self, attribute: Attribute) -> Result<i32, Failure> {
        let mut value = 0;
        // SAFETY: writes one number.
        unsafe { call!(self.api.driver, cuDeviceGetAttribute(&raw mut value, attribute as u32, self.raw)) }?;
        Ok(value)
    }
}
