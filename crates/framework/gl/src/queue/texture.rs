//! The type [`QueueTexture`].

use super::device::GlDevice;
use crate::objects::attachment::StoreFormat;
use crate::objects::image_unit::BoundImage;
use glow::HasContext as _;
use interop_core::{Error, Extent, Region, Result, SharedHandle};
use std::sync::{Arc, Weak};

/// Handle with which a surface passes its texture to kernels in its context.
#[derive(Debug)]
pub(crate) struct TextureHandle {
    pub texture: glow::Texture,
    pub level: i32,
    pub layer: i32,
    pub format: StoreFormat,
    pub extent: Extent,
    /// True where kernels that address words get no copy of it.
    pub stores_only: bool,
    /// The surface, for as long as it has the texture.
    pub owner: Weak<()>,
}

/// A texture of the display, which a compute backend in its context writes.
#[derive(Debug, Clone)]
pub(crate) struct QueueTexture {
    handle: Arc<TextureHandle>,
    device: GlDevice,
}

impl QueueTexture {
    /// Opens the texture behind a handle of this context's queue, which has that size.
    pub(crate) fn open(device: &GlDevice, handle: &SharedHandle, extent: Extent) -> Result<Self> {
        let found: &Arc<TextureHandle> = handle.in_queue("texture")?;
        if found.extent != extent {
            return Err(Error::refused(format!("the texture is {}, but its description says {extent}", found.extent)));
        }
        Ok(Self { handle: Arc::clone(found), device: device.clone() })
    }

    /// Returns the binding for a shader.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the surface was dropped.
    pub(crate) fn bound(&self, access: u32) -> Result<BoundImage> {
        if self.handle.owner.strong_count() == 0 {
            return Err(Error::refused("the surface of the texture was dropped"));
        }
        let TextureHandle { texture, level, layer, format, .. } = *self.handle;
        Ok(BoundImage { texture, level, layer, access, format: format.internal })
    }

    pub(crate) fn stores_only(&self) -> bool {
        self.handle.stores_only
    }

    pub(crate) fn format(&self) -> StoreFormat {
        self.handle.format
    }

    /// Copies a rectangle of another texture to the same position, in queue order.
    ///
    /// # Errors
    /// [`Error::WrongContext`]; [`Error::InvalidInput`] where a surface was dropped.
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

    /// Returns the names, for foreign calls in the context.
    pub(crate) fn names(&self) -> Result<(u32, u32)> {
        self.device.enter()?;
        let bound = self.bound(glow::WRITE_ONLY)?;
        Ok((bound.texture.0.get(), bound.level as u32))
    }
}
