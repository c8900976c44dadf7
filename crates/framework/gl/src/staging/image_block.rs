//! A texture in memory that is shared with a compute device.

use crate::api::gl_format::gl_format;
use crate::api::memory_object::MemoryObject;
use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use crate::draw::image_source::ImageSource;
use crate::objects::attachment::StoreFormat;
use crate::queue::TextureHandle;
use interop_core::{HandleType, ImageDesc, SharedHandle};
use std::sync::Arc;

/// A texture shared by the staging block and by the surfaces that show it.
pub(crate) struct ImageBlock {
    texture: OwnedObject<glow::Texture>,
    /// Memory of the texture; dropped after it.
    _memory: OwnedObject<MemoryObject>,
    /// Memory that this crate allocated for sharing, if it did; dropped last.
    exported: Option<crate::api::vulkan::VulkanMemory>,
    /// Lives as long as the texture.
    owner: Arc<()>,
    shared: Arc<ContextState>,
}

impl ImageBlock {
    pub(crate) fn new(
        shared: &Arc<ContextState>,
        texture: OwnedObject<glow::Texture>,
        memory: OwnedObject<MemoryObject>,
        exported: Option<crate::api::vulkan::VulkanMemory>,
    ) -> Arc<Self> {
        Arc::new(Self { texture, _memory: memory, exported, owner: Arc::default(), shared: Arc::clone(shared) })
    }

    pub(crate) fn shared(&self) -> &Arc<ContextState> {
        &self.shared
    }

    /// Returns the image that others can open.
    pub(crate) fn exported(&self) -> Option<&crate::api::vulkan::VulkanMemory> {
        self.exported.as_ref()
    }

    /// Lends the texture to kernels in the context; `None` for another queue, and for formats of which they get no copy.
    pub(crate) fn lend(&self, queue: HandleType, image: &ImageDesc) -> Option<SharedHandle> {
        let HandleType::QueueBuffer(id) = queue else { return None };
        let format = StoreFormat::of(gl_format(image.format).internal)?;
        let (texture, extent, owner) = (self.texture.get(), image.extent, Arc::downgrade(&self.owner));
        let handle = TextureHandle { texture, level: 0, layer: 0, format, extent, stores_only: false, owner };
        (self.shared.queue_handle() == Some(queue))
            .then(|| SharedHandle::QueueBuffer { queue: id, buffer: Box::new(Arc::new(handle)) })
    }

    pub(crate) fn source(&self) -> ImageSource {
        ImageSource::texture(self.texture.get())
    }
}
