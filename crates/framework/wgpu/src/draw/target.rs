//! A target for draws without a window.

use crate::context::device_state::DeviceState;
use crate::context::format::{TEXTURE_USAGE, texture_descriptor, texture_format};
use crate::draw::painter::DrawTarget;
use interop_core::{Extent, PixelFormat, Result, SurfaceDesc};
use std::sync::Arc;

/// A texture for drawing without a window.
pub struct OffscreenTarget {
    pixels: PixelFormat,
    shared: Arc<DeviceState>,
    texture: wgpu::Texture,
    view: wgpu::TextureView,
}

impl OffscreenTarget {
    /// Format of [`crate::WgpuDisplay::create_offscreen_target`]: RGBA8, one sample, no depth.
    pub const FORMAT: DrawTarget = DrawTarget::new(wgpu::TextureFormat::Rgba8Unorm);

    /// Creates a target; wgpu initialises it to zero.
    pub(crate) fn new(shared: &Arc<DeviceState>, width: u32, height: u32, pixels: PixelFormat) -> Result<Self> {
        let desc = SurfaceDesc::image(width, height, pixels);
        desc.check(&shared.identity.to_string(), &shared.caps)?;
        let format = texture_format(pixels);
        if !shared.is_drawn_to(format) {
            return Err(shared.unsupported(format!("the driver cannot draw to {pixels}; use RGBA16F")));
        }
        let encoding = [format.add_srgb_suffix()];
        let has_views = shared.stores.has_views() && encoding[0] != format;
        let descriptor = wgpu::TextureDescriptor {
            view_formats: if has_views { &encoding } else { &[] },
            ..texture_descriptor(width, height, format, TEXTURE_USAGE | shared.stores.usage(format))
        };
        let (texture, view) = shared.scoped(|| {
            let texture = shared.device.create_texture(&descriptor);
            let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
            (texture, view)
        })?;
        Ok(Self { pixels, shared: Arc::clone(shared), texture, view })
    }

    /// Returns the texture. For 8-bit colours, a view with sRGB encoding can also be created, where the device supports
    /// views of other formats.
    pub fn texture(&self) -> &wgpu::Texture {
        &self.texture
    }

    /// Returns a view of the whole texture, for [`crate::WgpuDisplay::draw_to`] and passes of the user.
    pub fn view(&self) -> &wgpu::TextureView {
        &self.view
    }

    /// Returns the format of its pixels.
    pub fn format(&self) -> PixelFormat {
        self.pixels
    }

    /// Returns the target format for pipelines: its format, one sample, no depth.
    pub fn draw_target(&self) -> DrawTarget {
        DrawTarget::new(self.texture.format())
    }

    /// Reads every pixel unchanged, in tight rows, the top row first. Waits for submitted work.
    pub fn read_pixels(&self) -> Result<Vec<u8>> {
        let extent = Extent::new(self.texture.width(), self.texture.height());
        crate::context::read_back::image(&self.shared, extent.full(), self.pixels.bytes_per_pixel(), |_| {
            self.texture.clone()
        })
    }
}
