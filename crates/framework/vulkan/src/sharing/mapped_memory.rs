//! Memory of a driver that runs on the CPU, which the host reads and writes in place.

use crate::sharing::{Allocation, Instance, MEMORY_EXTENSION, OwnDevice, SharingDevice, failure};
use ash::vk;
use interop_core::describe::PlainMutex;
use interop_core::{DeviceUuid, Error, MemoryHandle, Result};
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

/// Any usage is sufficient: nothing is submitted.
const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::TRANSFER_DST;

/// Mesa's memory is a file that begins with one page of the driver's own data.
const MESAS_HEAD: u64 = 4096;

/// One logical device for all memory of a physical device.
struct HostDevice {
    sharing: SharingDevice,
    uuid: DeviceUuid,
    head: u64,
    // Dropped after the objects made from it.
    _own: OwnDevice,
}

impl HostDevice {
    fn of(uuid: DeviceUuid) -> Result<Arc<Self>> {
        static OPEN: PlainMutex<Vec<Weak<HostDevice>>> = PlainMutex::new(Vec::new());
        let mut open = OPEN.lock();
        open.retain(|device| device.strong_count() > 0);
        if let Some(device) = open.iter().filter_map(Weak::upgrade).find(|device| device.uuid == uuid) {
            return Ok(device);
        }
        let device = Arc::new(Self::open(uuid)?);
        open.push(Arc::downgrade(&device));
        Ok(device)
    }

    fn open(uuid: DeviceUuid) -> Result<Self> {
        let instance = Instance::get("memory")?;
        let chosen = instance.device_of("the memory's device", Some(uuid), None)?;
        if chosen.kind != vk::PhysicalDeviceType::CPU {
            let reason = "the host cannot map GPU memory by an opaque handle; CUDA can import that of its own GPUs";
            return Err(Error::unsupported(&chosen.name, reason));
        }
        let name = format!("Vulkan {}", chosen.name);
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
        let names = [MEMORY_EXTENSION.as_ptr()];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        let (instance, physical) = (instance.raw(), chosen.physical);
        // SAFETY: the physical device belongs to this instance, which is never destroyed. Without the extension the
        // driver returns an error; objects of the device keep it alive.
        let own = unsafe { OwnDevice::create(instance, physical, &info) }.map_err(failure("vkCreateDevice", &name))?;
        let head = if chosen.name.contains("llvmpipe") { MESAS_HEAD } else { 0 };
        let device = own.device().clone();
        // SAFETY: the three belong together, and the objects made from them live no longer than this.
        let sharing = unsafe {
            SharingDevice::new(instance.clone(), physical, device, |name| name == MEMORY_EXTENSION, false, name)
        };
        Ok(Self { sharing, uuid, head, _own: own })
    }

    /// Returns an error for a handle that is not memory of this size, as far as the system can tell. Drivers do not
    /// check it.
    #[cfg(unix)]
    fn check(&self, memory: &MemoryHandle) -> Result<()> {
        let file = memory.handle().try_clone().and_then(|handle| std::fs::File::from(handle).metadata());
        let file = file.map_err(|error| Error::refused(format!("the descriptor cannot be queried: {error}")))?;
        if !file.is_file() {
            return Err(Error::refused("the descriptor is not memory of this driver, which uses memory files"));
        }
        let has = file.len().saturating_sub(self.head);
        if memory.bytes() > has {
            let problem = format!("the handle states {} bytes, but its memory has {has}", memory.bytes());
            return Err(Error::refused(problem));
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn check(&self, _: &MemoryHandle) -> Result<()> {
        Err(self.sharing.unsupported("drivers on the CPU share memory only on Unix"))
    }
}

/// Memory of a CPU device, mapped into the address space of the host. Any thread may use and drop it.
pub struct MappedMemory {
    // Dropped before its device.
    allocation: Allocation,
    address: NonNull<u8>,
    len: usize,
    device: Arc<HostDevice>,
}

// SAFETY: the address belongs to the allocation, which this owns; callers synchronise their accesses.
unsafe impl Send for MappedMemory {}
// SAFETY: as above.
unsafe impl Sync for MappedMemory {}

impl MappedMemory {
    /// Maps all of the memory that another device or API of the driver exported. Takes ownership of the handle.
    ///
    /// # Errors
    /// `Unsupported` where the device is unknown, is a GPU or cannot share memory; `InvalidInput` where the handle is
    /// not such memory, or is smaller; errors of the driver.
    pub fn open(uuid: DeviceUuid, memory: MemoryHandle) -> Result<Self> {
        let device = HostDevice::of(uuid)?;
        device.check(&memory)?;
        let bytes = memory.bytes();
        // The buffer exists only for the driver; the mapping covers the whole memory.
        let allocation = device.sharing.imported_buffer(memory, bytes.min(4), USAGE)?;
        Self::map(device, allocation, bytes)
    }

    /// Allocates exportable memory of `bytes` (more than 0), initially zero, and returns it with a handle.
    ///
    /// # Errors
    /// `Unsupported` where the device is unknown, is a GPU or cannot export memory; errors of the driver.
    pub fn export(uuid: DeviceUuid, bytes: u64) -> Result<(Self, MemoryHandle)> {
        let device = HostDevice::of(uuid)?;
        let allocation = device.sharing.exported_buffer(bytes, USAGE)?;
        let mapped = Self::map(device, allocation, bytes)?;
        // SAFETY: so many bytes are mapped there, which nobody else knows of yet.
        unsafe { mapped.address.write_bytes(0, mapped.len) };
        let handle = mapped.allocation.export(&mapped.device.sharing)?;
        Ok((mapped, handle))
    }

    fn map(device: Arc<HostDevice>, allocation: Allocation, bytes: u64) -> Result<Self> {
        let len = usize::try_from(bytes).map_err(|_| Error::refused(format!("{bytes} bytes cannot be addressed")))?;
        // SAFETY: all memory of a driver on the CPU is the host's; it is not mapped yet.
        let address = unsafe { allocation.map(&device.sharing) }?;
        Ok(Self { allocation, address, len, device })
    }

    /// Returns the address of the first byte, which is valid as long as this lives.
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true for zero bytes, which cannot occur.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
