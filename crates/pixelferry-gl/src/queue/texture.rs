//! [`QueueTexture`].

use super::device::GlDevice;
use crate::objects::attachment::StoreFormat;
use glow::HasContext as _;
use interop_core::{Error, Extent, Region, Result, SharedHandle};
use std::sync::{Arc, Weak};

/// Handle by which a surface gives kernels in its context its texture.
pub(crate) struct TextureHandle {
    pub texture: glow::Texture,
    pub level: i32,
    pub format: StoreFormat,
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
    /// The texture behind a handle of a surface in this context.
    pub(crate) fn open(device: &GlDevice, handle: &SharedHandle) -> Result<Self> {
        let SharedHandle::QueueBuffer { queue, buffer } = handle else {
            return Err(Error::refused("the handle does not name a texture of a queue"));
        };
        let Some(found) = buffer.downcast_ref::<Arc<TextureHandle>>().filter(|_| *queue == device.queue_id()) else {
            return Err(Error::refused("the handle is of no texture of this OpenGL context"));
        };
        Ok(Self { handle: Arc::clone(found), device: device.clone() })
    }

    /// What a shader is bound to.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the surface is gone.
    pub(crate) fn bound(&self, access: u32) -> Result<BoundTexture> {
        if self.handle.owner.strong_count() == 0 {
            return Err(Error::refused("the surface that has the texture is gone"));
        }
        let TextureHandle { texture, level, format, .. } = *self.handle;
        Ok(BoundTexture { texture, level, format: format.internal, access })
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

    /// Tells whether the texture has that size, as far as the driver tells.
    pub(crate) fn check(&self, extent: Extent) -> Result<()> {
        let gl = self.device.enter()?;
        let bound = self.bound(glow::WRITE_ONLY)?;
        // SAFETY: the context is current; what was bound is bound again.
        let found = unsafe {
            let before = gl.get_parameter_texture(glow::TEXTURE_BINDING_2D);
            gl.bind_texture(glow::TEXTURE_2D, Some(bound.texture));
            let get = |name| gl.get_tex_level_parameter_i32(glow::TEXTURE_2D, bound.level, name);
            let found = [get(glow::TEXTURE_WIDTH), get(glow::TEXTURE_HEIGHT)];
            gl.bind_texture(glow::TEXTURE_2D, before);
            found
        };
        let expected = [extent.width, extent.height].map(|side| i32::try_from(side).unwrap_or(i32::MAX));
        if found == expected {
            return Ok(());
        }
        Err(Error::refused(format!("the texture is {}x{}, it was said to be {extent}", found[0], found[1])))
    }
}

/// A level of a texture at image unit 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundTexture {
    pub texture: glow::Texture,
    pub level: i32,
    pub format: u32,
    pub access: u32,
}
