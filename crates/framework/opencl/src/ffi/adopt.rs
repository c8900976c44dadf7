//! Wrapping of existing objects: each gets its own reference, and must belong to the context that the caller names.

use super::handle::{Handle, KernelKind, MemKind, ObjectKind};
use super::query::{array, text};
use super::{FOREIGN, Failure, Kernel, Mem, Program};
use crate::Context;
use cl3::kernel as k;
use cl3::memory as m;
use std::ffi::c_void;
use std::sync::Arc;

/// # Safety
/// `raw` is null or a live object of kind `K`; here and below.
pub(crate) unsafe fn adopt_in<K: ObjectKind>(context: &Context, raw: *mut c_void) -> Result<Handle<K>, Failure> {
    // SAFETY: the caller's promise.
    let handle = unsafe { Handle::<K>::adopt(raw) }?;
    if handle.object(K::CONTEXT)? == context.raw() {
        Ok(handle)
    } else {
        Err(Failure { operation: K::INFO, code: FOREIGN })
    }
}

impl Mem {
    /// A buffer, a part of one, or an image. What other values over the same memory do is not known to this one.
    ///
    /// # Safety
    /// The conditions of [`adopt_in`] hold.
    pub unsafe fn adopt(context: &Context, raw: *mut c_void) -> Result<Arc<Self>, Failure> {
        const CALL: &str = "clGetMemObjectInfo";
        // SAFETY: the caller's promise.
        let handle: Handle<MemKind> = unsafe { adopt_in(context, raw) }?;
        let number = |param| handle.info(param).and_then(|bytes| array(CALL, &bytes)).map(usize::from_ne_bytes);
        let kind = u32::from_ne_bytes(array(CALL, &handle.info(m::CL_MEM_TYPE)?)?);
        let flags = u64::from_ne_bytes(array(CALL, &handle.info(m::CL_MEM_FLAGS)?)?);
        let whole = handle.object(m::CL_MEM_ASSOCIATED_MEMOBJECT)?;
        // SAFETY: what an object was made of lives as long as the object.
        let parent = if whole.is_null() { None } else { Some(unsafe { Self::adopt(context, whole) }?) };
        let len = if kind == m::CL_MEM_OBJECT_BUFFER { number(m::CL_MEM_SIZE)? } else { usize::MAX };
        let offset = if kind == m::CL_MEM_OBJECT_BUFFER { number(m::CL_MEM_OFFSET)? } else { 0 };
        Ok(Arc::new(Self::of(handle, flags, len).inside(parent, offset)))
    }

    /// `CL_MEM_OBJECT_*`.
    pub fn kind(&self) -> Result<u32, Failure> {
        self.info(m::CL_MEM_TYPE).map(u32::from_ne_bytes)
    }
}

impl Program {
    /// # Safety
    /// The conditions of [`adopt_in`] hold, and the caller vouches for what the program's kernels do when they are
    /// launched.
    pub unsafe fn adopt(context: &Context, raw: *mut c_void) -> Result<Self, Failure> {
        // SAFETY: the caller's promise.
        unsafe { adopt_in(context, raw) }.map(Self::of)
    }
}

impl Kernel {
    /// The kernel and its function's name.
    ///
    /// # Safety
    /// The conditions of [`adopt_in`] hold, and no other code sets arguments of the kernel during a launch.
    pub unsafe fn adopt(context: &Context, program: &Program, raw: *mut c_void) -> Result<(Self, String), Failure> {
        // SAFETY: the caller's promise.
        let handle: Handle<KernelKind> = unsafe { adopt_in(context, raw) }?;
        if handle.object(k::CL_KERNEL_PROGRAM)? != program.raw() {
            return Err(Failure { operation: "clGetKernelInfo", code: FOREIGN });
        }
        let name = text(&handle.info(k::CL_KERNEL_FUNCTION_NAME)?);
        Ok((Self::new(handle), name))
    }
}
