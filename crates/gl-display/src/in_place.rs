//! Surfaces without storage, which show staging blocks where they lie: images by buffer textures, buffers by the
//! block's own buffer.

use crate::buffer_object::read_back_buffer;
use crate::checks::{buffer_part, buffer_transfer, image_part, image_transfer};
use crate::context_state::ContextState;
use crate::gl_format;
use crate::image_source::ImageSource;
use crate::staging::{Block, GlStaging, ImageBlock};
use crate::tools::Tools;
use interop_core::display::{Part, Staging, Surface};
use interop_core::draw::{Manner, Plan};
use interop_core::{BufferView, Error, Region, Result, Support, SurfaceDesc, View};
use std::any::Any;
use std::rc::Rc;

/// An image in a staging block, read by texel number.
pub(crate) struct InPlaceImage {
    tools: Rc<Tools>,
    desc: SurfaceDesc,
    shown: Option<Showing>,
}

/// Where the image is. The block is kept alive by it.
enum Showing {
    Linear { source: ImageSource, _block: Rc<Block> },
    Texture(Rc<ImageBlock>),
}

interop_core::owned!(InPlaceImage: ContextState, "surface", |surface| surface.tools.shared());

impl InPlaceImage {
    pub(crate) fn new(tools: &Rc<Tools>, desc: SurfaceDesc) -> Self {
        Self { tools: Rc::clone(tools), desc, shown: None }
    }

    /// The buffer texture and where in it the image lies, counted in texels.
    pub(crate) fn source(&self) -> Result<ImageSource> {
        match self.shown.as_ref().ok_or(Error::NothingShown)? {
            Showing::Linear { source, .. } => Ok(*source),
            Showing::Texture(block) => Ok(block.source()),
        }
    }
}

impl Surface for InPlaceImage {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn read_in_place(&mut self, staging: &dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "read_in_place";
        let shared = self.tools.shared();
        shared.enter(OP)?;
        let staging = GlStaging::of(staging, shared, OP)?;
        if let Some(block) = staging.image() {
            let (own, shown) = (&self.desc, block.image());
            if !matches!(own, SurfaceDesc::Image(i) if i.extent == shown.extent && i.format == shown.format) {
                let problem =
                    format!("the block is a texture of {} {}, the surface is an {own}", shown.extent, shown.format);
                return Err(Error::invalid(OP, problem));
            }
            self.shown = Some(Showing::Texture(Rc::clone(block)));
            return Ok(());
        }
        if let Support::No(reason) = &shared.caps.in_place_images {
            return Err(shared.unsupported(OP, reason.clone()));
        }
        let transfer = image_transfer(&self.desc, &Part::full(&self.desc), view, staging.len(), OP)?;
        let format = transfer.view.format;
        let Some(texels) = transfer.texels() else {
            let bpp = format.bytes_per_pixel();
            return Err(Error::invalid(
                OP,
                format!("offset and row pitch must be multiples of the pixel, {bpp} bytes"),
            ));
        };
        let (pixels, limit) = (texels.end, shared.features.max_buffer_texels);
        if pixels > limit {
            return Err(shared.unsupported(OP, format!("{pixels} pixels are more than a buffer texture's {limit}")));
        }
        let block = staging.linear(OP)?;
        let (fetched, decoding) = gl_format::texels(format, shared.features.es);
        let texture = block.texture(fetched)?;
        let (base, pitch) = (texels.base, texels.pitch);
        let source = ImageSource { target: glow::TEXTURE_BUFFER, texture, base, pitch, decoding };
        self.shown = Some(Showing::Linear { source, _block: Rc::clone(block) });
        Ok(())
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        const OP: &str = "read_back";
        self.tools.shared().enter(OP)?;
        let (region, format) = image_part(&self.desc, part, OP)?;
        self.tools.read_back_image(&self.source()?, region, format)
    }

    fn draw_back(&mut self, region: Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        const OP: &str = "draw_back";
        self.tools.shared().enter(OP)?;
        let (region, _) = image_part(&self.desc, &Part::Image(region), OP)?;
        self.tools.draw_back(&self.source()?, region, plan, manner)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Bytes in a staging block.
pub(crate) struct InPlaceBuffer {
    tools: Rc<Tools>,
    desc: SurfaceDesc,
    shown: Option<ShownBuffer>,
}

/// What is shown now. The block is kept alive by it.
struct ShownBuffer {
    block: Rc<Block>,
    view: BufferView,
}

interop_core::owned!(InPlaceBuffer: ContextState, "surface", |surface| surface.tools.shared());

impl InPlaceBuffer {
    pub(crate) fn new(tools: &Rc<Tools>, desc: SurfaceDesc) -> Self {
        Self { tools: Rc::clone(tools), desc, shown: None }
    }

    /// The block's buffer and the range in it. From now on shaders of the user's may write it.
    pub(crate) fn buffer(&self) -> Result<(glow::Buffer, BufferView)> {
        let shown = self.shown.as_ref().ok_or(Error::NothingShown)?;
        shown.block.expose();
        Ok((shown.block.buffer(), shown.view))
    }
}

impl Surface for InPlaceBuffer {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn read_in_place(&mut self, staging: &dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "read_in_place";
        let shared = self.tools.shared();
        shared.enter(OP)?;
        let staging = GlStaging::of(staging, shared, OP)?;
        let (_, view) = buffer_transfer(&self.desc, &Part::full(&self.desc), view, staging.len(), OP)?;
        self.shown = Some(ShownBuffer { block: Rc::clone(staging.linear(OP)?), view });
        Ok(())
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        const OP: &str = "read_back";
        let shared = self.tools.shared();
        shared.enter(OP)?;
        let range = buffer_part(&self.desc, part, OP)?;
        let shown = self.shown.as_ref().ok_or(Error::NothingShown)?;
        let start = shown.view.offset + range.start;
        read_back_buffer(shared, shown.block.buffer(), start..start + range.len())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
