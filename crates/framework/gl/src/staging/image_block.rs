//! A texture in memory that is shared with a compute device.

use crate::api::memory_object::MemoryObject;
use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use crate::draw::image_source::ImageSource;
use std::rc::Rc;

/// A texture shared by the staging block and by the surfaces that show it.
pub(crate) struct ImageBlock {
    texture: OwnedObject<glow::Texture>,
    /// Memory of the texture; dropped after it.
    _memory: OwnedObject<MemoryObject>,
    /// Memory that this crate allocated for sharing, if it did; dropped last.
    exported: Option<crate::api::vulkan::VulkanMemory>,
    shared: Rc<ContextState>,
}

impl ImageBlock {
    pub(crate) fn new(
        shared: &Rc<ContextState>,
        texture: OwnedObject<glow::Texture>,
        memory: OwnedObject<MemoryObject>,
        exported: Option<crate::api::vulkan::VulkanMemory>,
    ) -> Rc<Self> {
        Rc::new(Self { texture, _memory: memory, exported, shared: Rc::clone(shared) })
    }

    pub(crate) fn shared(&self) -> &Rc<ContextState> {
        &self.shared
    }

    /// Returns the image that others can open.
    pub(crate) fn exported(&self) -> Option<&crate::api::vulkan::VulkanMemory> {
        self.exported.as_ref()
    }

    pub(crate) fn source(&self) -> ImageSource {
        ImageSource::texture(self.texture.get())
    }
}
