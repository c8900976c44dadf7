//! What a wgpu device can hand over and take, as data.

use crate::format::image_formats;
use interop_core::{DisplayCaps, HandleType, MemoryCap, MemoryShape, QueueId, RowOrder, SemaphoreCap, Support};

/// What Vulkan or OpenGL adds.
pub(crate) struct Sharing {
    pub imports: Vec<MemoryCap>,
    pub exports: Vec<MemoryCap>,
    pub semaphores: Vec<SemaphoreCap>,
    pub persistent: Support,
}

impl Sharing {
    /// Nothing, because of this.
    pub(crate) fn none(reason: &str) -> Self {
        let persistent = Support::No(format!("wgpu keeps no buffer mapped that the device reads: {reason}"));
        Self { imports: Vec::new(), exports: Vec::new(), semaphores: Vec::new(), persistent }
    }
}

/// Bytes of the largest pixel: what a binding holds is counted in pixels of every format.
const LARGEST_PIXEL: u64 = 16;

pub(crate) fn caps(adapter: &wgpu::Adapter, device: &wgpu::Device, queue: QueueId, sharing: Sharing) -> DisplayCaps {
    let (limits, downlevel) = (device.limits(), adapter.get_downlevel_capabilities().flags);
    let fragments_read =
        downlevel.contains(wgpu::DownlevelFlags::FRAGMENT_STORAGE) && limits.max_storage_buffers_per_shader_stage > 0;
    let lent = MemoryCap::new(HandleType::QueueBuffer(queue), MemoryShape::Linear, Support::Yes);
    DisplayCaps {
        imports: sharing.imports.into_iter().chain([lent]).collect(),
        exports: sharing.exports,
        semaphores: sharing.semaphores,
        orphaned_staging: Support::Yes,
        persistent_staging: sharing.persistent,
        image_formats: image_formats(adapter, device),
        in_place_images: Support::when(fragments_read, "fragment shaders read no storage buffers on this device"),
        in_place_buffers: Support::Yes,
        max_image_side: limits.max_texture_dimension_2d,
        max_in_place_pixels: limits.max_storage_buffer_binding_size / LARGEST_PIXEL,
        // Whole words only.
        max_buffer_bytes: limits.max_buffer_size / crate::format::WORD * crate::format::WORD,
        row_pitch_alignment: wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize,
        native_row_order: RowOrder::TopDown,
    }
}
