//! Kernels: the pipelines of a text, one for each format and kind of target.

use super::device::{Session, ShaderDevice, ShaderWork, Target, Writes};
use super::image::MemorySide;
use super::memory::ShaderMemory;
use crate::launch::Launch;
use crate::text::KernelText;
use interop_core::describe::format::COUNT;
use interop_core::{Arg, Kernel, KernelSource, PixelFormat, Result, View};
use std::sync::{Arc, OnceLock};

/// Returns the value in a slot, created at first use.
pub(super) fn made<T>(slot: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    match slot.get() {
        Some(made) => Ok(made),
        None => make().map(|made| slot.get_or_init(|| made)),
    }
}

/// A kernel of one backend.
pub struct ShaderKernel<D: ShaderDevice> {
    text: KernelText,
    own: D::Kernel,
    /// By format and kind of target, created at first use.
    pipelines: [[OnceLock<D::Pipeline>; 2]; COUNT],
    device: Arc<D>,
}

interop_core::owned!(ShaderKernel<D>: Session, "kernel", |kernel| kernel.device.session(), D: ShaderDevice);

impl<D: ShaderDevice> Kernel for ShaderKernel<D> {
    fn name(&self) -> &str {
        self.text.name()
    }
}

impl<D: ShaderDevice> ShaderKernel<D> {
    /// Builds a kernel from a source.
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] where the source has no text for the device;
    /// [`interop_core::Error::KernelBuild`] for errors in the text.
    pub fn build(device: &Arc<D>, source: &KernelSource) -> Result<Self> {
        let kernel = match device.read_source(source)? {
            None => Self::unbuilt(device, KernelText::of(source, &device.session().limits)?)?,
            Some((text, own, built)) => {
                let kernel = Self { text, own, pipelines: Default::default(), device: Arc::clone(device) };
                built.into_iter().for_each(|built| _ = kernel.slot(PixelFormat::Rgba8, Writes::Memory).set(built));
                kernel
            }
        };
        // Errors in the text are reported now, not at the first launch.
        kernel.built()
    }

    /// Creates a kernel in WGSL whose pipelines are created at first use.
    pub(super) fn unbuilt(device: &Arc<D>, text: KernelText) -> Result<Self> {
        let own = device.kernel(&text)?;
        Ok(Self { text, own, pipelines: Default::default(), device: Arc::clone(device) })
    }

    /// Builds the pipeline for the usual format of frames.
    pub(super) fn built(self) -> Result<Self> {
        self.pipeline(PixelFormat::Rgba8, Writes::Memory)?;
        Ok(self)
    }

    fn slot(&self, format: PixelFormat, writes: Writes) -> &OnceLock<D::Pipeline> {
        &self.pipelines[self.text.served_as(format) as usize][writes as usize]
    }

    /// Returns the pipeline for targets of this format; all formats of whole words share that for buffers.
    fn pipeline(&self, format: PixelFormat, writes: Writes) -> Result<&D::Pipeline> {
        made(self.slot(format, writes), || self.device.pipeline(&self.text, &self.own, format, writes))
    }

    /// Queues a launch. `items`: number of work items for a buffer, if the launch sets it.
    ///
    /// # Errors
    /// [`interop_core::Error::Foreign`] for memory of another backend; [`interop_core::Error::InvalidInput`] where
    /// arguments or view do not fit.
    pub fn launch(&self, target: MemorySide<'_, D>, view: &View, items: Option<usize>, args: &[Arg<'_>]) -> Result<()> {
        let session = self.device.session();
        let image = match target {
            MemorySide::Linear(memory) => {
                let reads = self.reads(Some(memory), args)?;
                return self.run(memory.buffer(), view, items, args, &reads);
            }
            MemorySide::Image(image) => image,
        };
        let (reads, format) = (self.reads(None, args)?, image.format());
        if !self.text.stores_to(format, view) {
            image.check_words()?;
            return image.through_linear(view, |memory, view| self.run(memory, view, items, args, &reads));
        }
        let launch = self.text.plan_texture(format, &image.rows().place(view)?, args, &session.limits)?;
        image.settle()?;
        self.queue(Target::Texture(image.texture()), &reads, (format, Writes::Texture), launch)
    }

    fn reads<'m>(&self, target: Option<&ShaderMemory<D>>, args: &[Arg<'m>]) -> Result<Vec<&'m D::Buffer>> {
        let memories = self.text.own_memories(target, args, self.device.session())?;
        Ok(memories.into_iter().map(ShaderMemory::buffer).collect())
    }

    /// Queues a launch into linear memory.
    fn run(
        &self,
        memory: &D::Buffer,
        view: &View,
        items: Option<usize>,
        args: &[Arg<'_>],
        reads: &[&D::Buffer],
    ) -> Result<()> {
        let (format, launch) = self.text.plan(view, items, args, &self.device.session().limits)?;
        self.queue(Target::Memory(memory), reads, (format, Writes::Memory), launch)
    }

    /// Queues a planned launch.
    pub(super) fn queue(
        &self,
        target: Target<'_, D>,
        reads: &[&D::Buffer],
        (format, writes): (PixelFormat, Writes),
        launch: Launch,
    ) -> Result<()> {
        if launch.is_empty() {
            return Ok(());
        }
        let pipeline = self.pipeline(format, writes)?;
        self.device.launch(&ShaderWork { kernel: &self.own, pipeline, target, reads, launch })
    }
}
