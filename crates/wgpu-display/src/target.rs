//! A place to draw into where there is no window.

use crate::format::{TEXTURE_USAGE, texture_descriptor};
use crate::painter::DrawTarget;
use crate::shared::Shared;
use interop_core::{Extent, PixelFormat, Result, SurfaceDesc};
use std::rc::Rc;

/// An RGBA8 texture to draw into.
pub struct OffscreenTarget {
    shared: Rc<Shared>,
    texture: wgpu::Texture,
    view: wgpu::TextureView,
}

impl OffscreenTarget {
    /// Its format, of one sample and without depth.
    pub const FORMAT: DrawTarget = DrawTarget::new(wgpu::TextureFormat::Rgba8Unorm);

    /// wgpu makes the content zero.
    pub(crate) fn new(shared: &Rc<Shared>, width: u32, height: u32) -> Result<Self> {
        const OP: &str = "create_offscreen_target";
        let desc = SurfaceDesc::image(width, height, PixelFormat::Rgba8);
        desc.check(&shared.identity.to_string(), &shared.caps, OP)?;
        let descriptor = texture_descriptor(width, height, Self::FORMAT.format, TEXTURE_USAGE);
        let (texture, view) = shared.scoped(OP, || {
            let texture = shared.device.create_texture(&descriptor);
            let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
            (texture, view)
        })?;
        Ok(Self { shared: Rc::clone(shared), texture, view })
    }

    /// The texture.
    pub fn texture(&self) -> &wgpu::Texture {
        &self.texture
    }

    /// A view of all of it, for [`crate::WgpuDisplay::draw_to`] and passes of the user's own.
    pub fn view(&self) -> &wgpu::TextureView {
        &self.view
    }

    /// Every pixel as red, green, blue, alpha; top row first, as image files want it. Waits for what was submitted.
    pub fn read_rgba8(&self) -> Result<Vec<u8>> {
        let extent = Extent::new(self.texture.width(), self.texture.height());
        crate::read_back::image(&self.shared, extent, 4, |_| self.texture.clone())
    }
}
