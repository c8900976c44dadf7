//! Exports arrays to other libraries: DLPack capsules and Python buffers.

use super::dlpack::{
    DataType, Device, PLAIN, RawManagedTensor, RawVersionedTensor, Tensor, TensorDesc, VERSION, VERSIONED,
};
use pixelferry::driver::describe::panics::contain;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::any::Any;
use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// `DLPACK_FLAG_BITMASK_IS_COPIED`.
const IS_COPIED: u64 = 1 << 1;

/// An exported tensor, freed by its deleter.
struct Export<M> {
    managed: M,
    shape: Vec<i64>,
    strides: Vec<i64>,
    _memory: Arc<dyn Any + Send + Sync>,
}

/// Makes a capsule that keeps `memory` alive. The description must have strides.
pub fn capsule(
    py: Python<'_>,
    described: TensorDesc,
    memory: Arc<dyn Any + Send + Sync>,
    versioned: bool,
    is_copy: bool,
) -> PyResult<Bound<'_, PyAny>> {
    if versioned {
        let flags = if is_copy { IS_COPIED } else { 0 };
        let make = |context, tensor| RawVersionedTensor {
            major: VERSION.0,
            minor: VERSION.1,
            context,
            deleter: Some(delete_versioned),
            flags,
            tensor,
        };
        return wrap(
            py,
            VERSIONED.0,
            given(described, memory, make, |m| &mut m.context, |m| &mut m.tensor),
            delete_versioned,
        );
    }
    let make = |context, tensor| RawManagedTensor { tensor, context, deleter: Some(delete_plain) };
    wrap(py, PLAIN.0, given(described, memory, make, |m| &mut m.context, |m| &mut m.tensor), delete_plain)
}

/// Leaks the tensor to its deleter.
fn given<M>(
    described: TensorDesc,
    memory: Arc<dyn Any + Send + Sync>,
    make: impl FnOnce(*mut c_void, Tensor) -> M,
    context: fn(&mut M) -> &mut *mut c_void,
    tensor: fn(&mut M) -> &mut Tensor,
) -> *mut M {
    let TensorDesc { device_kind, device_id, code, bits, lanes, address, shape, strides } = described;
    let blank = Tensor {
        data: ptr::with_exposed_provenance_mut(address),
        device: Device { kind: device_kind, id: device_id },
        ndim: shape.len() as i32,
        dtype: DataType { code, bits, lanes },
        shape: ptr::null(),
        strides: ptr::null(),
        byte_offset: 0,
    };
    let managed = make(ptr::null_mut(), blank);
    let all = Box::into_raw(Box::new(Export { managed, shape, strides: strides.unwrap_or_default(), _memory: memory }));
    // SAFETY: the value is new, and no other pointer to it exists.
    let inside = unsafe { &mut *all };
    *context(&mut inside.managed) = all.cast();
    let (shape, strides) = (inside.shape.as_ptr(), inside.strides.as_ptr());
    let to = tensor(&mut inside.managed);
    (to.shape, to.strides) = (shape, strides);
    // SAFETY: as above; only the address is taken.
    unsafe { &raw mut (*all).managed }
}

fn wrap<'py, M>(
    py: Python<'py>,
    name: &'static CStr,
    managed: *mut M,
    delete: unsafe extern "C" fn(*mut M),
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the interpreter is attached; the name is static, and the pointer is not null.
    let capsule = unsafe { ffi::PyCapsule_New(managed.cast(), name.as_ptr(), Some(drop_capsule)) };
    if capsule.is_null() {
        // SAFETY: made for this deleter, and not shared yet.
        unsafe { delete(managed) };
        return Err(PyErr::fetch(py));
    }
    // SAFETY: a new reference.
    Ok(unsafe { Bound::from_owned_ptr(py, capsule) })
}

/// Frees a tensor that was not taken: a consumer renames the capsule.
unsafe extern "C" fn drop_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: Python destroys a capsule that `wrap` made; under these names it contains what these deleters free.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, PLAIN.0.as_ptr()) == 1 {
            delete_plain(ffi::PyCapsule_GetPointer(capsule, PLAIN.0.as_ptr()).cast());
        } else if ffi::PyCapsule_IsValid(capsule, VERSIONED.0.as_ptr()) == 1 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, VERSIONED.0.as_ptr()).cast());
        }
    }
}

/// Consumers may call this on any thread.
unsafe extern "C" fn delete_plain(managed: *mut RawManagedTensor) {
    // SAFETY: a consumer returns what `given` made for it, once.
    let all = unsafe { Box::from_raw((*managed).context.cast::<Export<RawManagedTensor>>()) };
    contain("exported array", || drop(all));
}

unsafe extern "C" fn delete_versioned(managed: *mut RawVersionedTensor) {
    // SAFETY: as for `delete_plain`.
    let all = unsafe { Box::from_raw((*managed).context.cast::<Export<RawVersionedTensor>>()) };
    contain("exported array", || drop(all));
}

/// Memory as Python's buffers describe it: without gaps, the last index fastest, at least one dimension.
pub struct Bytes<'a> {
    pub address: usize,
    pub len: usize,
    pub item: usize,
    pub format: &'static CStr,
    pub shape: &'a [isize],
    /// In bytes.
    pub strides: &'a [isize],
}

/// Fills in the view of `__getbuffer__`.
///
/// # Safety
/// `view` is the argument of `owner`'s `__getbuffer__`, and `owner` keeps everything in `bytes` alive.
pub unsafe fn fill(
    view: *mut ffi::Py_buffer,
    flags: c_int,
    owner: Bound<'_, PyAny>,
    bytes: &Bytes<'_>,
) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("the view is null"));
    }
    let asked = |flag: c_int| flags & flag == flag;
    if asked(ffi::PyBUF_F_CONTIGUOUS) && !asked(ffi::PyBUF_ANY_CONTIGUOUS) && bytes.shape.len() > 1 {
        return Err(PyBufferError::new_err(
            "the array is not in Fortran order (the first index does not vary fastest)",
        ));
    }
    let list = |list: &[isize]| list.as_ptr().cast_mut();
    // SAFETY: the caller's promise; consumers only read shape, strides and format, which live as long as the owner.
    let view = unsafe { &mut *view };
    view.buf = ptr::with_exposed_provenance_mut(bytes.address);
    view.len = bytes.len as isize;
    view.readonly = 0;
    view.itemsize = bytes.item as isize;
    view.format = if asked(ffi::PyBUF_FORMAT) { bytes.format.as_ptr().cast_mut() } else { ptr::null_mut() };
    view.ndim = if asked(ffi::PyBUF_ND) { bytes.shape.len() as c_int } else { 1 };
    view.shape = if asked(ffi::PyBUF_ND) { list(bytes.shape) } else { ptr::null_mut() };
    view.strides = if asked(ffi::PyBUF_STRIDES) { list(bytes.strides) } else { ptr::null_mut() };
    view.suboffsets = ptr::null_mut();
    view.internal = ptr::null_mut();
    view.obj = owner.into_ptr();
    Ok(())
}
