//! The type [`GlShaders`].

use crate::GlDevice;
use crate::compute::context_thread::ContextThread;
use crate::compute::glsl;
use crate::compute::rows::Rows;
use crate::queue::QueueBuffer;
use crate::queue::program::ComputeProgram;
use crate::queue::semaphore::QueueSemaphore;
use crate::queue::texture::QueueTexture;
use interop_core::compute::zeros;
use interop_core::describe::PlainMutex;
use interop_core::{ComputeSemaphore, ImageDesc, KernelSource, Language, PixelFormat, Region, Result, SharedHandle};
use std::ops::Range;
use std::sync::{Arc, MutexGuard};
use wgsl_kernel::shader::{CopyMethod, ReadSource, Regions, Session, ShaderDevice, ShaderWork, Target, Writes};
use wgsl_kernel::{Dialect, GLSL_NUMBERS, KernelText};

/// A context whose compute shaders run kernels.
pub(crate) struct GlShaders {
    pub device: GlDevice,
    pub session: Session,
    /// Copies between textures and memory.
    pub rows: Rows,
    /// Imported memory whose turns on this side end with the next signal.
    pub written: PlainMutex<Vec<QueueBuffer>>,
    /// Dropped last: the thread of a context of the backend's own.
    pub place: ContextThread,
}

impl GlShaders {
    /// Returns the dialect that the context compiles.
    pub fn dialect(&self) -> Dialect {
        if self.device.is_es() { Dialect::Es } else { Dialect::Desktop }
    }

    /// Locks the list of imported memory whose turns on this side end with the next signal.
    pub fn written(&self) -> MutexGuard<'_, Vec<QueueBuffer>> {
        self.written.lock()
    }

    /// Compiles either a text from `wgsl_kernel`, or its prelude with a text of [`KernelSource::glsl`]. `look` is
    /// called with the program while the context is current.
    pub fn program<R: Send + 'static>(
        &self,
        name: &str,
        glsl: String,
        look: impl FnOnce(&ComputeProgram) -> Result<R> + Send + 'static,
    ) -> Result<(R, Arc<ComputeProgram>)> {
        let device = self.device.clone();
        let built = self.place.run(move || match ComputeProgram::build(&device, &glsl, GLSL_NUMBERS)? {
            Ok(program) => Ok(Ok((look(&program)?, Arc::new(program)))),
            Err(log) => Ok(Err(log)),
        })?;
        built.map_err(|log| self.session.limits.refused(name, log))
    }
}

impl ShaderDevice for GlShaders {
    type Buffer = QueueBuffer;
    type Texture = QueueTexture;
    type Kernel = ();
    type Pipeline = Arc<ComputeProgram>;
    type Mark = ();

    fn session(&self) -> &Session {
        &self.session
    }

    fn semaphore(self: &Arc<Self>, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        let (device, handle) = (self.device.clone(), handle.duplicate_semaphore()?);
        let inner = self.place.run(move || QueueSemaphore::open(&device, handle).map(Arc::new))?;
        Ok(Box::new(GlSemaphore { inner, shaders: Arc::clone(self) }))
    }

    fn finish(&self) -> Result<()> {
        let device = self.device.clone();
        self.place.run(move || device.finish())
    }

    fn read_source(&self, source: &KernelSource) -> Result<Option<ReadSource<Self>>> {
        let Some(text) = source.text(Language::Glsl)? else { return Ok(None) };
        let limits = &self.session.limits;
        let whole = glsl::whole(text, PixelFormat::Rgba8, Writes::Memory, self.dialect());
        let whole = whole.map_err(|error| limits.refused(source.name(), error))?;
        let (shape, program) = self.program(source.name(), whole, |program| program.shape(GLSL_NUMBERS))?;
        let memories = glsl::memories(&shape).map_err(|log| limits.refused(source.name(), log))?;
        let text = KernelText::told(source, Some(text), memories, shape.group, limits)?;
        Ok(Some((text, (), Some(program))))
    }

    fn kernel(&self, _: &KernelText) -> Result<()> {
        Ok(())
    }

    fn pipeline(&self, text: &KernelText, _: &(), format: PixelFormat, writes: Writes) -> Result<Self::Pipeline> {
        let glsl = match (text.foreign(), writes) {
            (Some(shader), _) => glsl::whole(shader, format, writes, self.dialect()),
            (None, Writes::Memory) => text.glsl(format, self.dialect()),
            (None, Writes::Texture) => text.glsl_of_texture(format, self.dialect()),
        };
        let glsl = glsl.map_err(|error| self.session.limits.refused(text.name(), error))?;
        self.program(text.name(), glsl, |_| Ok(())).map(|((), program)| program)
    }

    fn launch(&self, work: &ShaderWork<'_, Self>) -> Result<()> {
        let reads = work.reads.iter().copied();
        // A program that stores to a texture has no storage block for it, so any buffer may be bound there.
        let (target, texture) = match work.target {
            Target::Memory(memory) => (Some(memory), None),
            Target::Texture(texture) => (reads.clone().next(), Some(texture.bound(glow::WRITE_ONLY)?)),
        };
        let all: Vec<_> = target.into_iter().chain(reads).cloned().collect();
        let (program, launch) = (Arc::clone(work.pipeline), work.launch.clone());
        self.place.run(move || {
            let all: Vec<_> = all.iter().collect();
            // SAFETY: for a program from `wgsl_kernel`, each index is limited to the indexed object, which is at least
            // as large as the text declares, and its only blocks are bound. For a text of the user, the user vouches
            // for the indices, and the driver reported the blocks.
            unsafe { program.run(&all, texture, launch.words(), launch.groups) }
        })
    }

    fn allocate(&self, bytes: usize) -> Result<QueueBuffer> {
        let device = self.device.clone();
        self.place.run(move || QueueBuffer::new(&device, bytes))
    }

    fn open(&self, handle: &SharedHandle, bytes: usize) -> Result<QueueBuffer> {
        if let SharedHandle::QueueBuffer { .. } = handle {
            return QueueBuffer::lent(&self.device, handle, bytes);
        }
        let (device, handle) = (self.device.clone(), handle.duplicate_memory()?);
        self.place.run(move || QueueBuffer::opened(&device, handle, bytes))
    }

    fn share(&self, buffer: &QueueBuffer) -> Result<SharedHandle> {
        Ok(buffer.to_handle())
    }

    fn bytes(&self, buffer: &QueueBuffer, range: Range<usize>) -> Result<Vec<u8>> {
        let (buffer, mut bytes) = (buffer.clone(), zeros(range.len())?);
        self.place.run(move || buffer.read(range.start, &mut bytes).map(|()| bytes))
    }

    fn read(&self, buffer: &QueueBuffer, offset: usize, into: &mut [u8]) -> Result<()> {
        if let ContextThread::Callers = self.place {
            return buffer.read(offset, into);
        }
        into.copy_from_slice(&self.bytes(buffer, offset..offset + into.len())?);
        Ok(())
    }

    fn write(&self, buffer: &QueueBuffer, offset: usize, from: &[u8]) -> Result<()> {
        if let ContextThread::Callers = self.place {
            return buffer.write(offset, from);
        }
        let (buffer, mut bytes) = (buffer.clone(), zeros(from.len())?);
        bytes.copy_from_slice(from);
        self.place.run(move || buffer.write(offset, &bytes))
    }

    fn copy(&self, from: &QueueBuffer, to: &QueueBuffer, range: Range<usize>) -> Result<()> {
        let (from, to) = (from.clone(), to.clone());
        self.place.run(move || to.copy_from(&from, range.clone(), range.start))
    }

    fn release(&self, _: &QueueBuffer, _: Option<()>) -> Result<()> {
        self.finish()
    }

    fn release_in_queue(&self, buffer: &QueueBuffer) -> Result<()> {
        if buffer.is_opened() {
            let mut written = self.written();
            // A turn whose signal failed is ended again.
            if !written.iter().any(|other| other.is(buffer)) {
                written.push(buffer.clone());
            }
        }
        Ok(())
    }

    fn texture(&self, handle: &SharedHandle, desc: &ImageDesc) -> Result<QueueTexture> {
        QueueTexture::open(&self.device, handle, desc.extent)
    }

    fn stores_only(texture: &QueueTexture) -> bool {
        texture.stores_only()
    }

    fn copy_rows(
        &self,
        method: CopyMethod,
        (texture, region, format): (&QueueTexture, Region, PixelFormat),
        (memory, first, pitch): (&QueueBuffer, usize, usize),
    ) -> Result<()> {
        self.rows.copy((texture, region), (memory, [first, pitch]), format, method)
    }

    fn copy_image(&self, from: &QueueTexture, to: &QueueTexture, regions: &Regions) -> Result<bool> {
        regions.iter().try_for_each(|(_, region)| to.copy_from(from, *region)).map(|()| true)
    }
}

/// The backend's end of a semaphore.
struct GlSemaphore {
    inner: Arc<QueueSemaphore>,
    shaders: Arc<GlShaders>,
}

impl ComputeSemaphore for GlSemaphore {
    fn signal(&mut self, value: u64) -> Result<()> {
        let (inner, shaders) = (Arc::clone(&self.inner), Arc::clone(&self.shaders));
        // Taken on the thread that calls OpenGL: one signal covers everything written before it, whichever thread
        // requests it first.
        self.shaders.place.run(move || {
            let written = std::mem::take(&mut *shaders.written());
            inner.signal(value, &written)
        })
    }

    fn wait(&mut self, value: u64) -> Result<()> {
        let inner = Arc::clone(&self.inner);
        self.shaders.place.run(move || inner.wait(value))
    }
}
