//! Exportable images with dedicated memory.

use crate::sharing::os::MEMORY_HANDLE;
use crate::sharing::{Allocation, Object, SharingDevice};
use ash::vk;
use interop_core::describe::format::PerFormat;
use interop_core::{Extent, ImageDesc, PixelFormat, Result};

impl SharingDevice {
    /// Creates an image of one level, with optimal tiling and a dedicated, exportable allocation. The content is
    /// undefined. It has the usages `needed` and all others that the format allows, because importers assume that an
    /// image was created with all usages.
    ///
    /// # Errors
    /// `Unsupported` where the driver cannot export such an image.
    pub fn exported_image(&self, desc: &ImageDesc, needed: vk::ImageUsageFlags) -> Result<(vk::Image, Allocation)> {
        self.memory_functions()?;
        let usage = self.exportable_usage(desc, vk_format(desc.format), needed)?;
        let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(MEMORY_HANDLE);
        let (image, mut made) = self.create_image(self.image_info(desc, usage).push_next(&mut external))?;
        made.allocate_exported(self)?;
        Ok((image, made))
    }

    /// Creates an image for this device alone, with only these usages. With [`vk::ImageUsageFlags::STORAGE`], its views
    /// may have another format of the same size, and only that format must support stores.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn local_image(&self, desc: &ImageDesc, usage: vk::ImageUsageFlags) -> Result<(vk::Image, Allocation)> {
        let viewed = match usage.contains(vk::ImageUsageFlags::STORAGE) {
            true => vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE,
            false => vk::ImageCreateFlags::empty(),
        };
        let (image, mut made) = self.create_image(self.image_info(desc, usage).flags(viewed))?;
        made.allocate_local(self)?;
        Ok((image, made))
    }

    fn image_info(&self, desc: &ImageDesc, usage: vk::ImageUsageFlags) -> vk::ImageCreateInfo<'_> {
        let (mode, families) = self.shared_by();
        vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk_format(desc.format))
            .extent(vk::Extent3D { width: desc.extent.width, height: desc.extent.height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage)
            .sharing_mode(mode)
            .queue_family_indices(families)
            .initial_layout(vk::ImageLayout::UNDEFINED)
    }

    /// Creates an image without memory. The driver lists the format for such usages.
    fn create_image(&self, info: vk::ImageCreateInfo<'_>) -> Result<(vk::Image, Allocation)> {
        // SAFETY: callers asked the driver whether it makes such images; the structures live through the call.
        let image = unsafe { self.device.create_image(&info, None) }.map_err(self.failed("vkCreateImage"))?;
        // SAFETY: the image is new, of this device, and has no memory.
        Ok((image, unsafe { Allocation::without_memory(self, Object::Image(image)) }))
    }

    /// Returns the features of a format with [`vk::ImageTiling::OPTIMAL`].
    pub fn format_features(&self, format: vk::Format) -> vk::FormatFeatureFlags {
        // SAFETY: the physical device is of this instance.
        unsafe { self.instance.get_physical_device_format_properties(self.physical, format) }.optimal_tiling_features
    }

    /// Returns the formats that have all these features with [`vk::ImageTiling::OPTIMAL`].
    pub fn image_formats(&self, features: vk::FormatFeatureFlags) -> Vec<PixelFormat> {
        let has = |format: &PixelFormat| self.format_features(vk_format(*format)).contains(features);
        PixelFormat::ALL.into_iter().filter(has).collect()
    }

    /// Returns the usages of an exportable image; an error if the driver cannot export it.
    fn exportable_usage(
        &self,
        desc: &ImageDesc,
        format: vk::Format,
        needed: vk::ImageUsageFlags,
    ) -> Result<vk::ImageUsageFlags> {
        let features = self.format_features(format);
        let mut usage = needed;
        for (feature, flag) in [
            (vk::FormatFeatureFlags::SAMPLED_IMAGE, vk::ImageUsageFlags::SAMPLED),
            (vk::FormatFeatureFlags::STORAGE_IMAGE, vk::ImageUsageFlags::STORAGE),
            (vk::FormatFeatureFlags::COLOR_ATTACHMENT, vk::ImageUsageFlags::COLOR_ATTACHMENT),
            (vk::FormatFeatureFlags::TRANSFER_SRC, vk::ImageUsageFlags::TRANSFER_SRC),
            (vk::FormatFeatureFlags::TRANSFER_DST, vk::ImageUsageFlags::TRANSFER_DST),
        ] {
            if features.contains(feature) {
                usage |= flag;
            }
        }
        let mut external = vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(MEMORY_HANDLE);
        let info = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(format)
            .ty(vk::ImageType::TYPE_2D)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage)
            .push_next(&mut external);
        let mut sharing = vk::ExternalImageFormatProperties::default();
        let mut limits = vk::ImageFormatProperties2::default().push_next(&mut sharing);
        // SAFETY: the physical device is of this instance and of Vulkan 1.1; the structures live through the call.
        let answer =
            unsafe { self.instance.get_physical_device_image_format_properties2(self.physical, &info, &mut limits) };
        let largest = limits.image_format_properties.max_extent;
        let exported = format!("{} images of {}", desc.extent, desc.format);
        match answer {
            Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) => {
                let reason = format!("the driver cannot share images of {} by handle", desc.format);
                return Err(self.unsupported(reason));
            }
            Err(code) => return Err(self.failed("vkGetPhysicalDeviceImageFormatProperties2")(code)),
            Ok(()) => {}
        }
        let features = sharing.external_memory_properties.external_memory_features;
        if !features.contains(vk::ExternalMemoryFeatureFlags::EXPORTABLE) {
            return Err(self.unsupported(format!("the driver cannot export {exported}")));
        }
        if desc.extent.width > largest.width || desc.extent.height > largest.height {
            let largest = Extent::new(largest.width, largest.height);
            return Err(self.unsupported(format!("{exported} are larger than the largest, {largest}")));
        }
        Ok(usage)
    }
}

/// Returns the format of an image's pixels in Vulkan.
pub const fn vk_format(format: PixelFormat) -> vk::Format {
    VK_FORMATS.get(format)
}

/// Returns the format of a frame with the same bytes, encoded or not; `None` if there is none.
pub fn pixel_format(format: vk::Format) -> Option<PixelFormat> {
    let stored = match format {
        vk::Format::R8_SRGB => vk::Format::R8_UNORM,
        vk::Format::R8G8_SRGB => vk::Format::R8G8_UNORM,
        vk::Format::R8G8B8A8_SRGB => vk::Format::R8G8B8A8_UNORM,
        vk::Format::B8G8R8A8_SRGB => vk::Format::B8G8R8A8_UNORM,
        other => other,
    };
    PixelFormat::ALL.into_iter().find(|pixels| vk_format(*pixels) == stored)
}

/// From Vulkan 1.3, section 34.1.
const VK_FORMATS: PerFormat<vk::Format> = PerFormat::new([
    (PixelFormat::R8, vk::Format::R8_UNORM),
    (PixelFormat::Rg8, vk::Format::R8G8_UNORM),
    (PixelFormat::R16, vk::Format::R16_UNORM),
    (PixelFormat::R16F, vk::Format::R16_SFLOAT),
    (PixelFormat::Rgba8, vk::Format::R8G8B8A8_UNORM),
    (PixelFormat::Bgra8, vk::Format::B8G8R8A8_UNORM),
    (PixelFormat::Rgb10A2, vk::Format::A2B10G10R10_UNORM_PACK32),
    (PixelFormat::Rg16F, vk::Format::R16G16_SFLOAT),
    (PixelFormat::R32F, vk::Format::R32_SFLOAT),
    (PixelFormat::Rgba16F, vk::Format::R16G16B16A16_SFLOAT),
    (PixelFormat::Rg32F, vk::Format::R32G32_SFLOAT),
    (PixelFormat::Rgba32F, vk::Format::R32G32B32A32_SFLOAT),
]);
