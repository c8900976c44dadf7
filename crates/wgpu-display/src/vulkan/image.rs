//! Textures in memory of their own that others can open: `VK_KHR_external_memory_fd`.

use super::allocation::{Allocation, Exported, Object};
use super::{Api, OPAQUE_MEMORY, Vulkan};
use crate::format::{TEXTURE_USAGE, texture_descriptor, texture_format};
use crate::shared::Shared;
use ash::vk;
use interop_core::{Error, ImageDesc, PixelFormat, Result, SurfaceDesc};
use std::sync::Arc;

const OP: &str = "create_staging";

impl Vulkan {
    /// An image of one level in the order that the GPU likes best, with an allocation for it alone. Its content is
    /// undefined.
    ///
    /// # Errors
    /// `Unsupported` where the driver exports no such image.
    pub(crate) fn exported_image(&self, shared: &Shared, desc: &ImageDesc) -> Result<(wgpu::Texture, Exported)> {
        if self.memory_fd.is_none() {
            return Err(self.unsupported(OP, "the device was made without VK_KHR_external_memory_fd"));
        }
        SurfaceDesc::Image(*desc).check(&self.identity.to_string(), &shared.caps, OP)?;
        let format = vk_format(desc.format)?;
        let usage = self.exportable_usage(desc, format)?;
        let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(OPAQUE_MEMORY);
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width: desc.extent.width, height: desc.extent.height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE)
            .initial_layout(vk::ImageLayout::UNDEFINED)
            .push_next(&mut external);
        // SAFETY: the driver was asked whether it makes such images; the structures live through the call.
        let image = unsafe { self.device.create_image(&info, None) }.map_err(self.failed("vkCreateImage"))?;
        let mut made = Allocation::without_memory(self, Object::Image(image), None);
        made.allocate_exported(self)?;
        let made = Arc::new(made);
        let texture = wrap(shared, image, &made, desc)?;
        Ok((texture, Exported(made)))
    }

    /// All that wgpu and compute devices may do with the image, as far as the format allows it: importers take an image
    /// to be made for everything. Refuses what the driver does not export.
    fn exportable_usage(&self, desc: &ImageDesc, format: vk::Format) -> Result<vk::ImageUsageFlags> {
        // SAFETY: the physical device is of this instance.
        let features = unsafe { self.instance.get_physical_device_format_properties(self.physical, format) };
        let can_store = features.optimal_tiling_features.contains(vk::FormatFeatureFlags::STORAGE_IMAGE);
        let mut usage = vk::ImageUsageFlags::SAMPLED
            | vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::TRANSFER_SRC
            | vk::ImageUsageFlags::TRANSFER_DST;
        if can_store {
            usage |= vk::ImageUsageFlags::STORAGE;
        }
        let mut external = vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(OPAQUE_MEMORY);
        let info = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(format)
            .ty(vk::ImageType::TYPE_2D)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage)
            .push_next(&mut external);
        let mut sharing = vk::ExternalImageFormatProperties::default();
        let mut limits = vk::ImageFormatProperties2::default().push_next(&mut sharing);
        // SAFETY: the physical device is of this instance; the structures live through the call.
        let answer =
            unsafe { self.instance.get_physical_device_image_format_properties2(self.physical, &info, &mut limits) };
        let largest = limits.image_format_properties.max_extent;
        let exported = format!("{} images of {}", desc.extent, desc.format);
        match answer {
            Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) => {
                return Err(self.unsupported(OP, format!("the driver shares no {exported} by descriptor")));
            }
            Err(code) => return Err(self.failed("vkGetPhysicalDeviceImageFormatProperties2")(code)),
            Ok(()) => {}
        }
        let features = sharing.external_memory_properties.external_memory_features;
        if !features.contains(vk::ExternalMemoryFeatureFlags::EXPORTABLE) {
            return Err(self.unsupported(OP, format!("the driver does not export {exported}")));
        }
        if desc.extent.width > largest.width || desc.extent.height > largest.height {
            return Err(self.unsupported(OP, format!("{exported} are larger than the largest to be exported")));
        }
        Ok(usage)
    }
}

/// The image as a texture of wgpu's, which keeps it, ready to be read: the first use of a texture whose content is not
/// known to wgpu would throw away what others wrote by then.
fn wrap(shared: &Shared, image: vk::Image, made: &Arc<Allocation>, desc: &ImageDesc) -> Result<wgpu::Texture> {
    use wgpu::wgt::{TextureTransition, TextureUses};
    let (width, height) = (desc.extent.width, desc.extent.height);
    let descriptor = texture_descriptor(width, height, texture_format(desc.format, OP)?, TEXTURE_USAGE);
    let same = wgpu::hal::TextureDescriptor {
        label: descriptor.label,
        size: descriptor.size,
        mip_level_count: descriptor.mip_level_count,
        sample_count: descriptor.sample_count,
        dimension: descriptor.dimension,
        format: descriptor.format,
        usage: TextureUses::RESOURCE | TextureUses::COLOR_TARGET | TextureUses::COPY_SRC | TextureUses::COPY_DST,
        memory_flags: wgpu::hal::MemoryFlags::empty(),
        view_formats: Vec::new(),
    };
    let kept = Arc::clone(made);
    let texture = shared.scoped(OP, || {
        // SAFETY: the image was made of this device as both descriptors say, with memory bound; it lives until wgpu lets
        // go of `kept`. Its layout is undefined.
        unsafe {
            let hal = shared.device.as_hal::<Api>()?.texture_from_raw(
                image,
                &same,
                Some(Box::new(move || drop(kept))),
                wgpu::hal::vulkan::TextureMemory::External,
            );
            Some(shared.device.create_texture_from_hal::<Api>(hal, &descriptor, TextureUses::UNINITIALIZED))
        }
    })?;
    let texture = texture.ok_or_else(|| shared.unsupported(OP, Vulkan::ABSENT))?;
    let index = shared.submit(OP, |encoder| {
        let state = TextureTransition { texture: &texture, selector: None, state: TextureUses::RESOURCE };
        encoder.transition_resources(std::iter::empty(), std::iter::once(state));
    })?;
    // Others write it next, who know nothing of our queue.
    shared.wait(OP, Some(index))?;
    Ok(texture)
}

fn vk_format(format: PixelFormat) -> Result<vk::Format> {
    Ok(match format {
        PixelFormat::R8 => vk::Format::R8_UNORM,
        PixelFormat::Rg8 => vk::Format::R8G8_UNORM,
        PixelFormat::Rgba8 => vk::Format::R8G8B8A8_UNORM,
        PixelFormat::Rgba16F => vk::Format::R16G16B16A16_SFLOAT,
        PixelFormat::R32F => vk::Format::R32_SFLOAT,
        PixelFormat::Rgba32F => vk::Format::R32G32B32A32_SFLOAT,
        other => return Err(Error::invalid(OP, format!("Vulkan has no image format for {other}"))),
    })
}
