//! Surfaces without storage, which show staging blocks where they lie.

use crate::device_state::DeviceState;
use crate::picture::Picture;
use crate::staging::{Block, WgpuStaging};
use crate::tools::Tools;
use interop_core::display::checks::{buffer_source, image_source, range, region};
use interop_core::draw::{Manner, Plan};
use interop_core::{BufferView, Error, Part, Region, Result, Staging, Surface, SurfaceDesc, View};
use std::any::Any;
use std::rc::Rc;

/// An image in a staging block: rows in a buffer, or a shared texture.
pub(crate) struct InPlaceImage {
    desc: SurfaceDesc,
    shown: Option<Rc<Picture>>,
    /// Goes last: memory that other code holds waits for what reads it.
    tools: Rc<Tools>,
}

interop_core::owned!(InPlaceImage: DeviceState, "surface", |surface| &surface.tools.shared);

impl InPlaceImage {
    pub(crate) fn new(tools: &Rc<Tools>, desc: SurfaceDesc) -> Self {
        Self { tools: Rc::clone(tools), desc, shown: None }
    }

    pub(crate) fn picture(&self) -> Result<&Picture> {
        self.shown.as_deref().ok_or(Error::NothingShown)
    }
}

impl Surface for InPlaceImage {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn read_in_place(&mut self, staging: &dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "read_in_place";
        let staging = WgpuStaging::of(staging, &self.tools.shared, OP)?;
        let picture = match staging.image() {
            Some(image) => {
                let fits = |i: &interop_core::ImageDesc| i.extent == image.extent() && i.format == image.format();
                if !matches!(&self.desc, SurfaceDesc::Image(i) if fits(i)) {
                    let (extent, format) = (image.extent(), image.format());
                    let problem =
                        format!("the block is a texture of {extent} {format}, the surface is an {}", self.desc);
                    return Err(Error::invalid(OP, problem));
                }
                image
            }
            None => {
                let (_, view) = image_source(&self.desc, &Part::full(&self.desc), view, staging.len(), OP)?;
                staging.block(OP)?.picture(&self.tools.shared, view, OP)?
            }
        };
        staging.show();
        self.shown = Some(picture);
        Ok(())
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        let region = region(&self.desc, part, "read_back")?;
        self.tools.painter.read_back(&self.tools.shared, self.picture()?, region)
    }

    fn draw_back(&mut self, at: Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        let (at, tools) = (region(&self.desc, &Part::Image(at), "draw_back")?, &self.tools);
        tools.drawing.draw_back(&tools.shared, &tools.painter, self.picture()?, at, plan, manner)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Bytes in a staging block.
pub(crate) struct InPlaceBuffer {
    desc: SurfaceDesc,
    shown: Option<(Rc<Block>, BufferView)>,
    /// Goes last: memory that other code holds waits for what reads it.
    shared: Rc<DeviceState>,
}

interop_core::owned!(InPlaceBuffer: DeviceState, "surface", |surface| &surface.shared);

impl InPlaceBuffer {
    pub(crate) fn new(shared: &Rc<DeviceState>, desc: SurfaceDesc) -> Self {
        Self { shared: Rc::clone(shared), desc, shown: None }
    }

    pub(crate) fn buffer(&self) -> Result<(&wgpu::Buffer, BufferView)> {
        let (block, view) = self.shown.as_ref().ok_or(Error::NothingShown)?;
        Ok((block.buffer(), *view))
    }
}

impl Surface for InPlaceBuffer {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn read_in_place(&mut self, staging: &dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "read_in_place";
        let staging = WgpuStaging::of(staging, &self.shared, OP)?;
        let (_, view) = buffer_source(&self.desc, &Part::full(&self.desc), view, staging.len(), OP)?;
        let block = Rc::clone(staging.block(OP)?);
        staging.show();
        self.shown = Some((block, view));
        Ok(())
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        let range = range(&self.desc, part, "read_back")?;
        let (buffer, view) = self.buffer()?;
        let start = view.offset as u64;
        self.shared.read_buffer(buffer, start + range.start..start + range.end, "read_back")
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
