//! Images with storage of their own.

use crate::device_state::DeviceState;
use crate::format::{texture_descriptor, texture_format};
use crate::picture::Picture;
use crate::texture_copies;
use crate::tools::Tools;
use interop_core::display::checks::region;
use interop_core::draw::{Manner, Plan};
use interop_core::{ImageDesc, Part, Region, Result, Staging, Surface, SurfaceDesc, View};
use std::any::Any;
use std::rc::Rc;

/// A texture.
pub(crate) struct TextureSurface {
    desc: SurfaceDesc,
    texture: wgpu::Texture,
    picture: Picture,
    tools: Rc<Tools>,
}

interop_core::owned!(TextureSurface: DeviceState, "surface", |surface| &surface.tools.shared);

impl TextureSurface {
    /// wgpu makes the content zero.
    pub(crate) fn new(tools: &Rc<Tools>, image: &ImageDesc) -> Result<Self> {
        const OP: &str = "create_surface";
        let shared = &tools.shared;
        let format = texture_format(image.format);
        let usage = shared.texture_usage(format);
        let descriptor = texture_descriptor(image.extent.width, image.extent.height, format, usage);
        let (texture, picture) = shared.scoped(OP, || {
            let texture = shared.device.create_texture(&descriptor);
            (texture.clone(), Picture::texture(texture, image.format))
        })?;
        Ok(Self { tools: Rc::clone(tools), desc: SurfaceDesc::Image(*image), texture, picture })
    }

    pub(crate) fn picture(&self) -> &Picture {
        &self.picture
    }
}

impl Surface for TextureSurface {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        texture_copies::from_host(&self.tools.shared, &self.texture, &self.desc, at, bytes, view)
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        texture_copies::from_staging(&self.tools.shared, &self.texture, &self.desc, at, staging, view)
    }

    fn download(&mut self, part: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        texture_copies::to_staging(&self.tools, &self.texture, &self.desc, part, staging, view)
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        let region = region(&self.desc, part, "read_back")?;
        self.tools.painter.read_back(&self.tools.shared, &self.picture, region)
    }

    fn draw_back(&mut self, at: Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        let (at, tools) = (region(&self.desc, &Part::Image(at), "draw_back")?, &self.tools);
        tools.drawing.draw_back(&tools.shared, &tools.painter, &self.picture, at, plan, manner)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
