//! Images with storage of their own.

use crate::device_state::DeviceState;
use crate::format::{texture_descriptor, texture_format};
use crate::picture::Picture;
use crate::staging::WgpuStaging;
use crate::tools::Tools;
use interop_core::display::checks::{image_source, region};
use interop_core::{Error, ImageDesc, ImageView, Part, Region, Result, Staging, Surface, SurfaceDesc, View};
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

/// Where a region begins in a texture.
fn corner(texture: &wgpu::Texture, region: Region) -> wgpu::TexelCopyTextureInfo<'_> {
    wgpu::TexelCopyTextureInfo { origin: wgpu::Origin3d { x: region.x, y: region.y, z: 0 }, ..texture.as_image_copy() }
}

const fn size(region: Region) -> wgpu::Extent3d {
    wgpu::Extent3d { width: region.width, height: region.height, depth_or_array_layers: 1 }
}

/// Rows in memory; one row needs no pitch.
fn layout(view: &ImageView, operation: &'static str) -> Result<wgpu::TexelCopyBufferLayout> {
    let pitch = || {
        u32::try_from(view.pitch())
            .map_err(|_| Error::invalid(operation, format!("a row pitch of {} bytes is too large", view.pitch())))
    };
    let bytes_per_row = if view.extent.height == 1 { None } else { Some(pitch()?) };
    Ok(wgpu::TexelCopyBufferLayout { offset: view.offset as u64, bytes_per_row, rows_per_image: None })
}

impl Surface for TextureSurface {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        const OP: &str = "upload";
        let (region, view) = image_source(&self.desc, at, view, bytes.len(), OP)?;
        let layout = layout(&view, OP)?;
        self.tools.shared.scoped(OP, || {
            self.tools.shared.queue.write_texture(corner(&self.texture, region), bytes, layout, size(region));
            // Else what is written waits, in memory of its own, for whoever submits next.
            self.tools.shared.queue.submit([]);
        })
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "upload_staged";
        let len = staging.len();
        let staging = WgpuStaging::of_mut(staging, &self.tools.shared, OP)?;
        let (region, view) = image_source(&self.desc, at, view, len, OP)?;
        let layout = layout(&view, OP)?;
        let alignment = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT;
        if layout.bytes_per_row.is_some_and(|pitch| !pitch.is_multiple_of(alignment)) {
            let problem = format!("rows in staging memory must begin at multiples of {alignment} bytes");
            return Err(Error::invalid(OP, problem));
        }
        let index = {
            let buffer = staging.buffer(OP)?;
            let from = wgpu::TexelCopyBufferInfo { buffer, layout };
            self.tools.shared.submit(OP, |encoder| {
                encoder.copy_buffer_to_texture(from, corner(&self.texture, region), size(region));
            })?
        };
        staging.read_until(index);
        Ok(())
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        let region = region(&self.desc, part, "read_back")?;
        self.tools.painter.read_back(&self.tools.shared, &self.picture, region)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
