//! The image formats to which kernels store.

use crate::sharing::{SharingDevice, vk_format};
use ash::vk;
use interop_core::PixelFormat;
use interop_core::describe::format::PerFormat;

/// Usage of surfaces: sampled, and copied by the display. Every supported format allows it.
pub(crate) const IMAGE_USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::SAMPLED.as_raw()
        | vk::ImageUsageFlags::TRANSFER_SRC.as_raw()
        | vk::ImageUsageFlags::TRANSFER_DST.as_raw(),
);

/// The formats of images that kernels store to, and the format of the view for each: images that begin with blue are
/// stored to as if they began with red.
pub(crate) struct Stores(PerFormat<Option<vk::Format>>);

/// Formats that shaders can name without an optional feature of the device.
const EVERYWHERE: [PixelFormat; 5] =
    [PixelFormat::Rgba8, PixelFormat::Bgra8, PixelFormat::Rgba16F, PixelFormat::R32F, PixelFormat::Rgba32F];

impl Stores {
    /// Queries the driver. `computes`: the display's queue computes; `extended`: the device was created with
    /// `shaderStorageImageExtendedFormats`.
    pub(crate) fn of(sharing: &SharingDevice, computes: bool, extended: bool) -> Self {
        Self(PerFormat::new(PixelFormat::ALL.map(|format| {
            let stored = if format == PixelFormat::Bgra8 { PixelFormat::Rgba8 } else { format };
            let named = computes && (extended || EVERYWHERE.contains(&format));
            let view = vk_format(stored);
            let stores = named && sharing.format_features(view).contains(vk::FormatFeatureFlags::STORAGE_IMAGE);
            (format, stores.then_some(view))
        })))
    }

    /// Returns the format of a view that stores to such images.
    pub(crate) fn view(&self, format: PixelFormat) -> Option<vk::Format> {
        self.0.get(format)
    }

    /// Returns the usage of a surface's image.
    pub(crate) fn usage(&self, format: PixelFormat) -> vk::ImageUsageFlags {
        self.view(format).map_or(IMAGE_USAGE, |_| IMAGE_USAGE | vk::ImageUsageFlags::STORAGE)
    }

    /// Returns the formats to which kernels cannot store.
    pub(crate) fn refused(&self) -> Vec<PixelFormat> {
        PixelFormat::ALL.into_iter().filter(|format| self.view(*format).is_none()).collect()
    }
}
