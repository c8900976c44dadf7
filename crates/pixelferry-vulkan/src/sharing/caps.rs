//! Capabilities of a device: the memory and the semaphores that it exports and imports.

use crate::sharing::Sharing;
use crate::sharing::device::enabled;
use crate::sharing::memory_host::HOST_EXTENSION;
use ash::vk;
use interop_core::{HandleType, MemoryCap, MemoryShape, SemaphoreCap, Support, SyncKind};

const KINDS: [SyncKind; 2] = [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore];

impl Sharing {
    /// Memory of others that it can read.
    pub fn imports(&self) -> Vec<MemoryCap> {
        let alignment = self.memory_host.as_ref().map_or(1, |host| host.alignment);
        let host = enabled(self.memory_host.is_some(), HOST_EXTENSION);
        let image = "how another API lays an image out is not known; it makes images that others open";
        vec![
            MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, host).aligned(alignment, alignment),
            MemoryCap::new(HandleType::OPAQUE, MemoryShape::Linear, self.shares_memory()),
            MemoryCap::new(HandleType::OPAQUE, MemoryShape::Image, Support::No(image.into())),
        ]
    }

    /// Memory of its own that others can open.
    pub fn exports(&self) -> Vec<MemoryCap> {
        vec![
            // The pointers of `vkMapMemory` are aligned at least so (`minMemoryMapAlignment`, required limits).
            MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, Support::Yes).aligned(64, 1),
            MemoryCap::new(HandleType::OPAQUE, MemoryShape::Linear, self.shares_memory()),
            MemoryCap::new(HandleType::OPAQUE, MemoryShape::Image, self.shares_memory()),
        ]
    }

    /// Semaphores that it makes for others.
    pub fn semaphores(&self) -> Vec<SemaphoreCap> {
        KINDS.map(|kind| SemaphoreCap::new(kind, self.exports_semaphores(kind))).into()
    }

    /// Memory and semaphores of others that kernels in its queue use, by handles of the operating system.
    pub fn opened_by_kernels(&self) -> (Vec<MemoryCap>, Vec<SemaphoreCap>) {
        let opens = self.shares_memory().and(|| {
            let features = self.buffer_features(vk::BufferUsageFlags::STORAGE_BUFFER);
            let can = features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE);
            Support::when(can, "the driver opens no buffers by handle")
        });
        let memory = MemoryCap::opened_by_kernels(opens);
        (memory, KINDS.map(|kind| SemaphoreCap::new(kind, self.imports_semaphores(kind))).into())
    }
}
