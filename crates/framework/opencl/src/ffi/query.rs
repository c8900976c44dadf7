//! Questions to platforms and devices. Answers are taken as bytes and checked for size: the typed queries of
//! opencl3 end the program on an answer of another type.

use super::{Failure, check};
use cl3::platform::CL_PLATFORM_NAME;
use interop_core::describe::PlainMutex;
use opencl3::device::{get_device_data, get_device_ids};
use opencl3::error_codes::{CL_INVALID_DEVICE_TYPE, CL_INVALID_VALUE};
use opencl3::platform::platform::{get_platform_data, get_platform_ids};
use std::ffi::c_void;

/// A platform; lives as long as the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlatformId(pub(crate) *mut c_void);

/// A root device; lives as long as the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceId(pub(crate) *mut c_void);

// SAFETY: a name that is only ever passed to OpenCL, whose calls on platforms are thread-safe.
unsafe impl Send for PlatformId {}
// SAFETY: as above.
unsafe impl Sync for PlatformId {}
// SAFETY: a name that is only ever passed to OpenCL, whose calls on devices are thread-safe.
unsafe impl Send for DeviceId {}
// SAFETY: as above.
unsafe impl Sync for DeviceId {}

impl PlatformId {
    pub fn raw(self) -> *mut c_void {
        self.0
    }

    /// The platform that a property or a device names.
    pub fn from_property(value: isize) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(value.cast_unsigned()))
    }

    /// All platforms.
    pub fn all() -> Result<Vec<Self>, Failure> {
        Ok(check("clGetPlatformIDs", get_platform_ids())?.into_iter().map(Self).collect())
    }

    pub fn text(self, param: u32) -> Result<String, Failure> {
        Ok(text(&check("clGetPlatformInfo", get_platform_data(self.0, param))?))
    }

    /// Tells whether it is Mesa's driver.
    pub fn is_rusticl(self) -> Result<bool, Failure> {
        Ok(self.text(CL_PLATFORM_NAME)? == "rusticl")
    }

    /// Tells whether it is the Portable Computing Language, PoCL.
    pub fn is_pocl(self) -> Result<bool, Failure> {
        Ok(self.text(CL_PLATFORM_NAME)? == "Portable Computing Language")
    }

    /// The devices of some types, `CL_DEVICE_TYPE_*`; none is not an error.
    pub fn devices(self, types: u64) -> Result<Vec<DeviceId>, Failure> {
        // PoCL makes its devices when it is asked for the first time, and a second thread gets them half made.
        static ASKING: PlainMutex<()> = PlainMutex::new(());
        let _one_at_a_time = ASKING.lock();
        let ids = match check("clGetDeviceIDs", get_device_ids(self.0, types)) {
            // So NVIDIA says of types that it has no devices of, such as `CL_DEVICE_TYPE_CUSTOM`.
            Err(Failure { code: CL_INVALID_DEVICE_TYPE, .. }) => Vec::new(),
            ids => ids?,
        };
        Ok(ids.into_iter().map(DeviceId).collect())
    }
}

impl DeviceId {
    pub fn raw(self) -> *mut c_void {
        self.0
    }

    pub fn bytes(self, param: u32) -> Result<Vec<u8>, Failure> {
        check("clGetDeviceInfo", get_device_data(self.0, param))
    }

    pub fn text(self, param: u32) -> Result<String, Failure> {
        self.bytes(param).map(|b| text(&b))
    }

    pub fn array<const N: usize>(self, param: u32) -> Result<[u8; N], Failure> {
        array("clGetDeviceInfo", &self.bytes(param)?)
    }

    pub fn u32(self, param: u32) -> Result<u32, Failure> {
        self.array(param).map(u32::from_ne_bytes)
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

pub(crate) fn array<const N: usize>(operation: &'static str, bytes: &[u8]) -> Result<[u8; N], Failure> {
    bytes.try_into().map_err(|_| Failure { operation, code: CL_INVALID_VALUE })
}

pub(crate) fn sizes(bytes: &[u8]) -> Vec<usize> {
    let (words, _) = bytes.as_chunks::<{ size_of::<usize>() }>();
    words.iter().map(|w| usize::from_ne_bytes(*w)).collect()
}
