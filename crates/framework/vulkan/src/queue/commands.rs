//! The commands that the display records.

use ash::vk;
use interop_core::Region;

/// Layout of images between frames, and while the engine reads.
pub(crate) const READ: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
/// Layout while a copy writes to the image.
pub(crate) const WRITTEN: vk::ImageLayout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
/// Layout while a copy reads the image.
pub(crate) const COPIED: vk::ImageLayout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;

const LAYERS: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    mip_level: 0,
    base_array_layer: 0,
    layer_count: 1,
};

pub(crate) const RANGE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

/// An image as an operand of copies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CopyImage {
    pub image: vk::Image,
    /// Format of the image, which may encode.
    pub format: vk::Format,
    /// Layout before and after each copy.
    pub layout: vk::ImageLayout,
}

/// Layout of an image's pixels in a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    pub buffer: vk::Buffer,
    pub offset: u64,
    /// Row pitch in pixels; 0 for tight rows.
    pub row_length: u32,
}

impl Rows {
    pub(crate) fn copy(&self, region: Region) -> vk::BufferImageCopy {
        vk::BufferImageCopy {
            buffer_offset: self.offset,
            buffer_row_length: self.row_length,
            buffer_image_height: 0,
            image_subresource: LAYERS,
            image_offset: vk::Offset3D { x: region.x as i32, y: region.y as i32, z: 0 },
            image_extent: vk::Extent3D { width: region.width, height: region.height, depth: 1 },
        }
    }
}

/// Returns the barrier that changes an image's layout between all accesses.
pub(crate) fn transition(
    image: vk::Image,
    (from, to): (vk::ImageLayout, vk::ImageLayout),
) -> vk::ImageMemoryBarrier<'static> {
    let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    vk::ImageMemoryBarrier::default()
        .image(image)
        .old_layout(from)
        .new_layout(to)
        .src_access_mask(access)
        .dst_access_mask(access)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .subresource_range(RANGE)
}

/// Changes an image's layout after all earlier work.
///
/// # Safety
/// `commands` is being recorded. The image belongs to this device, lives until the commands have completed, and has the
/// first layout then.
pub(crate) unsafe fn change(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    image: vk::Image,
    (from, to): (vk::ImageLayout, vk::ImageLayout),
) {
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let barrier = transition(image, (from, to));
    // SAFETY: the caller's promise.
    unsafe {
        device.cmd_pipeline_barrier(commands, all, all, vk::DependencyFlags::empty(), &[], &[], &[barrier]);
    }
}

/// Clears a new image to zero, and makes it ready for reading.
///
/// # Safety
/// The promises of [`change`]; the image is new and may be copied to.
pub(crate) unsafe fn clear(device: &ash::Device, commands: vk::CommandBuffer, image: vk::Image) {
    let zero = vk::ClearColorValue::default();
    // SAFETY: the caller's promise.
    unsafe {
        change(device, commands, image, (vk::ImageLayout::UNDEFINED, WRITTEN));
        device.cmd_clear_color_image(commands, image, WRITTEN, &zero, &[RANGE]);
        change(device, commands, image, (WRITTEN, READ));
    }
}

/// Records commands before and after which the image has its own layout, and `meanwhile` for them.
///
/// # Safety
/// The promises of [`change`].
pub(crate) unsafe fn with_layout(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    CopyImage { image, layout, .. }: CopyImage,
    meanwhile: vk::ImageLayout,
    record: impl FnOnce(),
) {
    // SAFETY: the caller's promise.
    unsafe { change(device, commands, image, (layout, meanwhile)) };
    record();
    // SAFETY: as above.
    unsafe { change(device, commands, image, (meanwhile, layout)) };
}

/// Copies a region of an image to another image of the same format, which has the layout for it.
///
/// # Safety
/// The promises of [`change`]; the regions have one size and lie in the images, which differ.
pub(crate) unsafe fn copy(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    (from, part): (CopyImage, Region),
    (to, region): (vk::Image, Region),
) {
    let at = |region: Region| vk::Offset3D { x: region.x as i32, y: region.y as i32, z: 0 };
    let copy = vk::ImageCopy {
        src_subresource: LAYERS,
        src_offset: at(part),
        dst_subresource: LAYERS,
        dst_offset: at(region),
        extent: vk::Extent3D { width: part.width, height: part.height, depth: 1 },
    };
    // SAFETY: the caller's promise.
    unsafe {
        with_layout(device, commands, from, COPIED, || {
            device.cmd_copy_image(commands, from.image, COPIED, to, WRITTEN, &[copy]);
        });
    }
}

/// Copies a region of an image, scaled to a region of another, which has the layout for it.
///
/// # Safety
/// The promises of [`change`]; the regions lie in the images, and the device can blit these formats with this filter.
pub(crate) unsafe fn blit(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    (from, part): (CopyImage, Region),
    (to, region): (vk::Image, Region),
    filter: vk::Filter,
) {
    let corner = |x: u32, y: u32, z| vk::Offset3D { x: x as i32, y: y as i32, z };
    let blit = vk::ImageBlit {
        src_subresource: LAYERS,
        src_offsets: [corner(part.x, part.y, 0), corner(part.x + part.width, part.y + part.height, 1)],
        dst_subresource: LAYERS,
        dst_offsets: [corner(region.x, region.y, 0), corner(region.x + region.width, region.y + region.height, 1)],
    };
    // SAFETY: the caller's promise.
    unsafe {
        with_layout(device, commands, from, COPIED, || {
            device.cmd_blit_image(commands, from.image, COPIED, to, WRITTEN, &[blit], filter);
        });
    }
}
