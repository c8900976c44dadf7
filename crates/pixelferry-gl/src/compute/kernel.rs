//! Kernels: WGSL or GLSL made into programs, one for each format of target.

use crate::compute::glsl;
use crate::compute::image::GlImage;
use crate::compute::memory::GlMemory;
use crate::compute::session::{Program, Session, dialect};
use crate::queue::QueueBuffer;
use interop_core::devices::owned::{find, own, own_mut};
use interop_core::{Arg, ImageView, Kernel, KernelSource, Language, PixelFormat, Result, Target, View};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use wgsl_kernel::KernelText;

/// A kernel of one backend.
pub struct GlKernel {
    text: KernelText,
    /// The text of a compute shader, where it is not WGSL.
    shader: Option<String>,
    session: Arc<Session>,
    programs: Mutex<HashMap<PixelFormat, Arc<Program>>>,
    /// Those that store to textures.
    of_textures: Mutex<HashMap<PixelFormat, Arc<Program>>>,
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
            let programs = Mutex::new(HashMap::from([(PixelFormat::Rgba8, Arc::new(program))]));
            return Ok(Self {
                text,
                shader: Some(shader.to_owned()),
                session: session.clone(),
                programs,
                of_textures: Mutex::default(),
            });
        }
        let text = KernelText::of(source, &session.limits)?;
        let (programs, of_textures) = Default::default();
        let kernel = Self { text, shader: None, session: session.clone(), programs, of_textures };
        // Errors in the text are reported now.
        kernel.program(PixelFormat::Rgba8)?;
        Ok(kernel)
    }

    /// For targets of this format; of a buffer any that is of whole words.
    fn program(&self, format: PixelFormat) -> Result<Arc<Program>> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&format) {
            return Ok(program.clone());
        }
        let dialect = dialect(&self.session.device);
        let glsl = match &self.shader {
            Some(shader) => glsl::whole(shader, format, dialect),
            None => self.text.glsl(format, dialect),
        };
        let limits = &self.session.limits;
        let glsl = glsl.map_err(|error| limits.refused(self.text.name(), error))?;
        let device = self.session.device.clone();
        let built = self.session.place.run(move || Program::build(&device, &glsl))?;
        let program = Arc::new(built.map_err(|log| limits.refused(self.text.name(), log))?);
        programs.insert(format, program.clone());
        Ok(program)
    }

    /// The program that stores to a texture of this format; `None` where the text names the target's words.
    fn texture_program(&self, format: PixelFormat) -> Result<Option<Arc<Program>>> {
        let mut programs = self.of_textures.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&format) {
            return Ok(Some(program.clone()));
        }
        let dialect = dialect(&self.session.device);
        let glsl = match (&self.shader, self.text.of_texture(format)) {
            (_, None) => return Ok(None),
            (Some(shader), _) => glsl::of_texture(shader, format, dialect),
            (None, Some(text)) => wgsl_kernel::glsl(&text, self.text.name(), dialect),
        };
        let limits = &self.session.limits;
        let glsl = glsl.map_err(|error| limits.refused(self.text.name(), error))?;
        let built = Program::build(&self.session.device, &glsl)?;
        let program = Arc::new(built.map_err(|log| limits.refused(self.text.name(), log))?);
        programs.insert(format, program.clone());
        Ok(Some(program))
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
        let format = match view {
            View::Image(ImageView { format, .. }) if *format == image.format() => Some(*format),
            _ => None,
        };
        let program = format.map_or(Ok(None), |format| self.texture_program(format))?;
        let (Some(format), Some(program)) = (format, program) else {
            return image.through_linear(view, |memory, view| self.run(memory, view, items, args, memories));
        };
        let launch = self.text.plan_texture(format, &image.place(view)?, args, &self.session.limits)?;
        if launch.is_empty() {
            return Ok(());
        }
        self.session.launch_into(&program, image.bound()?, &memories, &launch)
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
        self.session.launch(&self.program(format)?, all, launch)
    }
}
