//! Capabilities of a device: the memory and the semaphores that it exports and imports.

use crate::sharing::SharingDevice;
use crate::sharing::device::enabled;
use crate::sharing::memory_host::HOST_EXTENSION;
use ash::vk;
use interop_core::{HandleType, MemoryCap, MemoryShape, SemaphoreCap, Support, SyncKind};

const KINDS: [SyncKind; 2] = [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore];

impl SharingDevice {
    /// Returns the kinds of memory that the device can import, with the reasons against the others.
    pub fn imports(&self) -> Vec<MemoryCap> {
        let alignment = self.memory_host.as_ref().map_or(1, |host| host.alignment);
        let host = enabled(self.memory_host.is_some(), HOST_EXTENSION);
        let image = "the image layout of another API is unknown; the display exports images instead";
        vec![
            MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, host).aligned(alignment, alignment),
            MemoryCap::new(HandleType::OPAQUE, MemoryShape::Linear, self.shares_memory()),
            MemoryCap::new(HandleType::OPAQUE, MemoryShape::Image, Support::No(image.into())),
        ]
    }

    /// Returns the kinds of memory that the device can export.
    pub fn exports(&self) -> Vec<MemoryCap> {
        vec![
            // The pointers of `vkMapMemory` have at least this alignment (`minMemoryMapAlignment`, required limits).
            MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, Support::Yes).aligned(64, 1),
            MemoryCap::new(HandleType::OPAQUE, MemoryShape::Linear, self.shares_memory()),
            MemoryCap::new(HandleType::OPAQUE, MemoryShape::Image, self.shares_memory()),
        ]
    }

    /// Returns the kinds of semaphores that the device can export.
    pub fn semaphores(&self) -> Vec<SemaphoreCap> {
        KINDS.map(|kind| SemaphoreCap::new(kind, self.exports_semaphores(kind))).into()
    }

    /// Returns the memory and semaphores that kernels in its queue can import, by handles of the operating system.
    pub fn opened_by_kernels(&self) -> (Vec<MemoryCap>, Vec<SemaphoreCap>) {
        let opens = self.shares_memory().and(|| {
            let features = self.buffer_features(vk::BufferUsageFlags::STORAGE_BUFFER);
            let can = features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE);
            Support::when(can, "the driver cannot import buffers by handle")
        });
        let memory = MemoryCap::opened_by_kernels(opens);
        (memory, KINDS.map(|kind| SemaphoreCap::new(kind, self.imports_semaphores(kind))).into())
    }
}
