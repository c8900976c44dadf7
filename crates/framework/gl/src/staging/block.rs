//! The GL objects of one staging block.

use crate::api::memory_object::MemoryObject;
use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use crate::objects::state_guards::BoundTexture;
use crate::queue::{LentBuffer, QueueBuffer};
use glow::HasContext as _;
use interop_core::describe::PlainMutex;
use interop_core::{HandleType, Result, SharedHandle};
use std::sync::Arc;

/// A buffer and the buffer textures that read it. It is shared by the staging block, by the surfaces that show it in
/// place, and by holders of its address.
pub(crate) struct Block {
    // The textures are deleted before the buffer that they read.
    textures: PlainMutex<Vec<(u32, OwnedObject<glow::Texture>)>>,
    buffer: Body,
    /// Imported memory that contains the buffer; dropped after it.
    memory: Option<OwnedObject<MemoryObject>>,
    /// Memory that this crate allocated for sharing, if it did; dropped last.
    exported: Option<crate::api::vulkan::VulkanMemory>,
    shared: Arc<ContextState>,
    len: usize,
    exposed: PlainMutex<bool>,
}

/// A buffer, by its creator.
enum Body {
    Own(OwnedObject<glow::Buffer>),
    /// A buffer of a backend in this context.
    QueueBuffer(QueueBuffer),
}

impl Block {
    pub(crate) fn new(shared: &Arc<ContextState>, buffer: OwnedObject<glow::Buffer>, len: usize) -> Arc<Self> {
        Arc::new(Self::over(shared, Body::Own(buffer), len))
    }

    /// Wraps a buffer of a backend in this context, which lives for as long as this.
    pub(crate) fn over_queue_buffer(shared: &Arc<ContextState>, buffer: QueueBuffer, len: usize) -> Arc<Self> {
        Arc::new(Self::over(shared, Body::QueueBuffer(buffer), len))
    }

    fn over(shared: &Arc<ContextState>, buffer: Body, len: usize) -> Self {
        Self {
            textures: PlainMutex::default(),
            buffer,
            memory: None,
            exported: None,
            shared: Arc::clone(shared),
            len,
            exposed: PlainMutex::new(false),
        }
    }

    /// Wraps a buffer in memory that another API allocated; `exported` is that memory where this crate allocated it for
    /// sharing.
    pub(crate) fn in_memory(
        shared: &Arc<ContextState>,
        buffer: OwnedObject<glow::Buffer>,
        memory: OwnedObject<MemoryObject>,
        exported: Option<crate::api::vulkan::VulkanMemory>,
        len: usize,
    ) -> Arc<Self> {
        Arc::new(Self { memory: Some(memory), exported, ..Self::over(shared, Body::Own(buffer), len) })
    }

    /// Returns the memory that others can open.
    pub(crate) fn exported(&self) -> Option<&crate::api::vulkan::VulkanMemory> {
        self.exported.as_ref()
    }

    pub(crate) fn shared(&self) -> &Arc<ContextState> {
        &self.shared
    }

    pub(crate) fn buffer(&self) -> glow::Buffer {
        match &self.buffer {
            Body::Own(buffer) => buffer.get(),
            Body::QueueBuffer(buffer) => buffer.name(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// True where the bytes lie in memory that a device allocated for sharing.
    pub(crate) fn is_device_memory(&self) -> bool {
        self.memory.is_some() || matches!(self.buffer, Body::QueueBuffer(_))
    }

    /// Records that the user received the name, so that the user's shaders may write it.
    pub(crate) fn expose(&self) {
        self.exposed.set(true);
    }

    pub(crate) fn is_exposed(&self) -> bool {
        self.exposed.get()
    }

    /// Lends the buffer to kernels in the context; `None` for another queue.
    pub(crate) fn lend(&self, queue: HandleType) -> Option<SharedHandle> {
        let HandleType::QueueBuffer(id) = queue else { return None };
        let lent = LentBuffer { name: self.buffer(), bytes: self.len };
        (self.shared.queue_handle() == Some(queue))
            .then(|| SharedHandle::QueueBuffer { queue: id, buffer: Box::new(lent) })
    }

    /// Returns the buffer texture of that sized format, created once. The context must be current.
    pub(crate) fn texture(&self, format: u32) -> Result<glow::Texture> {
        const CALL: &str = "glTexBuffer";
        if let Some((_, texture)) = self.textures.lock().iter().find(|(f, _)| *f == format) {
            return Ok(texture.get());
        }
        let (shared, gl) = (&self.shared, &self.shared.gl);
        shared.drain_errors(CALL);
        // SAFETY: the context is current and has buffer textures, and the buffer is of this context.
        let texture = unsafe {
            let name = gl.create_texture().map_err(|e| shared.no_name("glGenTextures", &e))?;
            let texture = OwnedObject::new(shared, name);
            let _bound = BoundTexture::bind(shared, glow::TEXTURE_BUFFER, name);
            if !shared.raw.suffixed.tex_buffer(&shared.features, format, self.buffer()) {
                gl.tex_buffer(glow::TEXTURE_BUFFER, format, Some(self.buffer()));
            }
            texture
        };
        shared.check(CALL)?;
        let name = texture.get();
        self.textures.lock().push((format, texture));
        Ok(name)
    }
}
