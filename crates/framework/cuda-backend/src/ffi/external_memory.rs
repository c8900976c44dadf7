//! Memory behind a handle: allocated by another API, or allocated by CUDA and laid out by another API.

use super::api::{ArrayDescriptor, LevelsInMemory, MemoryHandle, Opaque, call};
use super::graphics::Array;
use super::{Failure, Queue, Span, os};
use cudarc::driver::sys as cu;
use interop_core::MemoryHandle as CoreMemoryHandle;
use interop_core::devices::os_handle::ImportedHandle;
use std::ptr;
use std::sync::Arc;

/// `CUDA_EXTERNAL_MEMORY_DEDICATED`.
const DEDICATED: u32 = 1;
/// `CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_COLOR_ATTACHMENT`: kernels write it, and the other API may draw into it.
const WRITTEN_AND_DRAWN: u32 = 0x02 | 0x20;

/// An allocation behind a handle.
pub struct ExternalMemory {
    raw: cu::CUexternalMemory,
    bytes: u64,
    queue: Arc<Queue>,
}

// SAFETY: the handle belongs to the context, which each call makes current on its own thread.
unsafe impl Send for ExternalMemory {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for ExternalMemory {}

impl ExternalMemory {
    /// Opens the whole allocation.
    pub fn import(queue: &Arc<Queue>, memory: CoreMemoryHandle) -> Result<Self, Failure> {
        let _current = queue.enter()?;
        let mut raw = ptr::null_mut();
        let (bytes, dedicated) = (memory.bytes(), memory.is_dedicated());
        let to_driver = ImportedHandle::new(memory.into_handle());
        let handle = MemoryHandle {
            kind: os::MEMORY,
            handle: Opaque::new(to_driver.number()),
            size: bytes,
            flags: if dedicated { DEDICATED } else { 0 },
            reserved: [0; 16],
        };
        // SAFETY: writes the handle and reads one description, at valid places; the handle is open and of memory of
        // this size.
        let imported = unsafe { call!(queue.api().driver, cuImportExternalMemory(&raw mut raw, &raw const handle)) };
        if let Err(failure) = imported {
            to_driver.close_if_left();
            return Err(failure);
        }
        Ok(Self { raw, bytes, queue: queue.clone() })
    }
}

impl Drop for ExternalMemory {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let Ok(_current) = self.queue.enter() else { return };
        // SAFETY: made once, destroyed once, after what was mapped of it.
        Failure::log(unsafe { call!(self.queue.api().driver, cuDestroyExternalMemory(self.raw)) });
    }
}

/// The whole allocation at an address.
pub struct ExternalBuffer {
    address: cu::CUdeviceptr,
    memory: ExternalMemory,
}

impl ExternalBuffer {
    pub fn new(memory: ExternalMemory) -> Result<Self, Failure> {
        let queue = memory.queue.clone();
        let _current = queue.enter()?;
        let mut address = 0;
        let whole = cu::CUDA_EXTERNAL_MEMORY_BUFFER_DESC { offset: 0, size: memory.bytes, flags: 0, reserved: [0; 16] };
        // SAFETY: writes the address to the given location, reads one description; the memory is live.
        unsafe {
            let driver = &queue.api().driver;
            call!(driver, cuExternalMemoryGetMappedBuffer(&raw mut address, memory.raw, &raw const whole))
        }?;
        Ok(Self { address, memory })
    }

    pub fn span(&self) -> Span<'_> {
        // SAFETY: mapped until `self` goes, as long as the allocation.
        unsafe { Span::new(self.address, self.memory.bytes as usize) }
    }
}

impl Drop for ExternalBuffer {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let queue = &self.memory.queue;
        // Kernels may still write it.
        Failure::log(queue.synchronize());
        let Ok(_current) = queue.enter() else { return };
        // SAFETY: mapped once, freed once, before the memory itself.
        Failure::log(unsafe { call!(queue.api().driver, cuMemFree_v2(self.address)) });
    }
}

/// The whole allocation as one image in the layout of the device's own textures.
pub struct ExternalImage {
    levels: cu::CUmipmappedArray,
    level: cu::CUarray,
    memory: ExternalMemory,
}

// SAFETY: the handles belong to the context, which each call makes current on its own thread.
unsafe impl Send for ExternalImage {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for ExternalImage {}

impl ExternalImage {
    /// Maps the image; `format` is a `CUarray_format`.
    pub fn new(
        memory: ExternalMemory,
        [width, height]: [usize; 2],
        format: u32,
        channels: u32,
    ) -> Result<Self, Failure> {
        let queue = memory.queue.clone();
        let _current = queue.enter()?;
        let array = ArrayDescriptor { width, height, depth: 0, format, channels, flags: WRITTEN_AND_DRAWN };
        let layout = LevelsInMemory { offset: 0, array, levels: 1, reserved: [0; 16] };
        let driver = &queue.api().driver;
        let mut levels = ptr::null_mut();
        // SAFETY: writes the handle to the given location, reads one description; the memory is live.
        unsafe {
            let mapped = &raw mut levels;
            call!(driver, cuExternalMemoryGetMappedMipmappedArray(mapped, memory.raw, &raw const layout))
        }?;
        // From here on `drop` undoes the mapping.
        let mut this = Self { levels, level: ptr::null_mut(), memory };
        // SAFETY: writes the handle to the given location; there is one level.
        unsafe { call!(driver, cuMipmappedArrayGetLevel(&raw mut this.level, levels, 0)) }?;
        Ok(this)
    }

    pub fn array(&self) -> Array<'_> {
        // SAFETY: the level lives as long as `self`.
        unsafe { Array::new(self.level) }
    }
}

impl Drop for ExternalImage {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let queue = &self.memory.queue;
        // Kernels may still write it.
        Failure::log(queue.synchronize());
        let Ok(_current) = queue.enter() else { return };
        // SAFETY: mapped once, destroyed once, before the memory itself.
        Failure::log(unsafe { call!(queue.api().driver, cuMipmappedArrayDestroy(self.levels)) });
    }
}
