//! Memory of a driver that runs on the CPU, for the host to read and write where it lies.

use crate::sharing::{Allocation, Instance, MEMORY_EXTENSION, OwnDevice, Sharing, failure};
use ash::vk;
use interop_core::{DeviceUuid, Error, MemoryHandle, Result};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Any use will do: nothing is submitted.
const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::TRANSFER_DST;

/// Mesa's memory is a file that begins with a page of the driver's own.
const MESAS_HEAD: u64 = 4096;

/// One logical device for all memory of one physical device.
struct HostDevice {
    sharing: Sharing,
    uuid: DeviceUuid,
    head: u64,
    // After what is made of it.
    _own: OwnDevice,
}

impl HostDevice {
    fn of(uuid: DeviceUuid) -> Result<Arc<Self>> {
        static OPEN: Mutex<Vec<Weak<HostDevice>>> = Mutex::new(Vec::new());
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
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
            let reason = "the host maps no memory of a GPU by an opaque handle; CUDA opens that of its own GPUs";
            return Err(Error::unsupported(&chosen.name, reason));
        }
        let name = format!("Vulkan {}", chosen.name);
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
        let names = [MEMORY_EXTENSION.as_ptr()];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        let (instance, physical) = (instance.raw(), chosen.physical);
        // SAFETY: the physical device is of this instance, which stays. Without the extension the driver refuses; what is made of
        // the device keeps it.
        let own = unsafe { OwnDevice::create(instance, physical, &info) }.map_err(failure("vkCreateDevice", &name))?;
        let head = if chosen.name.contains("llvmpipe") { MESAS_HEAD } else { 0 };
        let device = own.device().clone();
        // SAFETY: the three belong together, and what is made lives no longer than this.
        let sharing =
            unsafe { Sharing::new(instance.clone(), physical, device, |name| name == MEMORY_EXTENSION, false, name) };
        Ok(Self { sharing, uuid, head, _own: own })
    }

    /// Refuses what is no memory of so many bytes, as far as the system tells. Drivers believe what they are told.
    #[cfg(unix)]
    fn check(&self, memory: &MemoryHandle) -> Result<()> {
        let file = memory.handle().try_clone().and_then(|handle| std::fs::File::from(handle).metadata());
        let file = file.map_err(|error| Error::refused(format!("the descriptor cannot be asked about: {error}")))?;
        if !file.is_file() {
            return Err(Error::refused("the descriptor is of no memory of this driver, which has files of memory"));
        }
        let has = file.len().saturating_sub(self.head);
        if memory.bytes() > has {
            let problem = format!("{} bytes were promised, the memory behind the descriptor has {has}", memory.bytes());
            return Err(Error::refused(problem));
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn check(&self, _: &MemoryHandle) -> Result<()> {
        Err(self.sharing.unsupported("drivers on the CPU share memory on Unix only"))
    }
}

/// Memory of a device on the CPU at an address of the host. Any thread may use and drop it.
pub struct MappedMemory {
    // Before its device.
    allocation: Allocation,
    address: NonNull<u8>,
    len: usize,
    device: Arc<HostDevice>,
}

// SAFETY: the address is of the allocation, which is its own; who reads and writes there keeps the order.
unsafe impl Send for MappedMemory {}
// SAFETY: as above.
unsafe impl Sync for MappedMemory {}

impl MappedMemory {
    /// Opens memory that another device or API of the driver exported, all of it. The handle is the driver's then.
    ///
    /// # Errors
    /// `Unsupported` where the device is unknown, a GPU or shares no memory; `InvalidInput` where the handle is of no such memory, or
    /// of less; what the driver says.
    pub fn open(uuid: DeviceUuid, memory: MemoryHandle) -> Result<Self> {
        let device = HostDevice::of(uuid)?;
        device.check(&memory)?;
        let bytes = memory.bytes();
        // The buffer is there for the driver alone; what is mapped is the whole memory.
        let allocation = device.sharing.imported_buffer(memory, bytes.min(4), USAGE)?;
        Self::map(device, allocation, bytes)
    }

    /// Allocates so many bytes (more than 0) that others can open, zero at first, and a handle of them.
    ///
    /// # Errors
    /// `Unsupported` where the device is unknown, a GPU or exports no memory; what the driver says.
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
        let len = usize::try_from(bytes).map_err(|_| Error::refused(format!("{bytes} bytes have no addresses")))?;
        let all = vk::WHOLE_SIZE;
        // SAFETY: all memory of a driver on the CPU is the host's; it is not mapped yet, and is unmapped when it is freed.
        let address =
            unsafe { device.sharing.device().map_memory(allocation.memory(), 0, all, vk::MemoryMapFlags::empty()) };
        let address = address.map_err(device.sharing.failed("vkMapMemory"))?;
        let address = NonNull::new(address.cast::<u8>())
            .ok_or_else(|| device.sharing.failed("vkMapMemory")(vk::Result::ERROR_MEMORY_MAP_FAILED))?;
        Ok(Self { allocation, address, len, device })
    }

    /// The address of the first byte, valid as long as this.
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True for no bytes, of which there is no memory.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
