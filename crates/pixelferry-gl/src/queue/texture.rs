//! [`QueueTexture`].

use super::device::GlDevice;
use crate::objects::attachment::StoreFormat;
use crate::objects::image_unit::Bound;
use glow::HasContext as _;
use interop_core::{Error, Extent, Region, Result, SharedHandle};
use std::sync::{Arc, Weak};

/// Handle by which a surface gives kernels in its context its texture.
pub(crate) struct TextureHandle {
    pub texture: glow::Texture,
    pub level: i32,
    pub layer: i32,
    pub format: StoreFormat,
    pub extent: Extent,
    /// Kernels that name words get no copy of it.
    pub stores_only: bool,
    /// The surface, for as long as it has the texture.
    pub owner: Weak<()>,
}

/// A texture of the display's, which a compute backend in its context writes.
#[derive(Debug, Clone)]
pub(crate) struct QueueTexture {
    handle: Arc<TextureHandle>,
    device: GlDevice,
}

impl std::fmt::Debug for TextureHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextureHandle").field("texture", &self.texture).finish_non_exhaustive()
    }
}

impl QueueTexture {
    /// The texture behind a handle of this context's queue, which has that size.
    pub(crate) fn open(device: &GlDevice, handle: &SharedHandle, extent: Extent) -> Result<Self> {
        let found: &Arc<TextureHandle> = handle.in_queue("texture")?;
        if found.extent != extent {
            return Err(Error::refused(format!("the texture is {}, it was said to be {extent}", found.extent)));
        }
        Ok(Self { handle: Arc::clone(found), device: device.clone() })
    }

    /// Binding for a shader.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the surface is gone.
    pub(crate) fn bound(&self, access: u32) -> Result<Bound> {
        if self.handle.owner.strong_count() == 0 {
            return Err(Error::refused("the surface that has the texture is gone"));
        }
        let TextureHandle { texture, level, layer, format, .. } = *self.handle;
        Ok(Bound { texture, level, layer, access, format: format.internal })
    }

    pub(crate) fn stores_only(&self) -> bool {
        self.handle.stores_only
    }

    pub(crate) fn format(&self) -> StoreFormat {
        self.handle.format
    }

    /// Copies a rectangle of another texture to the same place, in queue order.
    ///
    /// # Errors
    /// [`Error::WrongContext`]; [`Error::InvalidInput`] where a surface is gone.
    pub(crate) fn copy_from(&self, from: &Self, region: Region) -> Result<()> {
        let gl = self.device.enter()?;
        let [from, to] = [from.bound(glow::READ_ONLY)?, self.bound(glow::WRITE_ONLY)?];
        let [x, y, width, height] = [region.x, region.y, region.width, region.height].map(|n| n as i32);
        self.device.checked("glCopyImageSubData", || {
            // SAFETY: the context is current and has OpenGL 4.3, both textures are of it and of one format, and the rectangle lies in
            // both.
            unsafe {
                gl.memory_barrier(glow::TEXTURE_UPDATE_BARRIER_BIT);
                let (target, [a, b]) = (glow::TEXTURE_2D, [from.level, to.level]);
                gl.copy_image_sub_data(
                    from.texture,
                    target,
                    a,
                    x,
                    y,
                    0,
                    to.texture,
                    target,
                    b,
                    x,
                    y,
                    0,
                    width,
                    height,
                    1,
                );
            }
        })
    }

    /// The names, for calls of others in the context.
    pub(crate) fn names(&self) -> Result<(u32, u32)> {
        self.device.enter()?;
        let bound = self.bound(glow::WRITE_ONLY)?;
        Ok((bound.texture.0.get(), bound.level as u32))
    }
}
