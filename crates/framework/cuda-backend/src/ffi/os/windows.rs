//! NT handles, by the driver's names for them. This code is compiled but was never run.

use cudarc::driver::sys as cu;
use std::ffi::c_void;
use std::ptr;

/// `CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32`.
pub const MEMORY: u32 = 2;
/// `CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32`.
pub const SEMAPHORE: u32 = 2;
/// `CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32`.
pub const TIMELINE: u32 = 10;
/// Handle type for exported memory.
pub const EXPORTED: cu::CUmemAllocationHandleType = cu::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_WIN32;
/// `CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED`.
pub const EXPORT_SUPPORTED: u32 = 104;

/// `OBJECT_ATTRIBUTES` (ntdef.h).
#[repr(C)]
struct ObjectAttributes {
    length: u32,
    root_directory: *const c_void,
    object_name: *const c_void,
    attributes: u32,
    security_descriptor: *const SecurityDescriptor,
    security_quality_of_service: *const c_void,
}

/// `SECURITY_DESCRIPTOR` (winnt.h), in its absolute form.
#[repr(C)]
struct SecurityDescriptor {
    revision: u8,
    _zero: u8,
    control: u16,
    owner: *const c_void,
    group: *const c_void,
    system_list: *const c_void,
    access_list: *const c_void,
}

/// A constant with pointers in it; it is never written.
struct Constant<T>(T);

// SAFETY: the value is never changed.
unsafe impl<T> Sync for Constant<T> {}

/// `SECURITY_DESCRIPTOR_REVISION`.
const REVISION: u8 = 1;
/// `SE_DACL_PRESENT`.
const ACCESS_LIST_PRESENT: u16 = 4;

/// A null access list grants access to everyone.
static SECURITY: Constant<SecurityDescriptor> = Constant(SecurityDescriptor {
    revision: REVISION,
    _zero: 0,
    control: ACCESS_LIST_PRESENT,
    owner: ptr::null(),
    group: ptr::null(),
    system_list: ptr::null(),
    access_list: ptr::null(),
});

static ATTRIBUTES: Constant<ObjectAttributes> = Constant(ObjectAttributes {
    length: size_of::<ObjectAttributes>() as u32,
    root_directory: ptr::null(),
    object_name: ptr::null(),
    attributes: 0,
    security_descriptor: &raw const SECURITY.0,
    security_quality_of_service: ptr::null(),
});

/// Returns the access rules for exported memory, which the driver requires (`CUmemAllocationProp::win32HandleMetaData`,
/// a `POBJECT_ATTRIBUTES`): any holder of the handle may open it. The object has no name through which others could
/// open it, and the handle is never inherited.
pub fn security() -> *mut c_void {
    (&raw const ATTRIBUTES.0).cast_mut().cast()
}
