//! Device memory that other APIs can open, from CUDA's virtual memory management with an exportable handle.

use super::api::call;
use super::{Failure, Queue, Span, os};
use cudarc::driver::sys as cu;
use interop_core::MemoryHandle;
use interop_core::devices::os_handle::{self, NONE};
use std::sync::Arc;

/// `CU_MEM_ALLOC_GRANULARITY_RECOMMENDED`.
const RECOMMENDED: u32 = 1;

fn location(device: cu::CUdevice) -> cu::CUmemLocation {
    cu::CUmemLocation { type_: cu::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device }
}

fn properties(device: cu::CUdevice) -> cu::CUmemAllocationProp {
    cu::CUmemAllocationProp {
        type_: cu::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: os::EXPORTED,
        location: location(device),
        win32HandleMetaData: os::security(),
        allocFlags: cu::CUmemAllocationProp_st__bindgen_ty_1 {
            compressionType: 0,
            gpuDirectRDMACapable: 0,
            usage: 0,
            reserved: [0; 4],
        },
    }
}

/// Returns the granularity of exportable memory sizes, in bytes.
pub fn granularity(queue: &Queue) -> Result<usize, Failure> {
    let _current = queue.enter()?;
    let (mut bytes, properties) = (0, properties(queue.device()));
    // SAFETY: reads the description, writes one number.
    unsafe {
        let driver = &queue.api().driver;
        call!(driver, cuMemGetAllocationGranularity(&raw mut bytes, &raw const properties, RECOMMENDED))
    }?;
    Ok(bytes.max(1))
}

/// Memory without an address.
pub struct Physical {
    handle: cu::CUmemGenericAllocationHandle,
    bytes: usize,
    queue: Arc<Queue>,
}

impl Physical {
    /// Allocates memory of `device`, which may differ from the queue's. `len` is a multiple of [`granularity`].
    pub fn new(queue: &Arc<Queue>, device: cu::CUdevice, len: usize) -> Result<Self, Failure> {
        let _current = queue.enter()?;
        let (mut handle, properties) = (0, properties(device));
        // SAFETY: reads the description, writes the handle; the context is current.
        unsafe { call!(queue.api().driver, cuMemCreate(&raw mut handle, len, &raw const properties, 0)) }?;
        Ok(Self { handle, bytes: len, queue: queue.clone() })
    }

    /// Returns a new handle at each call; the handle keeps the memory alive.
    pub fn export(&self) -> Result<MemoryHandle, Failure> {
        let _current = self.queue.enter()?;
        let mut raw = NONE;
        // SAFETY: for this handle type the driver writes one `int` (Unix) or `HANDLE` (Windows).
        unsafe {
            let driver = &self.queue.api().driver;
            call!(driver, cuMemExportToShareableHandle((&raw mut raw).cast(), self.handle, os::EXPORTED.0, 0))
        }?;
        // SAFETY: the driver created this handle for this call; it has no other owner.
        let handle = unsafe { os_handle::own(raw) };
        let missing = Failure { operation: "cuMemExportToShareableHandle", code: super::INVALID_VALUE };
        // SAFETY: the driver created it from this allocation, which has this size and is not dedicated to one object.
        Ok(unsafe { MemoryHandle::new(handle.ok_or(missing)?, self.bytes as u64, false) })
    }
}

impl Drop for Physical {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let Ok(_current) = self.queue.enter() else { return };
        // SAFETY: made once, released once; the driver keeps the memory while it is mapped or open elsewhere.
        Failure::log(unsafe { call!(self.queue.api().driver, cuMemRelease(self.handle)) });
    }
}

/// Addresses without memory.
struct Addresses {
    start: cu::CUdeviceptr,
    len: usize,
    queue: Arc<Queue>,
}

impl Addresses {
    fn new(queue: &Arc<Queue>, len: usize) -> Result<Self, Failure> {
        let mut start = 0;
        // SAFETY: writes the address to the given location.
        unsafe { call!(queue.api().driver, cuMemAddressReserve(&raw mut start, len, 0, 0, 0)) }?;
        Ok(Self { start, len, queue: queue.clone() })
    }
}

impl Drop for Addresses {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let Ok(_current) = self.queue.enter() else { return };
        // SAFETY: reserved once, freed once, after the mapping has gone (order of fields in `SharedBlock`).
        Failure::log(unsafe { call!(self.queue.api().driver, cuMemAddressFree(self.start, self.len)) });
    }
}

/// The memory at its addresses.
struct Mapping {
    start: cu::CUdeviceptr,
    len: usize,
    queue: Arc<Queue>,
}

impl Mapping {
    fn new(addresses: &Addresses, memory: &Physical) -> Result<Self, Failure> {
        let (queue, start, len) = (&addresses.queue, addresses.start, addresses.len);
        let driver = &queue.api().driver;
        // SAFETY: the reservation and the memory are live and equally long; nothing else is mapped there.
        unsafe { call!(driver, cuMemMap(start, len, 0, memory.handle, 0)) }?;
        // From here on `drop` undoes the mapping.
        let this = Self { start, len, queue: queue.clone() };
        let access = cu::CUmemAccessDesc {
            location: location(queue.device()),
            flags: cu::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: the range was mapped just now; reads one description.
        unsafe { call!(driver, cuMemSetAccess(start, len, &raw const access, 1)) }?;
        Ok(this)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // Unmapping does not wait for kernels.
        Failure::log(self.queue.synchronize());
        let Ok(_current) = self.queue.enter() else { return };
        // SAFETY: mapped once, unmapped once, when no work of ours uses it.
        Failure::log(unsafe { call!(self.queue.api().driver, cuMemUnmap(self.start, self.len)) });
    }
}

/// Device memory with addresses in this process, which another API can open. The fields are in the order of their
/// drops.
pub struct SharedBlock {
    mapping: Mapping,
    _addresses: Addresses,
    _memory: Physical,
}

impl SharedBlock {
    /// Allocates `len` bytes of `device`, a multiple of [`granularity`], and returns a handle of the whole. Kernels of
    /// the queue write it, from another device with peer access.
    pub fn new(queue: &Arc<Queue>, device: cu::CUdevice, len: usize) -> Result<(Self, MemoryHandle), Failure> {
        let _current = queue.enter()?;
        let memory = Physical::new(queue, device, len)?;
        let handle = memory.export()?;
        let addresses = Addresses::new(queue, len)?;
        let mapping = Mapping::new(&addresses, &memory)?;
        Ok((Self { mapping, _addresses: addresses, _memory: memory }, handle))
    }

    pub fn span(&self) -> Span<'_> {
        // SAFETY: mapped for reading and writing until `self` goes.
        unsafe { Span::new(self.mapping.start, self.mapping.len) }
    }
}
