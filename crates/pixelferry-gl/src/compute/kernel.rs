//! Kernels: WGSL or GLSL made into programs, one for each format of target.

use crate::compute::glsl;
use crate::compute::image::GlImage;
use crate::compute::memory::GlMemory;
use crate::compute::session::{Program, Session, dialect};
use crate::queue::QueueBuffer;
use interop_core::devices::owned::{find, own, own_mut};
use interop_core::{Arg, Kernel, KernelSource, Language, PixelFormat, Result, Target, View};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use wgsl_kernel::{KernelText, NAMES_WORDS};

/// A kernel of one backend.
pub struct GlKernel {
    text: KernelText,
    /// The text of a compute shader, where it is not WGSL.
    shader: Option<String>,
    session: Arc<Session>,
    programs: Mutex<HashMap<(PixelFormat, Writes), Arc<Program>>>,
}

/// Target of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Writes {
    Memory,
    Texture,
}

interop_core::owned!(GlKernel: Session, "kernel", |kernel| &kernel.session);

impl Kernel for GlKernel {
    fn name(&self) -> &str {
        self.text.name()
    }
}

impl GlKernel {
    pub fn build(session: &Arc<Session>, source: &KernelSource) -> Result<Self> {
        if let Some(shader) = source.text(Language::Glsl)? {
            let (text, program) = glsl::read(session, source, shader)?;
            let programs = Mutex::new(HashMap::from([((PixelFormat::Rgba8, Writes::Memory), Arc::new(program))]));
            return Ok(Self { text, shader: Some(shader.to_owned()), session: session.clone(), programs });
        }
        let kernel = Self::unbuilt(session, source)?;
        // Errors in the text are reported now.
        kernel.program(PixelFormat::Rgba8, Writes::Memory)?;
        Ok(kernel)
    }

    /// One in WGSL, which the driver compiles at its first launch.
    pub fn unbuilt(session: &Arc<Session>, source: &KernelSource) -> Result<Self> {
        let text = KernelText::of(source, &session.limits)?;
        Ok(Self { text, shader: None, session: session.clone(), programs: Mutex::default() })
    }

    /// For targets of this format; of a buffer any that is of whole words.
    fn program(&self, format: PixelFormat, writes: Writes) -> Result<Arc<Program>> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&(format, writes)) {
            return Ok(program.clone());
        }
        let dialect = dialect(&self.session.device);
        let glsl = match (&self.shader, writes) {
            (Some(shader), Writes::Memory) => glsl::whole(shader, format, dialect),
            (Some(shader), Writes::Texture) => glsl::of_texture(shader, format, dialect),
            (None, Writes::Memory) => self.text.glsl(format, dialect),
            (None, Writes::Texture) => self.text.glsl_of_texture(format, dialect),
        };
        let limits = &self.session.limits;
        let glsl = glsl.map_err(|error| limits.refused(self.text.name(), error))?;
        let device = self.session.device.clone();
        let built = self.session.place.run(move || Program::build(&device, &glsl))?;
        let program = Arc::new(built.map_err(|log| limits.refused(self.text.name(), log))?);
        programs.insert((format, writes), program.clone());
        Ok(program)
    }

    /// Queues a launch. The target is a texture or linear memory.
    pub fn launch(&self, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        let session = &self.session;
        let items = target.items();
        let (memory, view) = target.into_parts();
        if find::<GlImage>(memory, session).is_some() {
            let read = self.text.own_memories::<GlMemory>(None, args, session)?;
            let read = read.into_iter().map(|memory| memory.buffer().clone()).collect();
            return self.store(own_mut::<GlImage>(memory, session)?, &view, items, args, read);
        }
        let memory = own::<GlMemory>(memory, session)?;
        let read = self.text.own_memories(Some(memory), args, session)?;
        let read = read.into_iter().map(|memory| memory.buffer().clone()).collect();
        self.run(memory.buffer(), &view, items, args, read)
    }

    /// Queues a launch that stores to a texture, or to a linear copy where the text names words.
    fn store(
        &self,
        image: &mut GlImage,
        view: &View,
        items: Option<usize>,
        args: &[Arg<'_>],
        memories: Vec<QueueBuffer>,
    ) -> Result<()> {
        let format = image.format();
        if !self.text.stores_to(format, view) {
            if image.stores_only() {
                return Err(self.session.device.unsupported(NAMES_WORDS));
            }
            return image.through_linear(view, |memory, view| self.run(memory, view, items, args, memories));
        }
        let launch = self.text.plan_texture(format, &image.place(view)?, args, &self.session.limits)?;
        if launch.is_empty() {
            return Ok(());
        }
        let all = memories.first().cloned().into_iter().chain(memories).collect();
        self.session.launch(&self.program(format, Writes::Texture)?, Some(image.bound()?), all, launch)
    }

    /// Queues a launch into linear memory; `memories` are those among the arguments.
    fn run(
        &self,
        target: &QueueBuffer,
        view: &View,
        items: Option<usize>,
        args: &[Arg<'_>],
        memories: Vec<QueueBuffer>,
    ) -> Result<()> {
        let (format, launch) = self.text.plan(view, items, args, &self.session.limits)?;
        if launch.is_empty() {
            return Ok(());
        }
        let all = [target.clone()].into_iter().chain(memories).collect();
        self.session.launch(&self.program(format, Writes::Memory)?, None, all, launch)
    }
}
