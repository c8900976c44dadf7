//! [`GlBackend`].

use crate::compute::image::GlImage;
use crate::compute::kernel::GlKernel;
use crate::compute::memory::GlMemory;
use crate::compute::place::{Place, Worker};
use crate::compute::rows::Rows;
use crate::compute::semaphore::GlSemaphore;
use crate::compute::session::{Program, Session, dialect};
use crate::queue::QueueBuffer;
use crate::{EsContext, GlDevice, GlDisplay, HeadlessOptions};
use interop_core::compute::{BackendDriver, Checked};
use interop_core::describe::error::call;
use interop_core::describe::pattern::Pattern;
use interop_core::devices::owned::{find, own, own_mut};
use interop_core::{
    Arg, ComputeBackend, ComputeCaps, ComputeMemory, ComputeSemaphore, DeviceIdentity, Display, HandleType, Kernel,
    KernelSource, Language, MemoryCap, MemoryShape, PixelFormat, RawMemory, RawTarget, Result, SharedHandle, Support,
    SurfaceDesc, Target, View,
};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use wgsl_kernel::{FLAT, Limits, PATTERN, PatternEntry, flat_color, pattern};

/// A context that computes. See the crate.
pub struct GlBackend {
    session: Arc<Session>,
    /// The pattern's kernel for rows of whole words.
    pattern: Arc<Program>,
    /// The pattern's other kernels, which are built when they are first needed.
    patterns: Mutex<Vec<(PatternEntry, Arc<Program>)>>,
    /// Stores one colour, as programs' kernels store.
    flat: OnceLock<GlKernel>,
}

impl GlBackend {
    fn pattern(&self, entry: PatternEntry) -> Result<Arc<Program>> {
        if entry == PatternEntry::Words {
            return Ok(Arc::clone(&self.pattern));
        }
        let mut others = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, program)) = others.iter().find(|(other, _)| *other == entry) {
            return Ok(Arc::clone(program));
        }
        let device = self.session.device.clone();
        let program = self.session.place.run(move || pattern_program(&device, entry))?;
        let program = Arc::new(program);
        others.push((entry, Arc::clone(&program)));
        Ok(program)
    }

    fn flat(&self) -> Result<&GlKernel> {
        if let Some(kernel) = self.flat.get() {
            return Ok(kernel);
        }
        let kernel = GlKernel::unbuilt(&self.session, &KernelSource::new("flat").wgsl(FLAT))?;
        Ok(self.flat.get_or_init(|| kernel))
    }

    fn pattern_into(&self, memory: &QueueBuffer, view: &View, wanted: &Pattern) -> Result<()> {
        let (entry, launch) = pattern(view, wanted, &self.session.limits)?;
        if launch.is_empty() {
            return Ok(());
        }
        self.session.launch(&self.pattern(entry)?, None, vec![memory.clone()], launch)
    }

    /// Computes in the display's context, in its queue.
    ///
    /// # Errors
    /// [`interop_core::Error::WrongContext`] where the context is not current on this thread; [`interop_core::Error::Unsupported`] below OpenGL 4.3 and OpenGL ES 3.1, where no
    /// window system knows the context, and where its compute shaders do not build.
    pub fn on(display: &GlDisplay) -> Result<Self> {
        call("GlBackend::on", || {
            let made = Made::on(display.shared_device()?)?;
            let queue = HandleType::QueueBuffer(made.device.queue_id());
            let shared = MemoryCap::new(queue, MemoryShape::Linear, Support::Yes);
            // Image units of OpenGL ES take a few formats, and write only.
            let textures = (!made.device.is_es()).then(|| MemoryCap::new(queue, MemoryShape::Image, Support::Yes));
            Ok(made.with(Place::Callers, vec![shared], textures.into_iter().collect()))
        })
    }

    /// Computes in a context of its own, on a thread of its own: calls work on any thread. Frames reach other displays on the
    /// GPU in memory that those export; [`ComputeBackend::open_in`] is this device in the queue of an OpenGL display.
    ///
    /// # Errors
    /// The errors of [`GlDisplay::headless`]; [`interop_core::Error::Unsupported`] below OpenGL 4.3.
    pub fn open(options: &HeadlessOptions) -> Result<Self> {
        call("GlBackend::open", || {
            let options = options.clone();
            let (worker, made) = Worker::start(move || {
                let display = GlDisplay::headless(options)?;
                let made = Made::on(display.shared_device()?)?;
                Ok((display, made))
            })?;
            Ok(made.with(Place::Own(worker), Vec::new(), Vec::new()))
        })
    }

    /// Computes in a context of OpenGL ES (3.1 or later) of its own, by EGL.
    ///
    /// # Errors
    /// The errors of [`EsContext::headless`]; [`interop_core::Error::Unsupported`] where its compute shaders do not
    /// build.
    pub fn open_es(options: &HeadlessOptions) -> Result<Self> {
        call("GlBackend::open_es", || {
            let options = options.clone();
            let (worker, made) = Worker::start(move || {
                let context = EsContext::headless(&options)?;
                let made = Made::on(context.device().clone())?;
                Ok((context, made))
            })?;
            Ok(made.with(Place::Own(worker), Vec::new(), Vec::new()))
        })
    }
}

/// Tells where the context is current.
fn pattern_program(device: &GlDevice, entry: PatternEntry) -> Result<Program> {
    let refused = |log: String| device.unsupported(format!("its compute shaders do not build: {log}"));
    let glsl = wgsl_kernel::glsl(PATTERN, entry.name(), dialect(device)).map_err(|error| refused(error.to_string()))?;
    Program::build(device, &glsl)?.map_err(refused)
}

/// Objects that are made while the context is current.
struct Made {
    device: GlDevice,
    pattern: Program,
}

impl Made {
    fn on(device: GlDevice) -> Result<Self> {
        let pattern = pattern_program(&device, PatternEntry::Words)?;
        Ok(Self { device, pattern })
    }

    fn with(self, place: Place, exports: Vec<MemoryCap>, imports: Vec<MemoryCap>) -> GlBackend {
        let Self { device, pattern } = self;
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
        let limits = Limits::new(device.identity(), limits.storage_blocks, limits.groups, limits.group_items);
        let session =
            Arc::new(Session { device, caps, limits, rows: Rows::default(), written: Mutex::default(), place });
        GlBackend { session, pattern: Arc::new(pattern), patterns: Mutex::default(), flat: OnceLock::new() }
    }
}

/// Linear memory or a texture, of this very backend.
enum Side<'a> {
    Linear(&'a GlMemory),
    Image(&'a GlImage),
}

impl<'a> Side<'a> {
    fn of(memory: &'a dyn ComputeMemory, session: &Session) -> Result<Self> {
        match find(memory, session) {
            Some(image) => Ok(Self::Image(image)),
            None => own(memory, session).map(Self::Linear),
        }
    }
}

// SAFETY: memories keep their buffer and its length; kernels run as they were given, with the arguments that they declare.
unsafe impl BackendDriver for GlBackend {
    fn device(&self) -> &DeviceIdentity {
        self.session.device.identity()
    }

    fn caps(&self) -> &ComputeCaps {
        &self.session.caps
    }

    fn open_in(&self, display: &dyn Display) -> Result<Option<Arc<dyn ComputeBackend>>> {
        let Some(display) = display.downcast_ref::<GlDisplay>() else { return Ok(None) };
        let inside = self.session.device.is(&display.shared_device()?);
        if inside || !BackendDriver::device(self).same_device(display.device()).is_yes() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Self::on(display)?)))
    }

    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        Ok(Arc::new(GlKernel::build(&self.session, source)?))
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        Ok(Box::new(GlMemory::new(&self.session, bytes)?))
    }

    fn allocate_shared(
        &self,
        bytes: usize,
        _handle: HandleType,
        _display: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        let memory = GlMemory::new(&self.session, bytes)?;
        let handle = memory.buffer().to_handle();
        Ok((Box::new(memory), handle))
    }

    fn import_surface(&self, _: Checked, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
        match desc {
            SurfaceDesc::Image(image) => Ok(Box::new(GlImage::open(&self.session, handle, *image)?)),
            SurfaceDesc::Buffer(_) => {
                Ok(Box::new(GlMemory::open(&self.session, handle.duplicate_memory()?, desc.byte_len()?)?))
            }
        }
    }

    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        Ok(Box::new(GlSemaphore::open(&self.session, handle.duplicate_semaphore()?)?))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        own::<GlKernel>(kernel, &self.session)?.launch(target, args)
    }

    fn write_pattern(&self, target: Target<'_>, wanted: &Pattern) -> Result<()> {
        let (memory, view) = target.into_parts();
        if find::<GlImage>(memory, &self.session).is_some() {
            let image = own_mut::<GlImage>(memory, &self.session)?;
            if let Some(color) = flat_color(image.format(), wanted) {
                return self.flat()?.launch(Target::new(memory, view)?, &color.map(Arg::F32));
            }
            return image.through_linear(&view, |memory, view| self.pattern_into(memory, view, wanted));
        }
        self.pattern_into(own_mut::<GlMemory>(memory, &self.session)?.buffer(), &view, wanted)
    }

    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
        let (memory, view) = target.into_parts();
        if let Some(image) = find::<GlImage>(memory, &self.session) {
            return image.raw(view);
        }
        let memory = own::<GlMemory>(memory, &self.session)?;
        match self.session.place {
            // SAFETY: the target lies inside the memory, which keeps its buffer for as long as it is borrowed.
            Place::Callers => Ok(unsafe { RawTarget::new(RawMemory::Gl { buffer: memory.buffer().id()? }, view) }),
            Place::Own(_) => {
                let reason = "its context is current on a thread of its own; use GlBackend::on(&display)";
                Err(self.session.device.unsupported(reason))
            }
        }
    }

    fn copy(
        &self,
        _: Checked,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()> {
        match (Side::of(from, &self.session)?, Side::of(to, &self.session)?) {
            (Side::Linear(from), Side::Linear(to)) => {
                let (from, to) = (from.buffer().clone(), to.buffer().clone());
                self.session.place.run(move || to.copy_from(&from, range.clone(), range.start))
            }
            (Side::Linear(from), Side::Image(to)) => to.copy_from(from.buffer(), &range),
            (Side::Image(from), Side::Linear(to)) => from.copy_to(to.buffer(), &range),
            (Side::Image(from), Side::Image(to)) => from.copy_image(to, &range),
        }
    }

    fn finish(&self) -> Result<()> {
        self.session.finish()
    }
}
