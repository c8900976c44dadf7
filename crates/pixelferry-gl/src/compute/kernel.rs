//! Kernels: WGSL or GLSL made into programs, one for each format of target.

use crate::compute::glsl;
use crate::compute::memory::GlMemory;
use crate::compute::session::{Program, Session, dialect};
use interop_core::devices::owned::own;
use interop_core::{Arg, Kernel, KernelSource, Language, PixelFormat, Result, Target};
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
            return Ok(Self { text, shader: Some(shader.to_owned()), session: session.clone(), programs });
        }
        let text = KernelText::of(source, &session.limits)?;
        let kernel = Self { text, shader: None, session: session.clone(), programs: Mutex::default() };
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

    pub fn launch(&self, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        let session = &self.session;
        let items = target.items();
        let (memory, view) = target.into_parts();
        let memory = own::<GlMemory>(memory, session)?;
        let read = self.text.own_memories(memory, args, session)?;
        let (format, launch) = self.text.plan(&view, items, args, &session.limits)?;
        if launch.is_empty() {
            return Ok(());
        }
        let memories = [memory].into_iter().chain(read).map(|memory| memory.buffer().clone()).collect();
        session.launch(&self.program(format)?, memories, launch)
    }
}
