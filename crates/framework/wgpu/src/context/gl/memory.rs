//! Mapped or shared OpenGL memory, as buffers and textures of wgpu.

use super::{Api, Gl, absent};
use crate::context::device_state::DeviceState;
use crate::context::format::{hal_texture_descriptor, texture_descriptor, texture_format, whole_words};
use crate::context::kept_memory::{KeptMemory, Object};
use interop_core::{
    Display as _, Error, HandleType, ImageDesc, ImageView, Result, SharedHandle, Staging, StagingKind, SurfaceDesc,
    View,
};
use pixelferry_gl::GlDisplay;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A staging block of `pixelferry-gl`, kept until wgpu has released it.
pub(crate) struct Memory {
    staging: Staging,
    name: NonZeroU32,
    /// Description of the image, if the memory is a texture.
    image: Option<ImageDesc>,
}

impl Memory {
    /// Creates a block. The context must be current.
    fn new(display: &Arc<GlDisplay>, kind: StagingKind, bytes: usize) -> Result<Self> {
        let image = match &kind {
            StagingKind::ExternalImage(_, image) | StagingKind::ExportedImage(image) => Some(*image),
            _ => None,
        };
        let staging = display.create_staging(kind, bytes)?;
        // A handle of the block carries its OpenGL name.
        let (desc, view) = match image {
            Some(image) => {
                let view = ImageView::packed(image.extent, image.format, 1, 0, false)?;
                (SurfaceDesc::Image(image), View::Image(view))
            }
            None => {
                (SurfaceDesc::buffer(bytes as u64), View::Buffer(interop_core::BufferView { offset: 0, len: bytes }))
            }
        };
        let mut surface = display.create_in_place_surface(&desc)?;
        surface.read_in_place(&staging, &view)?;
        let name = match image {
            Some(_) => display.surface_texture(&surface)?.name.0,
            None => display.surface_buffer(&surface)?.name.0,
        };
        Ok(Self { staging, name, image })
    }

    /// Returns a handle by which other APIs open it.
    pub(crate) fn export(&self, gl: &Gl, handle: HandleType) -> Result<SharedHandle> {
        gl.within(|_| self.staging.export(handle))
    }
}

impl Gl {
    /// Creates a block of at least this many bytes, in whole words.
    pub(crate) fn create(
        self: &Arc<Self>,
        shared: &DeviceState,
        kind: StagingKind,
        bytes: usize,
    ) -> Result<KeptMemory<Arc<Memory>>> {
        let size = whole_words(bytes as u64);
        let whole = usize::try_from(size).map_err(|e| Error::refused(e.to_string()))?;
        let memory = Arc::new(self.within(|display| Memory::new(display, kind, whole))?);
        let reader = Arc::new(());
        self.read.lock().push((Arc::downgrade(&reader), Arc::clone(&memory)));
        // From here on, wgpu or the error path drops `reader`, and the memory is then collected.
        let object = match memory.image {
            Some(image) => Object::Texture(self.wrap_texture(shared, memory.name, &image, reader)?, image),
            None => Object::Buffer(self.wrap_buffer(shared, memory.name, size, reader)?),
        };
        // The memory is dropped before its context, which deletes it.
        let host = memory.staging.host_block().map(|block| block.keeping(Arc::<Self>::clone(self)));
        Ok(KeptMemory { object, host, keeper: Some(memory) })
    }

    fn wrap_buffer(&self, shared: &DeviceState, name: NonZeroU32, size: u64, reader: Arc<()>) -> Result<wgpu::Buffer> {
        use wgpu::{BufferUsages as Usage, wgt::BufferUses as Uses};
        let (usage, uses) = match shared.index_buffers {
            true => (Usage::INDEX, Uses::INDEX),
            false => (Usage::empty(), Uses::empty()),
        };
        let storage = Uses::STORAGE_READ_ONLY | Uses::STORAGE_READ_WRITE;
        let descriptor = wgpu::BufferDescriptor {
            label: Some("pixelferry shared memory"),
            size,
            usage: Usage::STORAGE | Usage::VERTEX | Usage::COPY_SRC | Usage::COPY_DST | usage,
            mapped_at_creation: false,
        };
        let same = wgpu::hal::BufferDescriptor {
            label: descriptor.label,
            size,
            usage: storage | Uses::VERTEX | Uses::COPY_SRC | Uses::COPY_DST | uses,
            memory_flags: wgpu::hal::MemoryFlags::empty(),
        };
        let buffer = shared.scoped(|| {
            // SAFETY: the buffer is of this device's context and has at least `size` bytes; it lives until wgpu lets go of
            // `reader`, and wgpu does not map it.
            unsafe {
                let hal = shared.device.as_hal::<Api>()?.buffer_from_raw(name, &same, Some(Box::new(|| drop(reader))));
                Some(shared.device.create_buffer_from_hal::<Api>(hal, &descriptor))
            }
        })?;
        buffer.ok_or_else(|| absent(&self.identity, "the device's API is not OpenGL"))
    }

    fn wrap_texture(
        &self,
        shared: &DeviceState,
        name: NonZeroU32,
        image: &ImageDesc,
        reader: Arc<()>,
    ) -> Result<wgpu::Texture> {
        use wgpu::wgt::TextureUses as Uses;
        let (width, height, format) = (image.extent.width, image.extent.height, texture_format(image.format));
        let descriptor = texture_descriptor(width, height, format, shared.texture_usage(format));
        let drawn_to = if shared.is_drawn_to(format) { Uses::COLOR_TARGET } else { Uses::empty() };
        let uses = Uses::RESOURCE | Uses::COPY_SRC | Uses::COPY_DST | drawn_to;
        let same = hal_texture_descriptor(&descriptor, uses);
        let texture = shared.scoped(|| {
            // SAFETY: the texture is of this device's context and was made as both descriptors say; it lives until wgpu
            // lets go of `reader`. OpenGL knows no layouts, so it is ready to be read.
            unsafe {
                let hal = shared.device.as_hal::<Api>()?.texture_from_raw(name, &same, Some(Box::new(|| drop(reader))));
                Some(shared.device.create_texture_from_hal::<Api>(hal, &descriptor, Uses::RESOURCE))
            }
        })?;
        texture.ok_or_else(|| absent(&self.identity, "the device's API is not OpenGL"))
    }
}
