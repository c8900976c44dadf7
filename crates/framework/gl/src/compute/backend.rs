//! The type [`GlBackend`].

use crate::compute::context_thread::{ContextThread, Worker};
use crate::compute::device::GlShaders;
use crate::compute::rows::Rows;
use crate::queue::QueueBuffer;
use crate::{EsContext, GlDevice, GlDisplay, HeadlessOptions};
use interop_core::describe::PlainMutex;
use interop_core::describe::error::call;
use interop_core::{
    ComputeCaps, HandleType, Language, MemoryCap, MemoryShape, PixelFormat, RawMemory, RawTarget, Result, Support, View,
};
use wgsl_kernel::Limits;
use wgsl_kernel::shader::{MemorySide, Session, ShaderBackend};

/// A compute backend in an OpenGL context. See the crate's documentation.
pub struct GlBackend(ShaderBackend<GlShaders>);

wgsl_kernel::shader_backend!(GlBackend, |display: &GlDisplay| Self::on(display), Self::names);

impl GlBackend {
    /// Creates a backend that computes in the display's context, in its queue.
    ///
    /// # Errors
    /// [`interop_core::Error::WrongContext`] where the context is not current on this thread;
    /// [`interop_core::Error::Unsupported`] below OpenGL 4.3 and OpenGL ES 3.1, where no window system knows the
    /// context, and where its compute shaders do not build.
    pub fn on(display: &GlDisplay) -> Result<Self> {
        call("GlBackend::on", || {
            let device = display.shared_device()?;
            let lent = |shape| MemoryCap::new(HandleType::QueueBuffer(device.queue_id()), shape, Support::Yes);
            // Image units of OpenGL ES support few formats, and writes only.
            let textures = (!device.is_es()).then(|| lent(MemoryShape::Image));
            let linear = lent(MemoryShape::Linear);
            let imports = [linear.clone()].into_iter().chain(textures).collect();
            Self::with(device, ContextThread::Callers, vec![linear], imports)
        })
    }

    /// Creates a backend with a context and a thread of its own, so calls work on any thread. Frames reach other
    /// displays of the GPU in memory that those export. [`open_in`](interop_core::ComputeBackend::open_in) returns this
    /// device in the queue of an OpenGL display.
    ///
    /// # Errors
    /// The errors of [`GlDisplay::headless`]; [`interop_core::Error::Unsupported`] below OpenGL 4.3.
    pub fn open(options: &HeadlessOptions) -> Result<Self> {
        let options = options.clone();
        call("GlBackend::open", || {
            Self::apart(move || {
                let display = GlDisplay::headless(options)?;
                let device = display.shared_device()?;
                Ok((display, device))
            })
        })
    }

    /// Creates a backend with its own context of OpenGL ES (3.1 or later), through EGL.
    ///
    /// # Errors
    /// The errors of [`EsContext::headless`]; [`interop_core::Error::Unsupported`] where its compute shaders do not
    /// build.
    pub fn open_es(options: &HeadlessOptions) -> Result<Self> {
        let options = options.clone();
        call("GlBackend::open_es", || {
            Self::apart(move || {
                let context = EsContext::headless(&options)?;
                let device = context.device().clone();
                Ok((context, device))
            })
        })
    }

    /// Implements [`interop_core::ComputeBackend::raw`].
    fn names<'a>(&self, memory: MemorySide<'a, GlShaders>, view: View) -> Result<RawTarget<'a>> {
        let shaders = self.0.device();
        let raw = match (memory, &shaders.place) {
            (MemorySide::Image(image), _) => {
                let at = image.rows().place(&view)?;
                let ((row, step), (texture, level)) = (at.first_row(), image.texture().names()?);
                RawMemory::GlTexture { texture, level, first: (at.region.x, row), step }
            }
            (MemorySide::Linear(memory), ContextThread::Callers) => RawMemory::Gl { buffer: memory.buffer().id()? },
            (MemorySide::Linear(_), ContextThread::Own(_)) => {
                let reason = "its context is current on a thread of its own; use GlBackend::on(&display)";
                return Err(shaders.device.unsupported(reason));
            }
        };
        // SAFETY: the target lies inside the memory, which keeps its buffer for as long as it is borrowed, or inside
        // the texture, which its surface keeps for as long as the path that borrows both.
        Ok(unsafe { RawTarget::new(raw, view) })
    }

    /// Runs the backend on a thread of its own, which keeps the owner of the context.
    fn apart<K: 'static>(make: impl FnOnce() -> Result<(K, GlDevice)> + Send + 'static) -> Result<Self> {
        let (worker, device) = Worker::start(make)?;
        Self::with(device, ContextThread::Own(worker), Vec::new(), Vec::new())
    }

    fn with(device: GlDevice, place: ContextThread, exports: Vec<MemoryCap>, imports: Vec<MemoryCap>) -> Result<Self> {
        let limits = device.limits();
        let (opened, semaphores) = device.opener().caps();
        let imports = imports.into_iter().chain(opened).collect();
        let caps =
            ComputeCaps::new(vec![Language::Glsl, Language::Wgsl], QueueBuffer::MOST_BYTES.min(limits.buffer_bytes))
                .with_allocation_limit("GL_MAX_SHADER_STORAGE_BLOCK_SIZE")
                .with_exports(exports)
                .with_imports(imports)
                .with_semaphores(semaphores)
                .with_serves_its_queue(true)
                .with_image_formats(PixelFormat::ALL);
        let identity = device.identity().clone();
        let limits = Limits::new(&identity, limits.storage_blocks, limits.groups, limits.group_items);
        let session = Session { identity, caps, limits };
        ShaderBackend::new(GlShaders { device, session, rows: Rows::default(), written: PlainMutex::default(), place })
            .map(Self)
    }
}
