//! Capabilities of a wgpu device: the memory and the semaphores that it can export and import.

use crate::context::format::image_formats;
use crate::context::store_formats::StoreFormats;
use interop_core::{DisplayCaps, HandleType, MemoryCap, MemoryShape, QueueId, RowOrder, SemaphoreCap, Support};

/// Capabilities that Vulkan or OpenGL adds to wgpu.
pub(crate) struct SharingCaps {
    pub imports: Vec<MemoryCap>,
    pub exports: Vec<MemoryCap>,
    pub semaphores: Vec<SemaphoreCap>,
    pub persistent: Support,
}

impl SharingCaps {
    /// No capabilities, for this reason.
    pub(crate) fn none(reason: &str) -> Self {
        let persistent = Support::No(format!("wgpu cannot keep a buffer mapped while the device reads it: {reason}"));
        Self { imports: Vec::new(), exports: Vec::new(), semaphores: Vec::new(), persistent }
    }
}

/// Bytes of the largest pixel: the limit of a binding is counted in pixels of every format.
const LARGEST_PIXEL: u64 = 16;

pub(crate) fn caps(
    adapter: &wgpu::Adapter,
    device: &wgpu::Device,
    queue: QueueId,
    stores: &StoreFormats,
    sharing: SharingCaps,
) -> DisplayCaps {
    let queue = HandleType::QueueBuffer(queue);
    let (limits, downlevel) = (device.limits(), adapter.get_downlevel_capabilities().flags);
    let fragments_read =
        downlevel.contains(wgpu::DownlevelFlags::FRAGMENT_STORAGE) && limits.max_storage_buffers_per_shader_stage > 0;
    let lent = MemoryCap::new(queue, MemoryShape::Linear, Support::Yes);
    let textures = MemoryCap::new(queue, MemoryShape::Image, stores.any());
    // wgpu copies only whole words.
    DisplayCaps::new(
        limits.max_texture_dimension_2d,
        limits.max_buffer_size / crate::context::format::WORD * crate::context::format::WORD,
        RowOrder::TopDown,
    )
    .with_buffer_limit("max_buffer_size of the device's limits; request more in required_limits")
    .with_imports(sharing.imports.into_iter().chain([lent.clone()]).collect())
    .with_exports(sharing.exports.into_iter().chain([lent, textures]).collect())
    .with_semaphores(sharing.semaphores)
    .with_orphaned_staging(Support::Yes)
    .with_persistent_staging(sharing.persistent)
    .with_image_formats(image_formats(adapter, device))
    .with_in_place_images(Support::when(fragments_read, "fragment shaders read no storage buffers on this device"))
    .with_in_place_buffers(Support::Yes)
    .with_max_in_place_pixels(limits.max_storage_buffer_binding_size / LARGEST_PIXEL)
    .with_row_pitch_alignment(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize)
}
