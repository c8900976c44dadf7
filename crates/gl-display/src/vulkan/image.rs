//! Memory of one image, made to be opened by other APIs (`VK_KHR_external_memory_fd`).

use super::device::Device;
use super::{Vulkan, failed};
use ash::vk;
use interop_core::{DeviceIdentity, Error, ImageDesc, PixelFormat, Result};
use std::os::fd::{FromRawFd, OwnedFd};
use std::rc::Rc;

const OP: &str = "create_staging";
const FD: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;

/// What a format can do, and what an image is then used for. OpenGL may use a texture in every way that its format
/// allows, and a texture over an image must agree with it in that (`GL_EXT_external_objects`, issue 13).
const USES: [(vk::FormatFeatureFlags, vk::ImageUsageFlags); 5] = [
    (vk::FormatFeatureFlags::SAMPLED_IMAGE, vk::ImageUsageFlags::SAMPLED),
    (vk::FormatFeatureFlags::STORAGE_IMAGE, vk::ImageUsageFlags::STORAGE),
    (vk::FormatFeatureFlags::COLOR_ATTACHMENT, vk::ImageUsageFlags::COLOR_ATTACHMENT),
    (vk::FormatFeatureFlags::TRANSFER_SRC, vk::ImageUsageFlags::TRANSFER_SRC),
    (vk::FormatFeatureFlags::TRANSFER_DST, vk::ImageUsageFlags::TRANSFER_DST),
];

/// An image in an allocation of its own.
pub(crate) struct Image {
    image: vk::Image,
    /// Null until it is allocated.
    memory: vk::DeviceMemory,
    bytes: u64,
    device: Rc<Device>,
}

fn vulkan_format(format: PixelFormat) -> Result<vk::Format> {
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

impl Image {
    /// Makes an image on the device that is `gl`. The content is undefined.
    pub(crate) fn new(vulkan: &Vulkan, gl: &DeviceIdentity, desc: &ImageDesc) -> Result<Self> {
        let device = vulkan.device(gl, OP)?;
        let info = vk::ImageCreateInfo::default()
            // What views of the texture need (issue 17 of the same extension).
            .flags(vk::ImageCreateFlags::MUTABLE_FORMAT)
            .image_type(vk::ImageType::TYPE_2D)
            .format(vulkan_format(desc.format)?)
            .extent(vk::Extent3D { width: desc.extent.width, height: desc.extent.height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .sharing_mode(vk::SharingMode::EXCLUSIVE)
            .initial_layout(vk::ImageLayout::UNDEFINED);
        let info = info.usage(check(&device, desc, &info)?);
        let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(FD);
        // SAFETY: the device said that it makes such images; the structures live through the call.
        let image = unsafe { device.raw.create_image(&info.push_next(&mut external), None) };
        let image = image.map_err(failed("vkCreateImage", &device.name))?;
        let mut new = Self { image, memory: vk::DeviceMemory::null(), bytes: 0, device };
        new.allocate()?;
        Ok(new)
    }

    fn allocate(&mut self) -> Result<()> {
        let Device { raw, physical, name, .. } = self.device.as_ref();
        // SAFETY: both are alive.
        let (needs, types) = unsafe {
            let needs = raw.get_image_memory_requirements(self.image);
            (needs, self.device.instance().get_physical_device_memory_properties(*physical))
        };
        let allowed = |index: usize| needs.memory_type_bits & (1 << index) != 0;
        let (local, all) = (vk::MemoryPropertyFlags::DEVICE_LOCAL, types.memory_types_as_slice());
        let found = (0..all.len()).find(|i| allowed(*i) && all[*i].property_flags.contains(local));
        let found = found.or_else(|| (0..all.len()).find(|i| allowed(*i)));
        let Some(index) = found.and_then(|i| u32::try_from(i).ok()) else {
            return Err(self.device.unsupported(OP, "it has no memory for such images".into()));
        };
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(FD);
        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().image(self.image);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index)
            .push_next(&mut export)
            .push_next(&mut dedicated);
        // SAFETY: the image is of this device, alive and without memory; the structures live through the call.
        unsafe {
            self.memory = raw.allocate_memory(&info, None).map_err(failed("vkAllocateMemory", name))?;
            raw.bind_image_memory(self.image, self.memory, 0).map_err(failed("vkBindImageMemory", name))?;
        }
        self.bytes = needs.size;
        Ok(())
    }

    /// Bytes of the allocation, which importers must be told. The allocation is dedicated.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A new descriptor of the memory.
    pub(crate) fn export(&self) -> Result<OwnedFd> {
        let info = vk::MemoryGetFdInfoKHR::default().memory(self.memory).handle_type(FD);
        // SAFETY: the memory was allocated to be exported so; the descriptor is new and ours.
        unsafe {
            let fd = self.device.memory_fd.get_memory_fd(&info);
            Ok(OwnedFd::from_raw_fd(fd.map_err(failed("vkGetMemoryFdKHR", &self.device.name))?))
        }
    }
}

/// Whether the device makes and shares such an image; all that it can be used for.
fn check(device: &Device, desc: &ImageDesc, info: &vk::ImageCreateInfo<'_>) -> Result<vk::ImageUsageFlags> {
    let (instance, physical) = (device.instance(), device.physical);
    // SAFETY: the physical device is of this instance.
    let can = unsafe { instance.get_physical_device_format_properties(physical, info.format) }.optimal_tiling_features;
    let usage = USES.iter().filter(|(feature, _)| can.contains(*feature)).map(|(_, usage)| *usage);
    let usage = usage.fold(vk::ImageUsageFlags::empty(), |all, one| all | one);
    let unsupported = |why: &str| Err(device.unsupported(OP, format!("it shares no {} images{why}", desc.format)));
    if !usage.contains(vk::ImageUsageFlags::SAMPLED) {
        return unsupported(": they cannot be sampled");
    }
    let mut handle = vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(FD);
    let question = vk::PhysicalDeviceImageFormatInfo2::default()
        .format(info.format)
        .ty(info.image_type)
        .tiling(info.tiling)
        .usage(usage)
        .flags(info.flags)
        .push_next(&mut handle);
    let mut shared = vk::ExternalImageFormatProperties::default();
    let mut answer = vk::ImageFormatProperties2::default().push_next(&mut shared);
    // SAFETY: as above; Vulkan 1.1 has the structures, which live through the call.
    let asked = unsafe { instance.get_physical_device_image_format_properties2(physical, &question, &mut answer) };
    match asked {
        Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) => return unsupported(" by file descriptor"),
        other => other.map_err(failed("vkGetPhysicalDeviceImageFormatProperties2", &device.name))?,
    }
    let largest = answer.image_format_properties.max_extent;
    let exportable = vk::ExternalMemoryFeatureFlags::EXPORTABLE;
    if !shared.external_memory_properties.external_memory_features.contains(exportable) {
        return unsupported(" by file descriptor");
    }
    if desc.extent.width > largest.width || desc.extent.height > largest.height {
        return unsupported(&format!(" larger than {}x{}", largest.width, largest.height));
    }
    Ok(usage)
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: each was made once, of this device, which lives, and no Vulkan command uses them. Null memory is
        // ignored.
        unsafe {
            self.device.raw.destroy_image(self.image, None);
            self.device.raw.free_memory(self.memory, None);
        }
    }
}
