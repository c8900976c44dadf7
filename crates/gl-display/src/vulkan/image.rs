//! Images in memory of their own that others can open: `VK_KHR_external_memory_fd`.

use super::VulkanDevice;
use ash::vk;
use interop_core::{Error, Extent, ImageDesc, PixelFormat, Result};
use std::os::fd::{FromRawFd, OwnedFd};
use std::rc::Rc;

const OP: &str = "create_staging";
const OPAQUE: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;

/// An image of one level in the order that the GPU likes best, with an allocation for it alone. Those who opened a
/// descriptor of it keep the memory after this is dropped.
pub(crate) struct VulkanImage {
    device: Rc<VulkanDevice>,
    image: vk::Image,
    memory: vk::DeviceMemory,
    bytes: u64,
}

impl VulkanImage {
    /// Makes the image. The content is undefined.
    ///
    /// # Errors
    /// `Unsupported` where the driver exports no such image.
    pub(crate) fn new(device: &Rc<VulkanDevice>, desc: &ImageDesc) -> Result<Self> {
        let format = vk_format(desc.format)?;
        let usage = exportable_usage(device, desc, format)?;
        let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(OPAQUE);
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
        let image = unsafe { device.device.create_image(&info, None) }.map_err(device.failed("vkCreateImage"))?;
        // From here on dropped as a whole; freeing memory that is null does nothing.
        let mut made = Self { device: Rc::clone(device), image, memory: vk::DeviceMemory::null(), bytes: 0 };
        made.allocate()?;
        Ok(made)
    }

    fn allocate(&mut self) -> Result<()> {
        let device = &self.device;
        // SAFETY: the image is of this device.
        let needs = unsafe { device.device.get_image_memory_requirements(self.image) };
        // SAFETY: the physical device is of this instance.
        let types = unsafe { device.instance().get_physical_device_memory_properties(device.physical) };
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let index = (0u32..).zip(types.memory_types_as_slice()).find_map(|(index, kind)| {
            (needs.memory_type_bits & (1 << index) != 0 && kind.property_flags.contains(local)).then_some(index)
        });
        let index = index.ok_or_else(|| device.unsupported(OP, "no memory of the GPU's own holds the image".into()))?;
        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().image(self.image);
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(OPAQUE);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index)
            .push_next(&mut dedicated)
            .push_next(&mut export);
        // SAFETY: the structures live through the call; size and type are those that the image asked for.
        self.memory =
            unsafe { device.device.allocate_memory(&info, None) }.map_err(device.failed("vkAllocateMemory"))?;
        self.bytes = needs.size;
        // SAFETY: both are of this device, the image has no memory yet and the allocation is large enough.
        unsafe { device.device.bind_image_memory(self.image, self.memory, 0) }
            .map_err(device.failed("vkBindImageMemory"))
    }

    /// A new descriptor of the memory.
    pub(crate) fn fd(&self) -> Result<OwnedFd> {
        let info = vk::MemoryGetFdInfoKHR::default().memory(self.memory).handle_type(OPAQUE);
        // SAFETY: the memory is of this device and was allocated to be exported.
        let fd = unsafe { self.device.memory_fd.get_memory_fd(&info) };
        let fd = fd.map_err(self.device.failed("vkGetMemoryFdKHR"))?;
        // SAFETY: the descriptor is new and ours.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// Bytes of the whole allocation.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for VulkanImage {
    fn drop(&mut self) {
        // SAFETY: both were made once of this device, which is alive, and Vulkan was told to do nothing with them.
        unsafe {
            self.device.device.destroy_image(self.image, None);
            self.device.device.free_memory(self.memory, None);
        }
    }
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

/// All that GL and compute devices may do with the image, as far as the format allows it: importers take an image to be
/// made for everything. Refuses what the driver does not export.
fn exportable_usage(device: &VulkanDevice, desc: &ImageDesc, format: vk::Format) -> Result<vk::ImageUsageFlags> {
    // SAFETY: the physical device is of this instance.
    let features = unsafe { device.instance().get_physical_device_format_properties(device.physical, format) };
    let mut usage = vk::ImageUsageFlags::empty();
    for (feature, flag) in [
        (vk::FormatFeatureFlags::SAMPLED_IMAGE, vk::ImageUsageFlags::SAMPLED),
        (vk::FormatFeatureFlags::STORAGE_IMAGE, vk::ImageUsageFlags::STORAGE),
        (vk::FormatFeatureFlags::COLOR_ATTACHMENT, vk::ImageUsageFlags::COLOR_ATTACHMENT),
        (vk::FormatFeatureFlags::TRANSFER_SRC, vk::ImageUsageFlags::TRANSFER_SRC),
        (vk::FormatFeatureFlags::TRANSFER_DST, vk::ImageUsageFlags::TRANSFER_DST),
    ] {
        if features.optimal_tiling_features.contains(feature) {
            usage |= flag;
        }
    }
    if !usage.contains(vk::ImageUsageFlags::SAMPLED) {
        return Err(device.unsupported(OP, format!("it samples no images of {}", desc.format)));
    }
    let mut external = vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(OPAQUE);
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
        unsafe { device.instance().get_physical_device_image_format_properties2(device.physical, &info, &mut limits) };
    let largest = limits.image_format_properties.max_extent;
    let exported = format!("{} images of {}", desc.extent, desc.format);
    match answer {
        Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) => {
            let reason = format!("the driver shares no images of {} by descriptor", desc.format);
            return Err(device.unsupported(OP, reason));
        }
        Err(code) => return Err(device.failed("vkGetPhysicalDeviceImageFormatProperties2")(code)),
        Ok(()) => {}
    }
    let features = sharing.external_memory_properties.external_memory_features;
    if !features.contains(vk::ExternalMemoryFeatureFlags::EXPORTABLE) {
        return Err(device.unsupported(OP, format!("the driver does not export {exported}")));
    }
    if desc.extent.width > largest.width || desc.extent.height > largest.height {
        let largest = Extent::new(largest.width, largest.height);
        return Err(device.unsupported(OP, format!("{exported} are larger than the largest, {largest}")));
    }
    Ok(usage)
}
