//! Memory that was created outside wgpu and then wrapped.

use interop_core::{HostBlock, ImageDesc};

/// The wgpu object of the memory: a buffer or a texture.
#[allow(dead_code, reason = "made by Vulkan and OpenGL, which are not everywhere")]
pub(crate) enum Object {
    Buffer(wgpu::Buffer),
    Texture(wgpu::Texture, ImageDesc),
}

/// The memory, with its owner.
pub(crate) struct KeptMemory<K> {
    pub object: Object,
    /// Host block, if the host can address the memory.
    pub host: Option<HostBlock>,
    pub keeper: Option<K>,
}

impl<K> KeptMemory<K> {
    pub fn kept_as<L>(self, keeper: impl FnOnce(K) -> L) -> KeptMemory<L> {
        KeptMemory { object: self.object, host: self.host, keeper: self.keeper.map(keeper) }
    }
}
