//! A caller's own memory on a device, for kernels to read, and for passes whose result is not shown.

use crate::abi::*;
use crate::boundary::{array, bytes_mut};
use crate::call::call;
use crate::exports::results::give;
use crate::failure::{Failure, Result};
use crate::handles::{Handle as _, Memory, SharedMemory, free};
use crate::sources::{LaunchSources, arguments, busy_memory};
use pixelferry::Target;
use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;

fn with<R>(memory: *mut pf_memory, f: impl FnOnce(&mut Memory) -> Result<R>) -> Result<R> {
    let SharedMemory::Own(memory) = pf_memory::get(memory)? else {
        let problem = "memory from an intake or a subscriber is read-only; use memory from pf_memory_new to write";
        return Err(Failure::argument(problem));
    };
    let mut memory = memory.try_borrow_mut().map_err(|_| busy_memory())?;
    f(&mut memory)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_memory_new(
    backend: *mut pf_backend,
    bytes: usize,
    memory: *mut *mut pf_memory,
) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_memory_new", || unsafe {
        give(memory, "memory", || {
            let backend = pf_backend::get(backend)?;
            let memory = backend.allocate(bytes)?;
            Ok(SharedMemory::Own(Rc::new(RefCell::new(Memory { backend, memory }))))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_memory_write(
    memory: *mut pf_memory,
    offset: usize,
    data: *const c_void,
    bytes: usize,
) -> pf_status {
    call("pf_memory_write", || {
        // SAFETY: the header's promise for pointers.
        let data = unsafe { array(data.cast::<u8>(), bytes, "data") }?;
        with(memory, |memory| Ok(memory.memory.write(offset, data)?))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_memory_read(
    memory: *mut pf_memory,
    offset: usize,
    data: *mut c_void,
    bytes: usize,
) -> pf_status {
    call("pf_memory_read", || {
        // SAFETY: the header's promise for pointers.
        let data = unsafe { bytes_mut(data.cast::<u8>(), bytes, "data") }?;
        match pf_memory::get(memory)? {
            SharedMemory::Taken(taken) => copy(&taken.read()?, offset, data),
            SharedMemory::Streamed(_) => {
                Err(Failure::argument("this is the memory of a subscriber's frame; read it with pf_subscriber_read"))
            }
            SharedMemory::Own(_) => with(memory, |memory| Ok(memory.memory.read(offset, data)?)),
        }
    })
}

fn copy(all: &[u8], offset: usize, data: &mut [u8]) -> Result<()> {
    let part = offset.checked_add(data.len()).and_then(|end| all.get(offset..end));
    let part = part.ok_or_else(|| {
        Failure::argument(format!("{} bytes from {offset} on exceed the memory's {}", data.len(), all.len()))
    })?;
    data.copy_from_slice(part);
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_memory_launch(
    memory: *mut pf_memory,
    kernel: *mut pf_kernel,
    args: *const pf_arg,
    arg_count: usize,
) -> pf_status {
    call("pf_memory_launch", || {
        let kernel = pf_kernel::get(kernel)?;
        // SAFETY: the header's promise for pointers.
        let looked = LaunchSources::up(unsafe { array(args, arg_count, "args") }?)?;
        with(memory, |memory| {
            let borrowed = looked.borrow()?;
            let target = Target::buffer(memory.memory.as_mut());
            Ok(memory.backend.launch(kernel.as_ref(), target, &arguments(&borrowed)?)?)
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_memory_free(memory: *mut pf_memory) -> pf_status {
    call("pf_memory_free", || free(memory))
}
