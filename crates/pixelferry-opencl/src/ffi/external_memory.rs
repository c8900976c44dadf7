//! Memory behind handles of the operating system: `cl_khr_external_memory`.

use super::acquire_release::AcquireRelease;
use super::handle::{Handle, MemKind};
use super::{Mem, Memory, Pixels, Session, SharedImage, TurnFns};
use crate::os;
use cl3::memory as mem;
use interop_core::devices::os_handle::ImportedHandle;
use interop_core::{MemoryHandle, OsHandle, Result};
use std::io;
use std::ptr;
use std::sync::Arc;

/// Memory behind a handle, opened.
pub struct External {
    handle: OsHandle,
    fns: TurnFns,
}

impl External {
    /// By a handle of its own.
    pub fn of(memory: &MemoryHandle, fns: TurnFns) -> io::Result<Self> {
        Ok(Self { handle: os::duplicate_memory(memory.handle())?, fns })
    }

    /// Runs `create` with the properties that name the handle, which the driver may take where it succeeds.
    fn give(
        self,
        session: &Session,
        operation: &'static str,
        create: impl FnOnce(*const u64) -> Result<*mut std::ffi::c_void, i32>,
    ) -> Result<(Handle<MemKind>, AcquireRelease)> {
        let to_driver = ImportedHandle::new(self.handle);
        let properties = [u64::from(os::MEMORY), to_driver.property(), 0];
        // SAFETY: an object that was just created, whose one reference is ours.
        match unsafe { Handle::own(operation, create(properties.as_ptr())) } {
            Ok(mem) => Ok((mem, AcquireRelease::new(self.fns))),
            Err(failure) => {
                to_driver.close_if_left();
                Err(session.error(failure))
            }
        }
    }

    /// All `whole` bytes of the allocation as a buffer, of which the first `len` are used. The device must list the
    /// extension.
    pub fn buffer(self, session: &Arc<Session>, whole: usize, len: usize) -> Result<Memory> {
        let (mem, turns) = self.give(session, "clCreateBufferWithProperties", |properties| {
            // SAFETY: the context is live, the list ends with 0, no host pointer is given. A device with the extension
            // is of OpenCL 3.0, which has the function.
            unsafe {
                let flags = mem::CL_MEM_READ_WRITE;
                let context = session.context.raw();
                mem::create_buffer_with_properties(context, properties, flags, whole, ptr::null_mut())
            }
        })?;
        Ok(Memory::with_turns(session, Mem::of(mem, mem::CL_MEM_READ_WRITE, len), turns, len))
    }

    /// The allocation as an image of one level in the order that the device likes best.
    pub fn image(self, session: &Arc<Session>, pixels: Pixels) -> Result<SharedImage> {
        let (format, desc) = pixels.describe();
        let (mem, turns) = self.give(session, "clCreateImageWithProperties", |properties| {
            // SAFETY: as above; format and description live through the call.
            unsafe {
                let (flags, context) = (mem::CL_MEM_READ_WRITE, session.context.raw());
                mem::create_image_with_properties(context, properties, flags, &format, &desc, ptr::null_mut())
            }
        })?;
        Ok(SharedImage::new(session, Mem::of(mem, mem::CL_MEM_READ_WRITE, usize::MAX), turns, pixels))
    }
}
