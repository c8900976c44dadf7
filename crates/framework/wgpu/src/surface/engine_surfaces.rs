//! An engine's own textures and buffers as surfaces: kernels read the engine's output, or write frames into them.

use crate::context::device_state::DeviceState;
use crate::context::format::WORD;
use crate::context::queue_texture::QueueTexture;
use crate::context::read_back;
use crate::draw::tools::Tools;
use crate::surface::buffer_copies::{self, CopyTarget};
use crate::surface::texture_copies;
use interop_core::display::checks::made_with;
use interop_core::display::{Bytes, Content as _, Pixels, StoredDriver, SurfaceDriver};
use interop_core::{BufferView, Error, HandleType, ImageView, PixelFormat, Region, Result, SharedHandle, Staging};
use std::ops::Range;
use std::sync::Arc;
use wgpu::wgt::{BufferTransition, BufferUses, TextureTransition, TextureUses};

/// Asks wgpu only to prepare an object for a copy, which detects an object that was destroyed or belongs to another
/// device.
fn probe(shared: &DeviceState, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<()> {
    shared.check_alive()?;
    shared.submit(record).map(drop).map_err(|refused| Error::refused(refused.to_string()))
}

/// An engine's texture.
pub(crate) struct EngineImage {
    format: PixelFormat,
    texture: wgpu::Texture,
    tools: Arc<Tools>,
}

interop_core::owned!(EngineImage: DeviceState, "surface", |surface| &surface.tools.shared);

impl EngineImage {
    /// Wraps a texture that was checked, if wgpu accepts it.
    pub(crate) fn new(tools: &Arc<Tools>, format: PixelFormat, texture: &wgpu::Texture) -> Result<Self> {
        let made = Self { format, texture: texture.clone(), tools: Arc::clone(tools) };
        made.probe().map(|()| made)
    }

    fn needs(&self, usage: wgpu::TextureUsages, name: &str) -> Result<()> {
        made_with(self.texture.usage().contains(usage), name, &self.texture.usage())
    }

    fn probe(&self) -> Result<()> {
        let is_read = self.texture.usage().contains(wgpu::TextureUsages::COPY_SRC);
        let state = if is_read { TextureUses::COPY_SRC } else { TextureUses::COPY_DST };
        probe(&self.tools.shared, |encoder| {
            let ready = TextureTransition { texture: &self.texture, selector: None, state };
            encoder.transition_resources(std::iter::empty(), std::iter::once(ready));
        })
    }

    /// Distinguishes a destroyed object from a failed call.
    fn told<T>(&self, done: Result<T>) -> Result<T> {
        if matches!(done, Err(Error::Driver(_))) {
            self.probe()?;
        }
        done
    }
}

impl SurfaceDriver<Pixels> for EngineImage {
    fn read_back(&mut self, at: &Region) -> Result<Vec<u8>> {
        let bytes = self.format.bytes_per_pixel();
        self.told(read_back::image(&self.tools.shared, *at, bytes, |_| self.texture.clone()))
    }
}

impl StoredDriver<Pixels> for EngineImage {
    fn check_upload(&self) -> Result<()> {
        self.needs(wgpu::TextureUsages::COPY_DST, "COPY_DST")
    }

    fn check_download(&self) -> Result<()> {
        self.needs(wgpu::TextureUsages::COPY_SRC, "COPY_SRC")
    }

    fn upload(&mut self, at: &Region, bytes: &[u8], view: &ImageView) -> Result<()> {
        self.told(texture_copies::from_host(&self.tools.shared, &self.texture, *at, bytes, view))
    }

    fn upload_staged(&mut self, at: &Region, staging: &mut Staging, view: &ImageView) -> Result<()> {
        let done = texture_copies::from_staging(&self.tools.shared, &self.texture, *at, staging, view);
        self.told(done)
    }

    fn downloads(&self, _: &Staging) -> bool {
        true
    }

    fn download(&mut self, at: &Region, staging: &mut Staging, view: &ImageView) -> Result<()> {
        self.told(texture_copies::to_staging(&self.tools, &self.texture, *at, staging, view))
    }

    /// Exports a handle for kernels in the device's queue.
    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        Ok(QueueTexture::over(&self.tools.shared, &self.texture, true, false)?.export(handle))
    }
}

/// The first bytes of an engine's buffer.
pub(crate) struct EngineBuffer {
    bytes: usize,
    buffer: wgpu::Buffer,
    tools: Arc<Tools>,
}

interop_core::owned!(EngineBuffer: DeviceState, "surface", |surface| &surface.tools.shared);

impl EngineBuffer {
    /// Wraps a buffer that was checked, if wgpu accepts it.
    pub(crate) fn new(tools: &Arc<Tools>, bytes: usize, buffer: &wgpu::Buffer) -> Result<Self> {
        let made = Self { bytes, buffer: buffer.clone(), tools: Arc::clone(tools) };
        made.probe().map(|()| made)
    }

    fn needs(&self, usage: wgpu::BufferUsages, name: &str) -> Result<()> {
        made_with(self.buffer.usage().contains(usage), name, &self.buffer.usage())
    }

    fn probe(&self) -> Result<()> {
        let is_read = self.buffer.usage().contains(wgpu::BufferUsages::COPY_SRC);
        let state = if is_read { BufferUses::COPY_SRC } else { BufferUses::COPY_DST };
        probe(&self.tools.shared, |encoder| {
            let ready = BufferTransition { buffer: &self.buffer, state };
            encoder.transition_resources(std::iter::once(ready), std::iter::empty());
        })
    }

    fn told<T>(&self, done: Result<T>) -> Result<T> {
        if matches!(done, Err(Error::Driver(_))) {
            self.probe()?;
        }
        done
    }

    /// Checks for whole words: the rest of a word belongs to the engine.
    fn check_words(at: &Range<usize>) -> Result<()> {
        if [at.start, at.end].iter().all(|at| (*at as u64).is_multiple_of(WORD)) {
            return Ok(());
        }
        Err(Error::refused(format!("{} are not whole words of {WORD} bytes", Bytes::part(at))))
    }
}

impl SurfaceDriver<Bytes> for EngineBuffer {
    fn read_back(&mut self, at: &Range<usize>) -> Result<Vec<u8>> {
        Self::check_words(at)?;
        self.told(self.tools.shared.read_buffer(&self.buffer, at.start as u64..at.end as u64))
    }
}

impl StoredDriver<Bytes> for EngineBuffer {
    fn check_upload(&self) -> Result<()> {
        self.needs(wgpu::BufferUsages::COPY_DST, "COPY_DST")
    }

    fn check_download(&self) -> Result<()> {
        self.needs(wgpu::BufferUsages::COPY_SRC, "COPY_SRC")
    }

    fn upload(&mut self, at: &Range<usize>, bytes: &[u8], view: &BufferView) -> Result<()> {
        Self::check_words(at)?;
        let shared = &self.tools.shared;
        let done = shared.scoped(|| {
            shared.queue.write_buffer(&self.buffer, at.start as u64, &bytes[view.offset..view.offset + view.len]);
            // Otherwise the written bytes wait, in memory of their own, for the next submission.
            shared.queue.submit([]);
        });
        self.told(done)
    }

    fn upload_staged(&mut self, at: &Range<usize>, staging: &mut Staging, view: &BufferView) -> Result<()> {
        Self::check_words(at)?;
        let place = CopyTarget { buffer: &self.buffer, bytes: at.start as u64..at.end as u64, is_end: false };
        self.told(buffer_copies::from_staging(&self.tools, &place, staging, view))
    }

    fn downloads(&self, _: &Staging) -> bool {
        true
    }

    fn download(&mut self, at: &Range<usize>, staging: &mut Staging, view: &BufferView) -> Result<()> {
        Self::check_words(at)?;
        self.told(buffer_copies::to_staging(&self.tools, (&self.buffer, at.start), staging, view))
    }

    /// Exports a handle for kernels in the device's queue, which can access the whole buffer.
    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        self.needs(wgpu::BufferUsages::STORAGE, "STORAGE")?;
        let (size, most) = (self.buffer.size(), self.tools.shared.limits.max_storage_buffer_binding_size);
        if self.bytes as u64 != size || size > most {
            let problem =
                format!("kernels need whole buffers of up to {most} bytes; this is {} of {size} bytes", self.bytes);
            return Err(Error::refused(problem));
        }
        Ok(buffer_copies::export(&self.tools.shared, &self.buffer, handle))
    }
}
