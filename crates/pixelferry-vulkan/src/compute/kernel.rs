//! Kernels: WGSL or SPIR-V made into pipelines, one for each format of target.

use crate::compute::image::VulkanImage;
use crate::compute::memory::VulkanMemory;
use crate::compute::session::Session;
use crate::compute::spirv::{SPIR_V, SpirV};
use crate::context::home::AtHome;
use crate::launch::layout::{Bound, MOST_PUSHED, Read, Reads, STORED, Shape, Work, Writes};
use crate::launch::pipeline::Pipeline;
use crate::staging::queue_buffer::QueueBuffer;
use interop_core::compute::SourceCode;
use interop_core::devices::owned::{find, own};
use interop_core::{Arg, Error, Kernel, KernelSource, PixelFormat, Result, Target, View};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use wgsl_kernel::{Blue, KernelText, spirv};

type Pipelines = HashMap<(PixelFormat, Writes), Rc<Pipeline>>;

/// A kernel of one backend.
pub struct VulkanKernel {
    text: KernelText,
    /// The module, where it is not WGSL.
    module: Option<Arc<SpirV>>,
    session: Arc<Session>,
    pipelines: AtHome<RefCell<Pipelines>>,
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
                (KernelText::told(source, None, memories, module.group, &session.limits)?, Some(module))
            }
            Some(_) => return Err(not_ours(source)),
        };
        let kernel = Self { text, module, session: Arc::clone(session), pipelines };
        // Errors in the text are reported now.
        kernel.pipeline(PixelFormat::Rgba8, Writes::Memory)?;
        Ok(kernel)
    }

    /// For targets of this format; of a buffer any that is of whole words.
    fn pipeline(&self, format: PixelFormat, writes: Writes) -> Result<Rc<Pipeline>> {
        let mut pipelines = self.pipelines.get()?.borrow_mut();
        // A module serves every format.
        let format = if self.module.is_some() { PixelFormat::Rgba8 } else { format };
        if let Some(pipeline) = pipelines.get(&(format, writes)) {
            return Ok(Rc::clone(pipeline));
        }
        let (session, name) = (&self.session, self.text.name());
        // A module of the user's has a uniform block.
        let pushed = Some(self.text.immediate_bytes()).filter(|bytes| self.module.is_none() && *bytes <= MOST_PUSHED);
        let written;
        let words = match &self.module {
            Some(module) => &module.words,
            None => {
                let whole = match writes {
                    Writes::Memory => self.text.whole(format),
                    Writes::Texture => self.text.of_texture(format, Blue::Third),
                };
                let whole = if pushed.is_some() { self.text.by_immediates(&whole) } else { whole };
                written = spirv(&whole, name).map_err(|error| session.limits.refused(name, error))?;
                &written
            }
        };
        let layout =
            session.layouts.get()?.get(Shape { writes, reads: Reads::Memories(self.text.memories()), pushed })?;
        // SAFETY: naga wrote the words, or the user vouched for them; both bind what the text says.
        let pipeline = Rc::new(unsafe { Pipeline::build(&layout, words, name) }?);
        pipelines.insert((format, writes), Rc::clone(&pipeline));
        Ok(pipeline)
    }

    /// Queues a launch. The target is an image or linear memory.
    pub fn launch(&self, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        let session: &Session = &self.session;
        let items = target.items();
        let (memory, view) = target.into_parts();
        if let Some(image) = find::<VulkanImage>(memory, session) {
            let read = self.buffers(self.text.own_memories::<VulkanMemory>(None, args, session)?)?;
            return self.store(image, &view, items, args, &read);
        }
        let memory = own::<VulkanMemory>(memory, session)?;
        let read = self.buffers(self.text.own_memories(Some(memory), args, session)?)?;
        self.run(memory.buffer()?, &view, items, args, &read)
    }

    fn buffers(&self, memories: Vec<&VulkanMemory>) -> Result<Vec<QueueBuffer>> {
        self.session.shared()?;
        memories.into_iter().map(|memory| memory.buffer().cloned()).collect()
    }

    /// Queues a launch that stores to an image, or to a linear copy where the kernel needs words.
    fn store(
        &self,
        image: &VulkanImage,
        view: &View,
        items: Option<usize>,
        args: &[Arg<'_>],
        memories: &[QueueBuffer],
    ) -> Result<()> {
        let format = image.format();
        if self.module.is_some() || !self.text.stores_to(format, view) {
            return image.through_linear(view, |memory, view| self.run(memory, view, items, args, memories));
        }
        let launch = self.text.plan_texture(format, &image.place(view)?, args, &self.session.limits)?;
        if launch.is_empty() {
            return Ok(());
        }
        let ((target, place), reads) = (image.bound()?, whole(memories));
        let work = Work { target, reads: &reads, groups: launch.groups, numbers: launch.numbers() };
        // SAFETY: as in `run`; the kernel stores inside the image, whose view is retired when it goes.
        unsafe { self.pipeline(format, Writes::Texture)?.launch(&work, &[(place, STORED)]) }
    }

    /// Queues a launch into linear memory.
    fn run(
        &self,
        memory: &QueueBuffer,
        view: &View,
        items: Option<usize>,
        args: &[Arg<'_>],
        memories: &[QueueBuffer],
    ) -> Result<()> {
        let (format, launch) = self.text.plan(view, items, args, &self.session.limits)?;
        if launch.is_empty() {
            return Ok(());
        }
        let (target, reads) = (Bound::Memory(memory), whole(memories));
        let work = Work { target, reads: &reads, groups: launch.groups, numbers: launch.numbers() };
        // SAFETY: naga limits each index to what it indexes, which `own_memories` found to be there, or the user vouched for the
        // module; there are as many memories as the text says.
        unsafe { self.pipeline(format, Writes::Memory)?.launch(&work, &[]) }
    }
}

fn whole(memories: &[QueueBuffer]) -> Vec<Read> {
    memories.iter().map(Read::whole).collect()
}

fn not_ours(source: &KernelSource) -> Error {
    Error::refused(format!("the SPIR-V of kernel '{}' is no value of pixelferry_vulkan::SpirV", source.name()))
}
