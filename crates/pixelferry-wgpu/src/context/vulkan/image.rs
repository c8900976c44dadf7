//! Textures in memory of their own that others can open.

use super::{Api, Exported, Vulkan};
use crate::context::device_state::DeviceState;
use crate::context::format::{TEXTURE_USAGE, hal_texture_descriptor, texture_descriptor, texture_format};
use ash::vk;
use interop_core::{ImageDesc, Result, SurfaceDesc};
use pixelferry_vulkan::sharing::Allocation;
use std::sync::Arc;

/// Vulkan's flags for [`TEXTURE_USAGE`].
const USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::SAMPLED.as_raw()
        | vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::TRANSFER_SRC.as_raw()
        | vk::ImageUsageFlags::TRANSFER_DST.as_raw(),
);

impl Vulkan {
    /// An image of one level in the order that the GPU likes best, with an allocation for it alone. Its content is
    /// undefined.
    ///
    /// # Errors
    /// `Unsupported` where the driver exports no such image.
    pub(super) fn exported_image(&self, shared: &DeviceState, desc: &ImageDesc) -> Result<(wgpu::Texture, Exported)> {
        SurfaceDesc::Image(*desc).check(&shared.identity.to_string(), &shared.caps)?;
        let (image, made) = self.sharing.exported_image(desc, USAGE)?;
        let made = Arc::new(made);
        let texture = wrap(shared, image, &made, desc)?;
        Ok((texture, Exported(made)))
    }
}

/// The image as a texture of wgpu's, which keeps it, ready to be read: the first use of a texture whose content is not
/// known to wgpu would throw away what others wrote by then.
fn wrap(shared: &DeviceState, image: vk::Image, made: &Arc<Allocation>, desc: &ImageDesc) -> Result<wgpu::Texture> {
    use wgpu::wgt::{TextureTransition, TextureUses};
    let (width, height) = (desc.extent.width, desc.extent.height);
    let descriptor = texture_descriptor(width, height, texture_format(desc.format), TEXTURE_USAGE);
    let uses = TextureUses::RESOURCE | TextureUses::COLOR_TARGET | TextureUses::COPY_SRC | TextureUses::COPY_DST;
    let same = hal_texture_descriptor(&descriptor, uses);
    let kept = Arc::clone(made);
    let texture = shared.scoped(|| {
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
    let texture = texture.ok_or_else(|| shared.unsupported(Vulkan::ABSENT))?;
    let index = shared.submit(|encoder| {
        let state = TextureTransition { texture: &texture, selector: None, state: TextureUses::RESOURCE };
        encoder.transition_resources(std::iter::empty(), std::iter::once(state));
    })?;
    // Others write it next, who know nothing of our queue.
    shared.wait(Some(index))?;
    Ok(texture)
}
