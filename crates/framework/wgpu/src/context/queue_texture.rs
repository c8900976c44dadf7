//! A texture of the display's own wgpu device, for kernels in its queue.

use crate::context::device::WgpuDevice;
use interop_core::{Error, Extent, HandleType, Result, SharedHandle};

/// A texture by which a display passes its shown texture to a compute backend on its device
/// ([`crate::WgpuDisplay::shared_device`]).
#[derive(Debug, Clone)]
pub(crate) struct QueueTexture {
    device: WgpuDevice,
    pub texture: wgpu::Texture,
    /// True where other code uses it, which does not take recorded commands into account.
    pub is_anothers: bool,
    /// True where kernels get no linear copy of it.
    pub stores_only: bool,
}

impl QueueTexture {
    /// Wraps a texture of this device that was created for stores.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where it was not, or where stores cannot reach all of it.
    pub fn over(device: &WgpuDevice, texture: &wgpu::Texture, is_anothers: bool, stores_only: bool) -> Result<Self> {
        let (format, usage) = (texture.format(), texture.usage());
        device
            .stores
            .get(format)
            .map_err(|obstacle| Error::refused(format!("kernels cannot store to it: {obstacle}")))?;
        if !usage.contains(wgpu::TextureUsages::STORAGE_BINDING) {
            return Err(Error::refused("it was made without STORAGE_BINDING, so kernels cannot store to it"));
        }
        Ok(Self { device: device.clone(), texture: texture.clone(), is_anothers, stores_only })
    }

    /// Returns a handle by which a backend on the same device opens the texture.
    pub fn into_handle(self) -> SharedHandle {
        SharedHandle::QueueBuffer { queue: self.device.queue_id(), buffer: Box::new(self) }
    }

    /// Exports a handle, if kernels of the device's queue request it.
    pub fn export(self, handle: HandleType) -> Option<SharedHandle> {
        (handle == HandleType::QueueBuffer(self.device.queue_id())).then(|| self.into_handle())
    }

    /// Opens the texture of this size behind a handle of this device's queue.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a handle of another kind or with another size.
    pub fn open(handle: &SharedHandle, extent: Extent) -> Result<Self> {
        let found: &Self = handle.in_queue("texture")?;
        let size = Extent::new(found.texture.width(), found.texture.height());
        if size != extent {
            return Err(Error::refused(format!("the texture is {size}, but its description says {extent}")));
        }
        Ok(found.clone())
    }
}
