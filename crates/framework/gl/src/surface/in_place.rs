//! Surfaces without storage, which show staging blocks in place: images through buffer textures, buffers through the
//! block's own buffer.

use crate::api::gl_format;
use crate::context::context_state::ContextState;
use crate::draw::image_source::ImageSource;
use crate::draw::tools::Tools;
use crate::objects::buffer_object::read_back_buffer;
use crate::objects::transfer::ImageTransfer;
use crate::staging::{Block, GlStaging, ImageBlock};
use interop_core::display::{Bytes, InPlaceDriver, Pixels, Staging, SurfaceDriver};
use interop_core::draw::{Manner, Plan};
use interop_core::{BufferView, Error, HandleType, ImageDesc, ImageView, Region, Result, SharedHandle};
use std::ops::Range;
use std::sync::Arc;

/// An image in a staging block, read by texel index.
pub(crate) struct InPlaceImage {
    tools: Arc<Tools>,
    image: ImageDesc,
    shown: Option<ImageContent>,
}

/// Source of the image. It keeps the block alive.
enum ImageContent {
    Linear { source: ImageSource, block: Arc<Block>, view: ImageView },
    Texture(Arc<ImageBlock>),
}

interop_core::owned!(InPlaceImage: ContextState, "surface", |surface| surface.tools.shared());

impl InPlaceImage {
    pub(crate) fn new(tools: &Arc<Tools>, image: ImageDesc) -> Self {
        Self { tools: Arc::clone(tools), image, shown: None }
    }

    /// Returns the buffer texture, with the position of the image in texels.
    pub(crate) fn source(&self) -> Result<ImageSource> {
        match self.shown.as_ref().ok_or(Error::NothingShown)? {
            ImageContent::Linear { source, .. } => Ok(*source),
            ImageContent::Texture(block) => Ok(block.source()),
        }
    }
}

impl SurfaceDriver<Pixels> for InPlaceImage {
    fn read_back(&mut self, at: &Region) -> Result<Vec<u8>> {
        self.tools.shared().enter()?;
        self.tools.read_back_image(&self.source()?, *at, self.image.format)
    }

    fn draw_back(&mut self, at: &Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        self.tools.shared().enter()?;
        self.tools.draw_back(&self.source()?, *at, plan, manner)
    }
}

impl InPlaceDriver<Pixels> for InPlaceImage {
    fn lend(&self, queue: HandleType) -> Result<Option<(SharedHandle, Option<ImageView>)>> {
        let shown = self.shown.as_ref().ok_or(Error::NothingShown)?;
        Ok(match shown {
            ImageContent::Linear { block, view, .. } => block.lend(queue).map(|handle| (handle, Some(*view))),
            ImageContent::Texture(block) => block.lend(queue, &self.image).map(|handle| (handle, None)),
        })
    }

    fn show_texture(&mut self, staging: &Staging) -> Result<bool> {
        let shared = self.tools.shared();
        shared.enter()?;
        let block = GlStaging::of(staging, shared)?.image();
        self.shown = Some(ImageContent::Texture(Arc::clone(block.ok_or(Error::NothingShown)?)));
        Ok(true)
    }

    fn show(&mut self, staging: &Staging, view: &ImageView) -> Result<()> {
        let shared = self.tools.shared();
        shared.enter()?;
        let staging = GlStaging::of(staging, shared)?;
        shared.caps.in_place_images.clone().ok_or_else(|reason| shared.unsupported(reason))?;
        let Some(texels) = ImageTransfer::new(&view.extent.full(), view).texels() else {
            let bpp = view.format.bytes_per_pixel();
            return Err(Error::refused(format!("offset and row pitch must be multiples of the pixel's {bpp} bytes")));
        };
        let (pixels, limit) = (texels.end, shared.features.max_buffer_texels);
        if pixels > limit {
            return Err(shared.unsupported(format!("{pixels} pixels exceed the {limit} texels of a buffer texture")));
        }
        let block = staging.linear()?;
        let (fetched, decoding) = gl_format::texels(view.format, shared.features.es);
        let texture = block.texture(fetched)?;
        let (base, pitch) = (texels.base, texels.pitch);
        let source = ImageSource { target: glow::TEXTURE_BUFFER, texture, base, pitch, decoding };
        self.shown = Some(ImageContent::Linear { source, block: Arc::clone(block), view: *view });
        Ok(())
    }
}

/// Bytes in a staging block.
pub(crate) struct InPlaceBuffer {
    tools: Arc<Tools>,
    shown: Option<ShownBuffer>,
}

/// The buffer that is shown now. It keeps the block alive.
struct ShownBuffer {
    block: Arc<Block>,
    view: BufferView,
}

interop_core::owned!(InPlaceBuffer: ContextState, "surface", |surface| surface.tools.shared());

impl InPlaceBuffer {
    pub(crate) fn new(tools: &Arc<Tools>) -> Self {
        Self { tools: Arc::clone(tools), shown: None }
    }

    /// Returns the block's buffer and the range in it. From now on the user's shaders may write it.
    pub(crate) fn buffer(&self) -> Result<(glow::Buffer, BufferView)> {
        let shown = self.shown.as_ref().ok_or(Error::NothingShown)?;
        shown.block.expose();
        Ok((shown.block.buffer(), shown.view))
    }
}

impl SurfaceDriver<Bytes> for InPlaceBuffer {
    fn read_back(&mut self, at: &Range<usize>) -> Result<Vec<u8>> {
        let shared = self.tools.shared();
        shared.enter()?;
        let shown = self.shown.as_ref().ok_or(Error::NothingShown)?;
        let start = shown.view.offset + at.start;
        read_back_buffer(shared, shown.block.buffer(), start..start + at.len())
    }
}

impl InPlaceDriver<Bytes> for InPlaceBuffer {
    fn lend(&self, queue: HandleType) -> Result<Option<(SharedHandle, Option<BufferView>)>> {
        let shown = self.shown.as_ref().ok_or(Error::NothingShown)?;
        Ok(shown.block.lend(queue).map(|handle| (handle, Some(shown.view))))
    }

    fn show(&mut self, staging: &Staging, view: &BufferView) -> Result<()> {
        let shared = self.tools.shared();
        shared.enter()?;
        let block = Arc::clone(GlStaging::of(staging, shared)?.linear()?);
        self.shown = Some(ShownBuffer { block, view: *view });
        Ok(())
    }
}
