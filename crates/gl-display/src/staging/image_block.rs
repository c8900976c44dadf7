//! A texture in memory that is shared with a compute device.

use crate::context_state::ContextState;
use crate::image_source::ImageSource;
use crate::memory_object::MemoryObject;
use crate::owned::Owned;
use interop_core::{ImageDesc, Result, SurfaceDesc};
use std::rc::Rc;

/// Shared by the staging block and by the surfaces that show it.
pub(crate) struct ImageBlock {
    texture: Owned<glow::Texture>,
    /// What the texture lies in; goes after it.
    _memory: Owned<MemoryObject>,
    /// The memory that this crate made for others to open, where it did; goes last.
    exported: Option<crate::vulkan::VulkanMemory>,
    shared: Rc<ContextState>,
    image: ImageDesc,
    /// Bytes of tight rows.
    len: usize,
}

impl ImageBlock {
    pub(crate) fn new(
        shared: &Rc<ContextState>,
        texture: Owned<glow::Texture>,
        memory: Owned<MemoryObject>,
        image: ImageDesc,
        exported: Option<crate::vulkan::VulkanMemory>,
    ) -> Result<Rc<Self>> {
        let len = SurfaceDesc::Image(image).byte_len("create_staging")?;
        Ok(Rc::new(Self { texture, _memory: memory, exported, shared: Rc::clone(shared), image, len }))
    }

    pub(crate) fn shared(&self) -> &Rc<ContextState> {
        &self.shared
    }

    pub(crate) fn image(&self) -> &ImageDesc {
        &self.image
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The image that others can open.
    pub(crate) fn exported(&self) -> Option<&crate::vulkan::VulkanMemory> {
        self.exported.as_ref()
    }

    pub(crate) fn source(&self) -> ImageSource {
        ImageSource::texture(self.texture.get())
    }
}
