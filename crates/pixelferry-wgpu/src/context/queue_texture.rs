//! A texture of the display's own wgpu device, for kernels in its queue.

use crate::context::device::WgpuDevice;
use interop_core::{Error, Extent, HandleType, Result, SharedHandle};

/// A texture by which a display gives a compute backend on its device ([`crate::WgpuDisplay::shared_device`]) what it shows.
#[derive(Debug, Clone)]
pub(crate) struct QueueTexture {
    device: WgpuDevice,
    pub texture: wgpu::Texture,
    /// Somebody else uses it, who knows nothing of commands that are recorded and not submitted.
    pub is_anothers: bool,
    /// Kernels that name words get no copy of it.
    pub stores_only: bool,
}

impl QueueTexture {
    /// A texture of this device that was made for stores.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where it was not, or stores do not reach all of it.
    pub fn over(device: &WgpuDevice, texture: &wgpu::Texture, is_anothers: bool, stores_only: bool) -> Result<Self> {
        let (format, usage) = (texture.format(), texture.usage());
        device.stores.get(format).map_err(|obstacle| Error::refused(format!("no kernel stores to it: {obstacle}")))?;
        if !usage.contains(wgpu::TextureUsages::STORAGE_BINDING) {
            return Err(Error::refused("it was made without STORAGE_BINDING, so no kernel stores to it"));
        }
        Ok(Self { device: device.clone(), texture: texture.clone(), is_anothers, stores_only })
    }

    /// A handle by which a backend on the same device opens the texture.
    pub fn into_handle(self) -> SharedHandle {
        SharedHandle::QueueBuffer { queue: self.device.queue_id(), buffer: Box::new(self) }
    }

    /// Names it, where kernels of the device's queue ask.
    pub fn export(self, handle: HandleType) -> Option<SharedHandle> {
        (handle == HandleType::QueueBuffer(self.device.queue_id())).then(|| self.into_handle())
    }

    /// The texture behind a handle of this device's queue, which has that size.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for another handle or size.
    pub fn open(handle: &SharedHandle, extent: Extent) -> Result<Self> {
        let found: &Self = handle.in_queue("texture")?;
        let size = Extent::new(found.texture.width(), found.texture.height());
        if size != extent {
            return Err(Error::refused(format!("the texture is {size}, it was said to be {extent}")));
        }
        Ok(found.clone())
    }
}
