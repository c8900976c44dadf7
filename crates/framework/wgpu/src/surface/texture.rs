//! Images with storage of their own.

use crate::context::device_state::DeviceState;
use crate::context::format::{texture_descriptor, texture_format};
use crate::context::queue_texture::QueueTexture;
use crate::draw::picture::Picture;
use crate::draw::tools::Tools;
use crate::surface::texture_copies;
use interop_core::display::{Pixels, StoredDriver, SurfaceDriver};
use interop_core::draw::{Manner, Plan};
use interop_core::{HandleType, ImageDesc, ImageView, Region, Result, SharedHandle, Staging};
use std::sync::Arc;

/// A texture.
pub(crate) struct TextureSurface {
    texture: wgpu::Texture,
    picture: Picture,
    tools: Arc<Tools>,
}

interop_core::owned!(TextureSurface: DeviceState, "surface", |surface| &surface.tools.shared);

impl TextureSurface {
    /// Creates a texture; wgpu initialises it to zero.
    pub(crate) fn new(tools: &Arc<Tools>, image: &ImageDesc) -> Result<Self> {
        let shared = &tools.shared;
        let format = texture_format(image.format);
        let usage = shared.texture_usage(format);
        let descriptor = texture_descriptor(image.extent.width, image.extent.height, format, usage);
        let (texture, picture) = shared.scoped(|| {
            let texture = shared.device.create_texture(&descriptor);
            (texture.clone(), Picture::texture(texture, image.format))
        })?;
        Ok(Self { tools: Arc::clone(tools), texture, picture })
    }

    pub(crate) fn picture(&self) -> &Picture {
        &self.picture
    }
}

impl SurfaceDriver<Pixels> for TextureSurface {
    fn read_back(&mut self, at: &Region) -> Result<Vec<u8>> {
        self.tools.painter.read_back(&self.tools.shared, &self.picture, *at)
    }

    fn draw_back(&mut self, at: &Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        let tools = &self.tools;
        tools.drawing.draw_back(&tools.shared, &tools.painter, &self.picture, *at, plan, manner)
    }
}

impl StoredDriver<Pixels> for TextureSurface {
    fn upload(&mut self, at: &Region, bytes: &[u8], view: &ImageView) -> Result<()> {
        texture_copies::from_host(&self.tools.shared, &self.texture, *at, bytes, view)
    }

    fn upload_staged(&mut self, at: &Region, staging: &mut Staging, view: &ImageView) -> Result<()> {
        texture_copies::from_staging(&self.tools.shared, &self.texture, *at, staging, view)
    }

    /// Exports a handle for kernels in the device's queue.
    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        Ok(QueueTexture::over(&self.tools.shared, &self.texture, false, false)?.export(handle))
    }

    fn downloads(&self, _: &Staging) -> bool {
        true
    }

    fn download(&mut self, at: &Region, staging: &mut Staging, view: &ImageView) -> Result<()> {
        texture_copies::to_staging(&self.tools, &self.texture, *at, staging, view)
    }
}
