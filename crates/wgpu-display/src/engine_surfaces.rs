//! An engine's own textures and buffers as surfaces: what it rendered into them is taken, or frames are written into them.

use crate::buffer_copies::{self, Place};
use crate::device_state::DeviceState;
use crate::format::WORD;
use crate::read_back;
use crate::texture_copies;
use crate::tools::Tools;
use interop_core::display::checks::{buffer_source, made_with, range, region};
use interop_core::{Error, HandleType, Part, Result, SharedHandle, Staging, Surface, SurfaceDesc, View};
use std::any::Any;
use std::rc::Rc;
use wgpu::wgt::{BufferTransition, BufferUses, TextureTransition, TextureUses};

/// What wgpu says of an object of which nothing is asked but to be ready for a copy: it may be destroyed, or another device's.
fn probe(shared: &DeviceState, operation: &'static str, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<()> {
    shared.check_alive(operation)?;
    shared.submit(operation, record).map(drop).map_err(|refused| Error::invalid(operation, refused.to_string()))
}

/// An engine's texture.
pub(crate) struct EngineImage {
    desc: SurfaceDesc,
    texture: wgpu::Texture,
    tools: Rc<Tools>,
}

interop_core::owned!(EngineImage: DeviceState, "surface", |surface| &surface.tools.shared);

impl EngineImage {
    /// Over a texture that was checked, if wgpu takes it.
    pub(crate) fn new(
        tools: &Rc<Tools>,
        desc: SurfaceDesc,
        texture: &wgpu::Texture,
        operation: &'static str,
    ) -> Result<Self> {
        let made = Self { desc, texture: texture.clone(), tools: Rc::clone(tools) };
        made.probe(operation).map(|()| made)
    }

    fn needs(&self, usage: wgpu::TextureUsages, name: &str, operation: &'static str) -> Result<()> {
        made_with(self.texture.usage().contains(usage), name, &self.texture.usage(), operation)
    }

    fn probe(&self, operation: &'static str) -> Result<()> {
        let is_read = self.texture.usage().contains(wgpu::TextureUsages::COPY_SRC);
        let state = if is_read { TextureUses::COPY_SRC } else { TextureUses::COPY_DST };
        probe(&self.tools.shared, operation, |encoder| {
            let ready = TextureTransition { texture: &self.texture, selector: None, state };
            encoder.transition_resources(std::iter::empty(), std::iter::once(ready));
        })
    }

    /// Tells an object that is gone from a call that failed.
    fn told<T>(&self, done: Result<T>, operation: &'static str) -> Result<T> {
        if matches!(done, Err(Error::Driver(_))) {
            self.probe(operation)?;
        }
        done
    }
}

impl Surface for EngineImage {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn check_upload(&self) -> Result<()> {
        self.needs(wgpu::TextureUsages::COPY_DST, "COPY_DST", "upload")
    }

    fn check_download(&self) -> Result<()> {
        self.needs(wgpu::TextureUsages::COPY_SRC, "COPY_SRC", "download")
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        self.check_upload()?;
        let done = texture_copies::from_host(&self.tools.shared, &self.texture, &self.desc, at, bytes, view);
        self.told(done, "upload")
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        self.check_upload()?;
        let done = texture_copies::from_staging(&self.tools.shared, &self.texture, &self.desc, at, staging, view);
        self.told(done, "upload_staged")
    }

    fn download(&mut self, part: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        self.check_download()?;
        let done = texture_copies::to_staging(&self.tools, &self.texture, &self.desc, part, staging, view);
        self.told(done, "download")
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        const OP: &str = "read_back";
        self.check_download()?;
        let region = region(&self.desc, part, OP)?;
        let SurfaceDesc::Image(image) = &self.desc else { return Err(Error::invalid(OP, "it is no image")) };
        let bytes = image.format.bytes_per_pixel();
        self.told(read_back::image(&self.tools.shared, region, bytes, |_| self.texture.clone()), OP)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The first bytes of an engine's buffer.
pub(crate) struct EngineBuffer {
    desc: SurfaceDesc,
    buffer: wgpu::Buffer,
    tools: Rc<Tools>,
}

interop_core::owned!(EngineBuffer: DeviceState, "surface", |surface| &surface.tools.shared);

impl EngineBuffer {
    /// Over a buffer that was checked, if wgpu takes it.
    pub(crate) fn new(
        tools: &Rc<Tools>,
        desc: SurfaceDesc,
        buffer: &wgpu::Buffer,
        operation: &'static str,
    ) -> Result<Self> {
        let made = Self { desc, buffer: buffer.clone(), tools: Rc::clone(tools) };
        made.probe(operation).map(|()| made)
    }

    fn needs(&self, usage: wgpu::BufferUsages, name: &str, operation: &'static str) -> Result<()> {
        made_with(self.buffer.usage().contains(usage), name, &self.buffer.usage(), operation)
    }

    fn probe(&self, operation: &'static str) -> Result<()> {
        let is_read = self.buffer.usage().contains(wgpu::BufferUsages::COPY_SRC);
        let state = if is_read { BufferUses::COPY_SRC } else { BufferUses::COPY_DST };
        probe(&self.tools.shared, operation, |encoder| {
            let ready = BufferTransition { buffer: &self.buffer, state };
            encoder.transition_resources(std::iter::once(ready), std::iter::empty());
        })
    }

    fn told<T>(&self, done: Result<T>, operation: &'static str) -> Result<T> {
        if matches!(done, Err(Error::Driver(_))) {
            self.probe(operation)?;
        }
        done
    }

    /// Refuses what is no whole words: the rest of a word is the engine's.
    fn check_words(part: &Part, operation: &'static str) -> Result<()> {
        match part {
            Part::Buffer(range) if [range.start, range.end].iter().any(|at| !(*at as u64).is_multiple_of(WORD)) => {
                Err(Error::invalid(operation, format!("{part} are no whole words of {WORD} bytes")))
            }
            _ => Ok(()),
        }
    }
}

impl Surface for EngineBuffer {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn check_upload(&self) -> Result<()> {
        self.needs(wgpu::BufferUsages::COPY_DST, "COPY_DST", "upload")
    }

    fn check_download(&self) -> Result<()> {
        self.needs(wgpu::BufferUsages::COPY_SRC, "COPY_SRC", "download")
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        const OP: &str = "upload";
        self.check_upload()?;
        Self::check_words(at, OP)?;
        let (to, view) = buffer_source(&self.desc, at, view, bytes.len(), OP)?;
        let shared = &self.tools.shared;
        let done = shared.scoped(OP, || {
            shared.queue.write_buffer(&self.buffer, to.start as u64, &bytes[view.offset..view.offset + view.len]);
            // Else what is written waits, in memory of its own, for whoever submits next.
            shared.queue.submit([]);
        });
        self.told(done, OP)
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "upload_staged";
        self.check_upload()?;
        Self::check_words(at, OP)?;
        let place = |to: &std::ops::Range<u64>| Place { buffer: &self.buffer, bytes: to.clone(), is_end: false };
        self.told(buffer_copies::from_staging(&self.tools, &self.desc, at, staging, view, place), OP)
    }

    fn download(&mut self, part: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "download";
        self.check_download()?;
        Self::check_words(part, OP)?;
        self.told(buffer_copies::to_staging(&self.tools, &self.buffer, &self.desc, part, staging, view), OP)
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        const OP: &str = "read_back";
        self.check_download()?;
        Self::check_words(part, OP)?;
        let range = range(&self.desc, part, OP)?;
        self.told(self.tools.shared.read_buffer(&self.buffer, range, OP), OP)
    }

    /// For kernels in the device's queue, which see all of it.
    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        const OP: &str = "export";
        self.needs(wgpu::BufferUsages::STORAGE, "STORAGE", OP)?;
        let (size, most) = (self.buffer.size(), self.tools.shared.limits.max_storage_buffer_binding_size);
        if self.desc != SurfaceDesc::buffer(size) || size > most {
            let problem =
                format!("kernels have whole buffers of up to {most} bytes; of {size} bytes they would have some");
            return Err(Error::invalid(OP, problem));
        }
        buffer_copies::export(&self.tools.shared, &self.buffer, handle)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
