//! Exportable textures with dedicated memory.

use super::{Api, ExportedMemory, Vulkan};
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
    /// Creates an image of one level, with optimal tiling and a dedicated, exportable allocation. Its content is
    /// undefined.
    ///
    /// # Errors
    /// `Unsupported` where the driver cannot export such an image.
    pub(super) fn exported_image(
        &self,
        shared: &DeviceState,
        desc: &ImageDesc,
    ) -> Result<(wgpu::Texture, ExportedMemory)> {
        SurfaceDesc::Image(*desc).check(&shared.identity.to_string(), &shared.caps)?;
        let (image, made) = self.sharing.exported_image(desc, USAGE)?;
        let made = Arc::new(made);
        let texture = wrap(shared, image, &made, desc)?;
        Ok((texture, ExportedMemory(made)))
    }
}

/// Wraps the image as a wgpu texture, which keeps it, and makes it ready for reading: at its first use of a texture
/// with unknown content, wgpu would discard what others wrote by then.
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
    // Other devices write it next, and do not wait for this queue.
    shared.wait(Some(index))?;
    Ok(texture)
}
