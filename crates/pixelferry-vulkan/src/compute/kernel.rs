//! Kernels: WGSL or SPIR-V made into pipelines, one for each format of target.

use crate::compute::memory::VulkanMemory;
use crate::compute::pipeline::Pipeline;
use crate::compute::session::Session;
use crate::compute::spirv::{SPIR_V, SpirV};
use crate::context::home::AtHome;
use interop_core::compute::SourceCode;
use interop_core::devices::owned::own;
use interop_core::{Arg, Error, Kernel, KernelSource, PixelFormat, Result, Target};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use wgsl_kernel::KernelText;

/// A kernel of one backend.
pub struct VulkanKernel {
    text: KernelText,
    /// The module, where it is not WGSL.
    module: Option<Arc<SpirV>>,
    session: Arc<Session>,
    pipelines: AtHome<RefCell<HashMap<PixelFormat, Rc<Pipeline>>>>,
}

interop_core::owned!(VulkanKernel: Session, "kernel", |kernel| &kernel.session);

impl Kernel for VulkanKernel {
    fn name(&self) -> &str {
        self.text.name()
    }
}

impl VulkanKernel {
    pub fn build(session: &Arc<Session>, source: &KernelSource) -> Result<Self> {
        let pipelines = AtHome::new(&session.shared()?.home, RefCell::default())?;
        let (text, module) = match source.source(SPIR_V) {
            None => (KernelText::of(source, &session.limits)?, None),
            Some(SourceCode::Native(code)) if code.is::<SpirV>() => {
                let module = Arc::clone(code).downcast::<SpirV>().map_err(|_| not_ours(source))?;
                let memories = module.memories.clone();
                (KernelText::told(source, "", memories, module.group, &session.limits)?, Some(module))
            }
            Some(_) => return Err(not_ours(source)),
        };
        let kernel = Self { text, module, session: Arc::clone(session), pipelines };
        // Errors in the text are reported now.
        kernel.pipeline(PixelFormat::Rgba8)?;
        Ok(kernel)
    }

    /// For targets of this format; of a buffer any that is of whole words.
    fn pipeline(&self, format: PixelFormat) -> Result<Rc<Pipeline>> {
        let mut pipelines = self.pipelines.get()?.borrow_mut();
        // A module serves every format.
        let format = if self.module.is_some() { PixelFormat::Rgba8 } else { format };
        if let Some(pipeline) = pipelines.get(&format) {
            return Ok(Rc::clone(pipeline));
        }
        let (session, name) = (&self.session, self.text.name());
        let written;
        let words = match &self.module {
            Some(module) => &module.words,
            None => {
                written = self.text.spirv(format).map_err(|error| session.limits.refused(name, error))?;
                &written
            }
        };
        let layout = session.inner.get()?.layout(self.text.memories())?;
        // SAFETY: naga wrote the words, or the user vouched for them; both bind what the text says.
        let pipeline = Rc::new(unsafe { Pipeline::build(&layout, words, name) }?);
        pipelines.insert(format, Rc::clone(&pipeline));
        Ok(pipeline)
    }

    /// Queues a launch.
    pub fn launch(&self, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        let session = &self.session;
        let items = target.items();
        let (memory, view) = target.into_parts();
        let memory = own::<VulkanMemory>(memory, session)?;
        let read = self.text.own_memories(Some(memory), args, session)?;
        let (format, launch) = self.text.plan(&view, items, args, &session.limits)?;
        if launch.is_empty() {
            return session.shared().map(drop);
        }
        let all = [memory].into_iter().chain(read).map(|memory| memory.buffer().cloned());
        let all = all.collect::<Result<Vec<_>>>()?;
        // SAFETY: naga limits each index to what it indexes, which `own_memories` found to be there, or the user vouched for the
        // module; there are as many memories as the text says.
        unsafe { self.pipeline(format)?.launch(&all, &launch) }
    }
}

fn not_ours(source: &KernelSource) -> Error {
    Error::refused(format!("the SPIR-V of kernel '{}' is no value of pixelferry_vulkan::SpirV", source.name()))
}
