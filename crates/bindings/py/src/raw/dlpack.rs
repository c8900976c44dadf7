//! Capsules of DLPack (<https://dmlc.github.io/dlpack/latest/c_api.html>, versions 0 and 1) from other libraries: each
//! is taken once and released once. `export` makes capsules.

use crate::failure::Failure;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::slice;

/// The newest supported version, which producers are asked for.
pub const VERSION: (u32, u32) = (1, 0);

#[repr(C)]
pub(super) struct Device {
    pub kind: i32,
    pub id: i32,
}

#[repr(C)]
pub(super) struct DataType {
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
}

/// `DLTensor`.
#[repr(C)]
pub(super) struct Tensor {
    pub data: *mut c_void,
    pub device: Device,
    pub ndim: i32,
    pub dtype: DataType,
    pub shape: *const i64,
    pub strides: *const i64,
    pub byte_offset: u64,
}

/// `DLManagedTensor`, of capsules called "dltensor".
#[repr(C)]
pub(super) struct RawManagedTensor {
    pub tensor: Tensor,
    pub context: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// `DLManagedTensorVersioned`, of capsules named "dltensor_versioned". Only its beginning is equal in every major
/// version.
#[repr(C)]
pub(super) struct RawVersionedTensor {
    pub major: u32,
    pub minor: u32,
    pub context: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(*mut Self)>,
    pub flags: u64,
    pub tensor: Tensor,
}

/// A copied description of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorDesc {
    /// `DLDeviceType`.
    pub device_kind: i32,
    pub device_id: i32,
    /// `DLDataTypeCode`.
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
    pub address: usize,
    pub shape: Vec<i64>,
    /// In elements; `None` for rows without gaps.
    pub strides: Option<Vec<i64>>,
}

enum ManagedTensor {
    Plain(NonNull<RawManagedTensor>),
    Versioned(NonNull<RawVersionedTensor>),
}

/// A tensor taken from its capsule. Dropping it calls the producer's deleter on the dropping thread.
pub struct TakenTensor(ManagedTensor);

// SAFETY: the description is only read. What keeps a tensor belongs to an object of Python, which is used and dropped with
// the interpreter attached, as producers' deleters require.
unsafe impl Send for TakenTensor {}
// SAFETY: as above.
unsafe impl Sync for TakenTensor {}

/// Names of capsules, and of capsules whose tensor was taken.
pub(super) const PLAIN: (&CStr, &CStr) = (c"dltensor", c"used_dltensor");
pub(super) const VERSIONED: (&CStr, &CStr) = (c"dltensor_versioned", c"used_dltensor_versioned");

impl TakenTensor {
    /// Takes the tensor, so that the capsule will not free it.
    pub fn from_capsule(capsule: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let Ok(capsule) = capsule.cast::<PyCapsule>() else {
            return Err(Failure::Dtype("__dlpack__() did not return a capsule".into()));
        };
        let take = |(name, used): (&'static CStr, &'static CStr)| {
            let object = capsule.as_ptr();
            // SAFETY: a capsule, with the interpreter attached; both calls get a null-terminated name.
            unsafe {
                if ffi::PyCapsule_IsValid(object, name.as_ptr()) == 0 {
                    return None;
                }
                let pointer = ffi::PyCapsule_GetPointer(object, name.as_ptr());
                // The name is static, because a capsule keeps only its address.
                (ffi::PyCapsule_SetName(object, used.as_ptr()) == 0).then_some(pointer)
            }
        };
        if let Some(tensor) = take(VERSIONED).and_then(NonNull::new) {
            // From here on, dropping it releases the tensor on every path.
            let taken = Self(ManagedTensor::Versioned(tensor.cast()));
            let major = taken.major();
            if major != VERSION.0 {
                return Err(Failure::Dtype(format!(
                    "unsupported DLPack version {major}; only {}.x is supported",
                    VERSION.0
                )));
            }
            return Ok(taken);
        }
        take(PLAIN).and_then(NonNull::new).map(|tensor| Self(ManagedTensor::Plain(tensor.cast()))).ok_or_else(|| {
            let used = "the capsule of __dlpack__() was already used, or is not a DLPack capsule";
            Failure::Dtype(used.into())
        })
    }

    fn major(&self) -> u32 {
        match &self.0 {
            ManagedTensor::Plain(_) => 0,
            // SAFETY: live until `drop`; the version is at the same place in every version.
            ManagedTensor::Versioned(tensor) => unsafe { tensor.as_ref() }.major,
        }
    }

    /// Describes the tensor.
    pub fn describe(&self) -> Result<TensorDesc, Failure> {
        // SAFETY: live until `drop`, and of the layout that its name and version say.
        let tensor = unsafe {
            match &self.0 {
                ManagedTensor::Plain(managed) => &managed.as_ref().tensor,
                ManagedTensor::Versioned(managed) => &managed.as_ref().tensor,
            }
        };
        let dimensions = usize::try_from(tensor.ndim).ok().filter(|n| *n <= 64);
        let dimensions = dimensions.ok_or_else(|| {
            Failure::Shape(format!("the array has {} dimensions; at most 64 are supported", tensor.ndim))
        })?;
        let list = |at: *const i64| -> Option<Vec<i64>> {
            match (dimensions, at.is_null()) {
                (0, _) => Some(Vec::new()),
                (_, true) => None,
                // SAFETY: the producer promises as many numbers as there are dimensions, for as long as the tensor lives.
                (_, false) => Some(unsafe { slice::from_raw_parts(at, dimensions) }.to_vec()),
            }
        };
        let address = tensor.data.addr().checked_add(usize::try_from(tensor.byte_offset).unwrap_or(usize::MAX));
        Ok(TensorDesc {
            device_kind: tensor.device.kind,
            device_id: tensor.device.id,
            code: tensor.dtype.code,
            bits: tensor.dtype.bits,
            lanes: tensor.dtype.lanes,
            // Null with an offset is still null.
            address: if tensor.data.is_null() { 0 } else { address.unwrap_or(0) },
            shape: list(tensor.shape).ok_or_else(|| Failure::Shape("the array has no shape".into()))?,
            strides: list(tensor.strides),
        })
    }
}

impl Drop for TakenTensor {
    fn drop(&mut self) {
        match self.0 {
            ManagedTensor::Plain(tensor) => {
                // SAFETY: it is live, and nothing else frees it, because its capsule was renamed and this runs once.
                unsafe {
                    if let Some(deleter) = tensor.as_ref().deleter {
                        deleter(tensor.as_ptr());
                    }
                }
            }
            ManagedTensor::Versioned(tensor) => {
                // SAFETY: as above; the deleter has the same place in every version.
                unsafe {
                    if let Some(deleter) = tensor.as_ref().deleter {
                        deleter(tensor.as_ptr());
                    }
                }
            }
        }
    }
}
