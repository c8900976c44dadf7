//! Views of images that pipelines bind.

use crate::context::device_state::DeviceState;
use crate::queue::commands::{CopyImage, RANGE};
use crate::staging::queue_image::QueueImage;
use ash::vk;
use interop_core::Result;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A view of an image, destroyed when dropped.
pub(crate) struct ImageView {
    device: ash::Device,
    pub raw: vk::ImageView,
    /// No other view of this process ever has this number, whereas a driver may reuse handles.
    pub number: u64,
}

impl Drop for ImageView {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: it was made of this device, which is alive, and no work is left that uses it.
        unsafe { self.device.destroy_image_view(self.raw, None) };
    }
}

impl ImageView {
    /// Creates a view for stores.
    pub(crate) fn storing(shared: &DeviceState, image: &QueueImage) -> Result<Self> {
        Self::new(shared, image.place()?.image, image.view, vk::ImageUsageFlags::STORAGE)
    }

    /// Creates a view for sampling in the image's own format. The image must allow sampling.
    pub(crate) fn sampled(shared: &DeviceState, place: CopyImage) -> Result<Self> {
        Self::new(shared, place.image, place.format, vk::ImageUsageFlags::SAMPLED)
    }

    fn new(shared: &DeviceState, image: vk::Image, format: vk::Format, usage: vk::ImageUsageFlags) -> Result<Self> {
        let device = shared.sharing.device();
        let mut usage = vk::ImageViewUsageCreateInfo::default().usage(usage);
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(RANGE)
            .push_next(&mut usage);
        // SAFETY: the image is of this device and is used so by views of that format; the structures live through the call.
        let raw = unsafe { device.create_image_view(&info, None) };
        let raw = raw.map_err(shared.sharing.failed("vkCreateImageView"))?;
        Ok(Self { device: device.clone(), raw, number: NEXT.fetch_add(1, Ordering::Relaxed) })
    }
}
