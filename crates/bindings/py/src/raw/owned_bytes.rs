//! The memory of arrays that Python gets from this package. Each array has its own memory, so that later pictures do
//! not change it.

use crate::failure::{Failure, check_process};
use pixelferry::api::cuda::CudaBackend;
#[cfg(target_os = "linux")]
use pixelferry::api::vulkan::sharing::MappedMemory;
use pixelferry::driver::HostBlock;
use pixelferry::driver::describe::process::ForkGuard;
use pixelferry::{ComputeBackend as _, ComputeMemory};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The alignment that DLPack requires.
const ALIGNMENT: usize = 256;

/// Memory of an array. Any thread may drop it.
pub enum Memory {
    Host(HostBytes),
    Cuda(CudaBytes),
}

/// Bytes in host memory.
pub struct HostBytes {
    address: NonNull<u8>,
    len: usize,
    kept: BytesOwner,
}

/// Keeps host bytes alive.
enum BytesOwner {
    Allocated(Layout),
    /// Memory of a Vulkan driver on the CPU.
    #[cfg(target_os = "linux")]
    Mapped(#[expect(dead_code, reason = "dropped")] Box<ForkGuard<MappedMemory>>),
}

// SAFETY: the value owns the bytes. Sharers form no slice of them (`bytes_mut` and `lend` need a mutable borrow), and
// accesses through the address are Python's responsibility.
unsafe impl Send for HostBytes {}
// SAFETY: as above.
unsafe impl Sync for HostBytes {}

impl HostBytes {
    /// Allocates this many zero bytes, at least 1.
    pub fn new(len: usize) -> Result<Self, Failure> {
        let layout = Layout::from_size_align(len.max(1), ALIGNMENT);
        let layout = layout.map_err(|_| Failure::Device(format!("{len} bytes exceed the address space")))?;
        // SAFETY: the layout's size is not zero.
        let address = NonNull::new(unsafe { alloc_zeroed(layout) });
        let none =
            || Failure::Device(format!("out of host memory for {len} bytes; drop arrays that you no longer need"));
        Ok(Self { address: address.ok_or_else(none)?, len: layout.size(), kept: BytesOwner::Allocated(layout) })
    }

    /// Memory of a Vulkan driver on the CPU.
    #[cfg(target_os = "linux")]
    pub fn mapped(memory: MappedMemory) -> Self {
        let (address, len) = (memory.address(), memory.len());
        Self { address, len, kept: BytesOwner::Mapped(Box::new(ForkGuard::new(memory))) }
    }

    pub fn address(&self) -> usize {
        self.address.as_ptr().expose_provenance()
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the memory has this length and is initialised, and the mutable borrow excludes other users.
        unsafe { slice::from_raw_parts_mut(self.address.as_ptr(), self.len) }
    }

    /// Lends the bytes to a backend, which must drop the block before `work` returns.
    pub fn lend(&mut self, work: impl FnOnce(&HostBlock) -> Result<(), Failure>) -> Result<(), Failure> {
        let user = Arc::new(());
        // SAFETY: the bytes live as long as `self`, which is mutably borrowed, so there are no other users. The block
        // is dropped here.
        let block = unsafe { HostBlock::from_raw(self.address, self.len, user.clone()) };
        let done = work(&block);
        drop(block);
        if Arc::strong_count(&user) > 1 {
            return Err(Failure::Device("a backend kept memory that was only lent to it".into()));
        }
        done
    }

    /// Copies bytes that another Python thread may be writing: they may be torn, as in NumPy.
    pub fn copied(&self) -> Result<Self, Failure> {
        let copy = Self::new(self.len)?;
        // SAFETY: both have this length, and the copy is new.
        unsafe { ptr::copy_nonoverlapping(self.address.as_ptr(), copy.address.as_ptr(), self.len) };
        Ok(copy)
    }
}

impl Drop for HostBytes {
    fn drop(&mut self) {
        match &self.kept {
            // SAFETY: allocated with this layout, and freed once.
            BytesOwner::Allocated(layout) => unsafe { dealloc(self.address.as_ptr(), *layout) },
            #[cfg(target_os = "linux")]
            BytesOwner::Mapped(_) => {}
        }
    }
}

/// Bytes in memory of a CUDA device.
pub struct CudaBytes {
    owner: ForkGuard<Mutex<Box<dyn BytesKeeper>>>,
    backend: Arc<CudaBackend>,
    address: u64,
    len: usize,
    ordinal: u32,
}

/// Keeps memory of a CUDA device. Any thread may drop it.
pub trait BytesKeeper: Send {
    fn memory(&self) -> Result<&dyn ComputeMemory, Failure>;

    /// Reads the first bytes to the host.
    fn read(&mut self, into: &mut [u8]) -> Result<(), Failure>;

    /// Whether the bytes were complete before this existed.
    fn is_complete(&self) -> bool {
        false
    }
}

impl BytesKeeper for Box<dyn ComputeMemory> {
    fn memory(&self) -> Result<&dyn ComputeMemory, Failure> {
        Ok(self.as_ref())
    }

    fn read(&mut self, into: &mut [u8]) -> Result<(), Failure> {
        Ok(self.as_mut().read(0, into)?)
    }
}

impl CudaBytes {
    /// Allocates bytes and calls `fill` to write them, which need not wait.
    pub fn filled(
        backend: &Arc<CudaBackend>,
        len: usize,
        fill: impl FnOnce(&mut dyn ComputeMemory) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let mut memory = backend.allocate(len)?;
        fill(memory.as_mut())?;
        Self::of(backend, memory)
    }

    /// Takes over linear memory of the backend.
    pub fn of(backend: &Arc<CudaBackend>, memory: Box<dyn ComputeMemory>) -> Result<Self, Failure> {
        let len = memory.len();
        Self::kept_by(backend, memory, len)
    }

    /// The first bytes of linear memory of the backend, which `owner` keeps.
    pub fn kept_by(backend: &Arc<CudaBackend>, owner: impl BytesKeeper + 'static, len: usize) -> Result<Self, Failure> {
        let address = backend.address_of(owner.memory()?)?;
        let ordinal = backend.device().ordinal.unwrap_or_default();
        let owner: Box<dyn BytesKeeper> = Box::new(owner);
        Ok(Self { owner: ForkGuard::new(Mutex::new(owner)), backend: backend.clone(), address, len, ordinal })
    }

    pub fn address(&self) -> u64 {
        self.address
    }

    /// CUDA's number of the device.
    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }

    fn owner(&self) -> Result<MutexGuard<'_, Box<dyn BytesKeeper>>, Failure> {
        check_process(self.owner.mark(), "the array")?;
        Ok(self.owner.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes a consumer's stream wait until the bytes are written, without blocking the host.
    pub fn order(&self, stream: usize) -> Result<(), Failure> {
        if self.owner()?.is_complete() {
            return Ok(());
        }
        // SAFETY: DLPack's consumer passes a stream that is alive during the call; 1 and 2 have the driver's meaning.
        Ok(unsafe { self.backend.lead_stream(stream) }?)
    }

    /// Waits until the bytes are written.
    pub fn wait(&self) -> Result<(), Failure> {
        drop(self.owner()?);
        Ok(self.backend.finish()?)
    }

    pub fn to_host(&self) -> Result<HostBytes, Failure> {
        let mut owner = self.owner()?;
        let mut bytes = HostBytes::new(self.len)?;
        owner.read(bytes.bytes_mut())?;
        Ok(bytes)
    }

    pub fn copied(&self) -> Result<Self, Failure> {
        let owner = self.owner()?;
        Self::filled(&self.backend, self.len, |to| Ok(self.backend.copy(owner.memory()?, to, 0..self.len)?))
    }
}
