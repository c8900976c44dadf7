//! A texture view as the target of [`Link::show`](interop_core::LinkCore::show).

use crate::context::queue_texture::QueueTexture;
use crate::context::read_back;
use crate::display::contract::WgpuDisplay;
use interop_core::describe::error::call;
use interop_core::draw::Obstacle;
use interop_core::{DrawOptions, Error, Extent, Result, SharedHandle, ShowTarget, Surface, TargetPixels, Viewport};
use std::any::Any;
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// A texture view in which frames are shown, for [`Link::show`](interop_core::LinkCore::show). [`WgpuDisplay::view_target`] makes it.
pub struct ViewTarget<'a> {
    display: &'a WgpuDisplay,
    view: &'a wgpu::TextureView,
    format: wgpu::TextureFormat,
    viewport: Viewport,
}

impl WgpuDisplay {
    /// Makes a view a target for [`Link::show`](interop_core::LinkCore::show), which is drawn to as [`WgpuDisplay::draw_to`] does.
    /// `format` is the view's format.
    ///
    /// Kernels store directly into its texture if that has one level and one layer, and was created with
    /// [`wgpu::TextureUsages::STORAGE_BINDING`] and [`wgpu::TextureUsages::COPY_SRC`], as
    /// [`OffscreenTarget`](crate::OffscreenTarget)s are, and images of a window's surface can be
    /// ([`WgpuDisplay::window_usage`]). The shown frame has been submitted when the call returns.
    pub fn view_target<'a>(
        &'a self,
        view: &'a wgpu::TextureView,
        format: wgpu::TextureFormat,
        viewport: Viewport,
    ) -> ViewTarget<'a> {
        ViewTarget { display: self, view, format, viewport }
    }
}

impl ShowTarget for ViewTarget<'_> {
    fn area(&self) -> Extent {
        Extent::new(self.viewport.width, self.viewport.height)
    }

    fn draw(&mut self, surface: &Surface, options: DrawOptions) -> Result<()> {
        self.display.draw_to(surface, self.view, self.format, None, self.viewport, options)
    }

    fn with_the_draw(&mut self) -> Option<Box<dyn Any + Send + Sync>> {
        Some(Box::new(self.display.shared_device().with_the_draw()))
    }

    fn pixels(&mut self) -> Result<TargetPixels, Obstacle> {
        use wgpu::TextureUsages as Usages;
        let texture = self.view.texture();
        if self.format.is_srgb() {
            return Err(Obstacle::Encodes(format!("{:?}", self.format)));
        }
        if texture.sample_count() > 1 || texture.mip_level_count() > 1 || texture.depth_or_array_layers() > 1 {
            return Err(Obstacle::Texture("it has several samples, levels or layers"));
        }
        if !texture.usage().contains(Usages::STORAGE_BINDING | Usages::COPY_SRC) {
            return Err(Obstacle::Texture("its usage lacks STORAGE_BINDING or COPY_SRC"));
        }
        let format = crate::context::format::pixel_format(self.format).filter(|_| texture.format() == self.format);
        let format = format.ok_or_else(|| Obstacle::Format(format!("{:?}", texture.format())))?;
        let mut key = DefaultHasher::new();
        texture.hash(&mut key);
        Ok(TargetPixels {
            key: [key.finish(), 0, 0],
            alike: true,
            extent: Extent::new(texture.width(), texture.height()),
            format,
            first: (self.viewport.x, self.viewport.y),
        })
    }

    fn handle(&mut self) -> Result<(SharedHandle, Box<dyn Any + Send + Sync>)> {
        call("ViewTarget::handle", || {
            let texture = self.view.texture();
            let named = QueueTexture::over(&self.display.shared_device(), texture, true, true)?;
            // The handle holds the texture itself.
            Ok((named.into_handle(), Box::new(()) as Box<dyn Any + Send + Sync>))
        })
    }

    fn read_back(&mut self) -> Result<Vec<u8>> {
        call("ViewTarget::read_back", || {
            let texture = self.view.texture();
            let format = crate::context::format::pixel_format(texture.format());
            let format = format.ok_or_else(|| Error::refused("frames cannot have the texture's format"))?;
            let all = Extent::new(texture.width(), texture.height()).full();
            read_back::image(&self.display.shared_device(), all, format.bytes_per_pixel(), |_| texture.clone())
        })
    }
}
