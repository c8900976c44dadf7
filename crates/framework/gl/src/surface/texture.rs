//! Image surfaces with storage of their own: 2-D textures.

use crate::api::gl_format::{GlFormat, gl_format};
use crate::api::host_state::UPLOADS;
use crate::context::context_state::ContextState;
use crate::context::owned_object::ObjectRef;
use crate::draw::image_source::ImageSource;
use crate::draw::tools::Tools;
use crate::objects::attachment::StoreFormat;
use crate::objects::call_check::CallCheck;
use crate::objects::framebuffer::zero_texture;
use crate::objects::state_guards::Unpack;
use crate::objects::texture_object::{create_texture, set_order, sub_image};
use crate::objects::transfer::{ImageTransfer, Texels};
use crate::queue::texture::TextureHandle;
use crate::staging::GlStaging;
use crate::surface::download::{ReadTarget, read_level};
use crate::surface::engine_level::{EngineTexture, Level};
use glow::PixelUnpackData;
use interop_core::display::{Pixels, Staging, StoredDriver, SurfaceDriver};
use interop_core::draw::{Manner, Plan};
use interop_core::{Error, HandleType, ImageDesc, ImageView, Region, Result, SharedHandle};
use std::sync::Arc;

/// A texture of one level.
pub(crate) struct TextureSurface {
    tools: Arc<Tools>,
    image: ImageDesc,
    format: GlFormat,
    texture: ObjectRef<glow::Texture>,
    uploads: CallCheck,
    staged_uploads: CallCheck,
    device_copies: CallCheck,
    /// Holders of the texture use it to detect that the surface still exists.
    owner: Arc<()>,
}

/// Splits a transfer into single rows, for pitches that GL cannot express: (region, byte at which the row starts).
fn single_rows(transfer: ImageTransfer) -> impl Iterator<Item = (Region, usize)> {
    let ImageTransfer { at, view, .. } = transfer;
    (0..at.height).map(move |y| (Region { y: at.y + y, height: 1, ..at }, view.row_start(y)))
}

interop_core::owned!(TextureSurface: ContextState, "surface", |surface| surface.shared());

impl TextureSurface {
    pub(crate) fn new(tools: &Arc<Tools>, image: &ImageDesc) -> Result<Self> {
        let shared = tools.shared();
        let format = gl_format(image.format);
        let texture = create_texture(shared, image.extent.width, image.extent.height, format)?;
        set_order(shared, texture.get(), format)?;
        zero_texture(shared, texture.get())?;
        Ok(Self {
            tools: Arc::clone(tools),
            image: *image,
            format,
            texture: ObjectRef::Ours(texture),
            uploads: CallCheck::default(),
            staged_uploads: CallCheck::default(),
            device_copies: CallCheck::default(),
            owner: Arc::default(),
        })
    }

    /// Wraps level 0 of an engine's texture, which has this size and format.
    pub(crate) fn over(tools: &Arc<Tools>, image: &ImageDesc, texture: glow::Texture) -> Self {
        Self {
            tools: Arc::clone(tools),
            image: *image,
            format: gl_format(image.format),
            texture: ObjectRef::Engines(texture),
            uploads: CallCheck::default(),
            staged_uploads: CallCheck::default(),
            device_copies: CallCheck::default(),
            owner: Arc::default(),
        }
    }

    /// Returns the texture after querying the driver, because an engine may have replaced its own.
    fn level(&self) -> Result<Level> {
        let of = EngineTexture::new(self.texture.get().0.get(), self.image.extent);
        match self.texture {
            ObjectRef::Engines(_) => Level::of_pixels(&self.tools, of, self.image.format),
            ObjectRef::Ours(_) => Ok(Level { texture: self.texture.get(), level: 0, format: self.format.internal }),
        }
    }

    fn shared(&self) -> &Arc<ContextState> {
        self.tools.shared()
    }

    /// Returns the handle with which kernels in the context store to it.
    fn to_queue(&self) -> Result<TextureHandle> {
        let level = self.level()?;
        let takes = matches!(self.texture, ObjectRef::Ours(_)) || level.takes_stores(self.shared());
        let format = StoreFormat::of(level.format).filter(|_| takes);
        let format = format.ok_or_else(|| level.refuse("shaders cannot store to it"))?;
        let (extent, owner) = (self.image.extent, Arc::downgrade(&self.owner));
        Ok(TextureHandle {
            texture: level.texture,
            level: level.level,
            layer: 0,
            format,
            extent,
            stores_only: false,
            owner,
        })
    }

    pub(crate) fn source(&self) -> ImageSource {
        ImageSource::texture(self.texture.get())
    }
}

impl SurfaceDriver<Pixels> for TextureSurface {
    fn read_back(&mut self, at: &Region) -> Result<Vec<u8>> {
        self.shared().enter()?;
        let (region, format) = (*at, self.image.format);
        if matches!(self.texture, ObjectRef::Engines(_)) {
            // Returns the stored numbers, whatever a draw's swizzle and encoding would make of them.
            let mut bytes = vec![0; region.width as usize * region.height as usize * format.bytes_per_pixel()];
            read_level(&self.tools, &self.level()?, region, self.format, ReadTarget::Client(&mut bytes))?;
            return Ok(bytes);
        }
        self.tools.read_back_image(&self.source(), region, format)
    }

    fn draw_back(&mut self, at: &Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        self.shared().enter()?;
        self.tools.draw_back(&self.source(), *at, plan, manner)
    }
}

impl StoredDriver<Pixels> for TextureSurface {
    fn upload(&mut self, at: &Region, bytes: &[u8], view: &ImageView) -> Result<()> {
        let shared = self.shared();
        shared.enter()?;
        shared.check_host(UPLOADS)?;
        let transfer = ImageTransfer::new(at, view);
        let (texture, format) = (self.level()?.texture, self.format);
        let upload = || {
            let _unpack = Unpack::set(shared, transfer.row_length.unwrap_or(0), None);
            if transfer.row_length.is_some() {
                let data = &bytes[transfer.view.span()];
                sub_image(shared, texture, transfer.at, format, PixelUnpackData::Slice(Some(data)));
            } else {
                for (y, (row, _)) in single_rows(transfer).enumerate() {
                    let data = &bytes[transfer.view.row(y as u32)];
                    sub_image(shared, texture, row, format, PixelUnpackData::Slice(Some(data)));
                }
            }
        };
        self.tools.timed("upload", || self.uploads.run(shared, "glTexSubImage2D", upload))
    }

    fn upload_staged(&mut self, at: &Region, staging: &mut Staging, view: &ImageView) -> Result<()> {
        let shared = self.shared();
        shared.enter()?;
        shared.check_host(UPLOADS)?;
        let block = Arc::clone(GlStaging::of(staging, shared)?.linear()?);
        let transfer = ImageTransfer::new(at, view);
        let channel = transfer.view.format.channel_kind().bytes();
        if !transfer.view.offset.is_multiple_of(channel)
            || (transfer.row_length.is_none() && !transfer.view.pitch().is_multiple_of(channel))
        {
            return Err(Error::refused(format!("offset and row pitch must be multiples of {channel} bytes")));
        }
        let (level, format) = (self.level()?, self.format);
        let texture = level.texture;
        // Texels beyond the limit cannot be fetched.
        let within = |texels: &Texels| texels.end <= shared.features.max_buffer_texels;
        if block.is_device_memory()
            && let Some(from) = transfer.texels().filter(within)
            && let Some(copier) = self.tools.device_copy()
            && (matches!(self.texture, ObjectRef::Ours(_)) || level.takes_stores(shared))
        {
            let source = block.texture(format.integers)?;
            let upload = || copier.copy(shared, source, from, texture, transfer.at, format);
            return self.tools.timed("upload", || self.device_copies.run(shared, "glDispatchCompute", upload));
        }
        let upload = || {
            let _unpack = Unpack::set(shared, transfer.row_length.unwrap_or(0), Some(block.buffer()));
            // Blocks are no larger than 2^31 - 1 bytes, so offsets fit.
            let offset = |byte: usize| PixelUnpackData::BufferOffset(byte as u32);
            if transfer.row_length.is_some() {
                sub_image(shared, texture, transfer.at, format, offset(transfer.view.offset));
            } else {
                for (row, start) in single_rows(transfer) {
                    sub_image(shared, texture, row, format, offset(start));
                }
            }
        };
        self.tools.timed("upload", || self.staged_uploads.run(shared, "glTexSubImage2D", upload))
    }

    fn downloads(&self, _: &Staging) -> bool {
        true
    }

    fn download(&mut self, at: &Region, staging: &mut Staging, view: &ImageView) -> Result<()> {
        let shared = self.shared();
        shared.enter()?;
        let ImageTransfer { at, view, row_length } = ImageTransfer::new(at, view);
        let Some(row_length) = row_length else {
            return Err(Error::refused("the row pitch must be a multiple of the pixel's size"));
        };
        let level = self.level()?;
        let block = GlStaging::of(staging, shared)?.linear()?;
        let into = ReadTarget::Buffer { buffer: block.buffer(), offset: view.offset, row_length };
        self.tools.timed("download", || read_level(&self.tools, &level, at, self.format, into))
    }

    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        self.shared().enter()?;
        if let HandleType::QueueBuffer(queue) = handle
            && self.shared().queue_handle() == Some(handle)
        {
            return Ok(Some(SharedHandle::QueueBuffer { queue, buffer: Box::new(Arc::new(self.to_queue()?)) }));
        }
        if handle != HandleType::GlObject {
            return Ok(None);
        }
        Ok(Some(SharedHandle::GlTexture { name: self.level()?.texture.0.get(), target: glow::TEXTURE_2D }))
    }
}
