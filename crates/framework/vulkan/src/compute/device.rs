//! [`VulkanShaders`].

use crate::compute::spirv::{SPIR_V, SpirV};
use crate::context::device_state::DeviceState;
use crate::launch::deferred_drop::DeferredDrop;
use crate::launch::layout::{LaunchInput, LaunchTarget, MOST_PUSHED, ReadKind, STORED, Shape, Work};
use crate::launch::layouts::Layouts;
use crate::launch::pipeline::Pipeline;
use crate::launch::views::ImageView;
use crate::queue::commands::Rows;
use crate::staging::memory::Buffer;
use crate::staging::queue_buffer::QueueBuffer;
use crate::staging::queue_image::QueueImage;
use crate::staging::semaphore::VulkanSemaphore;
use crate::staging::transfer::{copy_bytes, copy_to_image, copy_to_rows, read_buffer, upload_bytes};
use interop_core::compute::SourceCode;
use interop_core::{ComputeSemaphore, Error, ImageDesc, KernelSource, PixelFormat, Region, Result, SharedHandle};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wgsl_kernel::shader::{CopyMethod, ReadSource, Session, ShaderDevice, ShaderWork, Target, Writes};
use wgsl_kernel::{BluePosition, KernelText, spirv};

/// A display's queue with its compute shaders.
pub(crate) struct VulkanShaders {
    pub session: Session,
    pub layouts: Layouts,
}

/// Storage of linear memory.
pub(crate) struct Storage {
    pub buffer: QueueBuffer,
    /// True where the buffer is the display's or its engine's.
    lent: bool,
    /// True where other code has the raw handle, and may submit work that uses it.
    pub named: AtomicBool,
}

/// The SPIR-V module of a source; `None` for WGSL.
type Module = Option<Arc<SpirV>>;

impl VulkanShaders {
    /// Returns the display's state.
    pub fn shared(&self) -> &Arc<DeviceState> {
        self.layouts.shared()
    }
}

fn over(buffer: QueueBuffer, lent: bool) -> Storage {
    Storage { buffer, lent, named: AtomicBool::default() }
}

impl ShaderDevice for VulkanShaders {
    type Buffer = Storage;
    type Texture = (QueueImage, DeferredDrop<ImageView>);
    type Kernel = Module;
    /// Behind a pointer, because it holds all functions of the device.
    type Pipeline = Arc<Pipeline>;
    /// Number of a submission.
    type Mark = u64;

    fn session(&self) -> &Session {
        &self.session
    }

    fn semaphore(self: &Arc<Self>, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        Ok(Box::new(VulkanSemaphore::open(self.shared(), handle.duplicate_semaphore()?)?))
    }

    fn finish(&self) -> Result<()> {
        self.shared().submissions.finish()
    }

    fn read_source(&self, source: &KernelSource) -> Result<Option<ReadSource<Self>>> {
        let module = match source.source(SPIR_V) {
            None => return Ok(None),
            Some(SourceCode::Native(code)) => Arc::clone(code).downcast::<SpirV>().ok(),
            Some(SourceCode::Text(_)) => None,
        };
        let other = || format!("the SPIR-V of kernel '{}' is not a value of pixelferry_vulkan::SpirV", source.name());
        let module = module.ok_or_else(|| Error::refused(other()))?;
        let text = KernelText::told(source, None, module.memories.clone(), module.group, &self.session.limits)?;
        Ok(Some((text, Some(module), None)))
    }

    fn kernel(&self, _: &KernelText) -> Result<Module> {
        Ok(None)
    }

    fn pipeline(
        &self,
        text: &KernelText,
        module: &Module,
        format: PixelFormat,
        writes: Writes,
    ) -> Result<Self::Pipeline> {
        let layouts = &self.layouts;
        // A module supplied by the user has a uniform block.
        let pushed = Some(text.immediate_bytes()).filter(|bytes| module.is_none() && *bytes <= MOST_PUSHED);
        let written;
        let words = match module {
            Some(module) => &module.words,
            None => {
                let whole = match writes {
                    Writes::Memory => text.whole(format),
                    Writes::Texture => text.of_texture(format, BluePosition::Third),
                };
                let whole = if pushed.is_some() { text.by_immediates(&whole) } else { whole };
                let refused = |error| self.session.limits.refused(text.name(), error);
                written = spirv(&whole, text.name()).map_err(refused)?;
                &written
            }
        };
        let layout = layouts.get(Shape { writes, reads: ReadKind::Memories(text.memories()), pushed })?;
        // SAFETY: naga wrote the words, or the user vouched for them; both bind what the text says.
        let pipeline = unsafe { Pipeline::build(&layout, words, text.name()) }?;
        Ok(Arc::new(pipeline))
    }

    fn launch(&self, work: &ShaderWork<'_, Self>) -> Result<()> {
        let (target, image) = match work.target {
            Target::Memory(memory) => (LaunchTarget::Memory(&memory.buffer), None),
            Target::Texture(texture) => {
                let (image, view) = texture;
                (LaunchTarget::Texture(view.raw, view.number), Some((image.place()?, STORED)))
            }
        };
        let reads: Vec<_> = work.reads.iter().map(|memory| LaunchInput::whole(&memory.buffer)).collect();
        let launch = &work.launch;
        let queued = Work { target, reads: &reads, groups: launch.groups, numbers: launch.numbers() };
        // SAFETY: naga limits each index to what it indexes, which is as large as the text declares, or the user vouched for the module;
        // there are as many memories as the text says. The view of an image is retired when it goes.
        unsafe { work.pipeline.launch(&queued, image.as_slice()) }
    }

    fn allocate(&self, bytes: usize) -> Result<Self::Buffer> {
        Ok(over(QueueBuffer::of(&Arc::new(Buffer::zeroed(self.shared(), bytes)?)), false))
    }

    fn open(&self, handle: &SharedHandle, bytes: usize) -> Result<Self::Buffer> {
        let shared = self.shared();
        if let SharedHandle::QueueBuffer { .. } = handle {
            return Ok(over(QueueBuffer::open(handle, bytes)?, true));
        }
        Ok(over(QueueBuffer::of(&Arc::new(Buffer::imported(shared, handle.duplicate_memory()?, bytes)?)), false))
    }

    fn share(&self, storage: &Self::Buffer) -> Result<SharedHandle> {
        storage.buffer.clone().into_handle(self.shared())
    }

    fn bytes(&self, storage: &Self::Buffer, range: Range<usize>) -> Result<Vec<u8>> {
        read_buffer(self.shared(), storage.buffer.raw(), &(range.start as u64..range.end as u64))
    }

    fn write(&self, storage: &Self::Buffer, offset: usize, from: &[u8]) -> Result<()> {
        upload_bytes(self.shared(), (storage.buffer.raw(), offset as u64), from)
    }

    fn copy(&self, from: &Self::Buffer, to: &Self::Buffer, range: Range<usize>) -> Result<()> {
        let (from, to, at) = (from.buffer.raw(), to.buffer.raw(), range.start as u64);
        if from == to {
            return Err(Error::refused("a copy needs two different memories"));
        }
        copy_bytes(self.shared(), (from, at), (to, at), range.len() as u64).map(drop)
    }

    fn mark(&self, storage: &Self::Buffer) -> Result<Option<u64>> {
        let submissions = &self.shared().submissions;
        if storage.named.load(Ordering::Relaxed) {
            submissions.flush(None).map(Some)
        } else {
            Ok(Some(submissions.last()))
        }
    }

    fn release(&self, storage: &Self::Buffer, mark: Option<u64>) -> Result<()> {
        // The queue keeps the order with the display, which is the only other owner.
        if storage.lent {
            return Ok(());
        }
        let mark = mark.map_or_else(|| self.mark(storage), |mark| Ok(Some(mark)))?;
        mark.map_or(Ok(()), |number| self.shared().submissions.wait(number))
    }

    fn texture(&self, handle: &SharedHandle, desc: &ImageDesc) -> Result<Self::Texture> {
        let shared = self.shared();
        let image = QueueImage::open(handle, desc)?;
        let view = DeferredDrop::new(shared, ImageView::storing(shared, &image)?);
        Ok((image, view))
    }

    fn copy_rows(
        &self,
        method: CopyMethod,
        (texture, region, format): (&Self::Texture, Region, PixelFormat),
        (storage, first, pitch): (&Self::Buffer, usize, usize),
    ) -> Result<()> {
        let (shared, image, buffer) = (self.shared(), texture.0.place()?, storage.buffer.raw());
        // The sides of an image have 32 bits.
        let row_length = (pitch / format.bytes_per_pixel()) as u32;
        let rows = Rows { buffer, offset: first as u64, row_length };
        let queued = match method {
            CopyMethod::Load => copy_to_rows(shared, image, region, rows),
            CopyMethod::Store => copy_to_image(shared, image, rows, region),
        };
        queued.map(drop)
    }
}
