//! [`VulkanBackend`].

use crate::compute::image::VulkanImage;
use crate::compute::kernel::VulkanKernel;
use crate::compute::memory::VulkanMemory;
use crate::compute::session::Session;
use crate::compute::spirv::SPIR_V;
use crate::context::device_state::DeviceState;
use crate::context::home::AtHome;
use crate::launch::layout::{Bound, Reads, Shape, Work, Writes};
use crate::launch::layouts::Layouts;
use crate::launch::pipeline::Pipeline;
use crate::staging::queue_buffer::QueueBuffer;
use crate::staging::semaphore::VulkanSemaphore;
use crate::{VulkanDisplay, VulkanOptions};
use ash::vk::Handle as _;
use interop_core::compute::{BackendDriver, Checked};
use interop_core::describe::error::call;
use interop_core::describe::pattern::Pattern;
use interop_core::devices::owned::{find, own, own_mut};
use interop_core::{
    Arg, ComputeBackend, ComputeCaps, ComputeMemory, ComputeSemaphore, DeviceIdentity, Display, HandleType, Kernel,
    KernelSource, Language, MemoryCap, MemoryShape, PixelFormat, RawMemory, RawTarget, Result, SharedHandle, Support,
    SurfaceDesc, Target, View,
};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use wgsl_kernel::{FLAT, Limits, PATTERN, PatternEntry, flat_color, pattern, spirv};

/// Bytes of the largest memory that a kernel's 32-bit addresses reach.
const MOST_BYTES: u64 = u32::MAX as u64 & !3;

type Patterns = RefCell<Vec<(PatternEntry, Rc<Pipeline>)>>;

/// A display's device and queue that compute. See [`crate::compute`].
pub struct VulkanBackend {
    session: Arc<Session>,
    /// The pattern's kernels, which are built when they are first needed, but for the first.
    patterns: AtHome<Patterns>,
    /// Stores one colour, as programs' kernels store.
    flat: OnceLock<VulkanKernel>,
}

impl VulkanBackend {
    /// Computes on the display's device, in its queue.
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] where queues of its family do not compute; [`interop_core::Error::Driver`] for what the
    /// driver reports.
    pub fn on(display: &VulkanDisplay) -> Result<Self> {
        call("VulkanBackend::on", || Self::inside(&display.shared))
    }

    /// Opens a device of its own, whose backend stays on this thread. Frames reach other displays on the GPU in
    /// memory that those export; [`ComputeBackend::open_in`] is this device in the queue of a Vulkan display.
    ///
    /// # Errors
    /// The errors of [`VulkanDisplay::headless`] and of [`VulkanBackend::on`].
    pub fn open(options: &VulkanOptions) -> Result<Self> {
        call("VulkanBackend::open", || Self::inside(&VulkanDisplay::headless(options)?.shared))
    }

    fn inside(shared: &Rc<DeviceState>) -> Result<Self> {
        let queue = HandleType::QueueBuffer(shared.queue_id());
        if let Support::No(reason) = shared.caps.can_import(queue, MemoryShape::Linear) {
            return Err(shared.unsupported(reason));
        }
        let limits = shared.sharing.limits();
        let most = u64::from(limits.max_storage_buffer_range & !3).min(shared.caps.max_buffer_bytes).min(MOST_BYTES);
        let lent = |shape| MemoryCap::new(queue, shape, Support::Yes);
        let images = lent(MemoryShape::Image).without(&shared.stores.refused());
        let (opened, semaphores) = shared.sharing.opened_by_kernels();
        let caps = ComputeCaps::new(vec![SPIR_V, Language::Wgsl], most)
            .with_allocation_limit("maxStorageBufferRange, or what one allocation of the device has")
            .with_exports(vec![lent(MemoryShape::Linear)])
            .with_imports([lent(MemoryShape::Linear), images].into_iter().chain(opened).collect())
            .with_semaphores(semaphores)
            .with_serves_its_queue(true)
            .with_image_formats(PixelFormat::ALL);
        let [across, down, _] = limits.max_compute_work_group_count;
        let [wide, high, _] = limits.max_compute_work_group_size;
        let identity = shared.identity.clone();
        let items = limits.max_compute_work_group_invocations.min(wide).min(high);
        let memories = limits.max_per_stage_descriptor_storage_buffers;
        let limits = Limits::new(&identity, memories, across.min(down), items);
        let layouts = AtHome::new(&shared.home, Layouts::new(shared))?;
        let session = Arc::new(Session { identity, caps, limits, layouts });
        let patterns = AtHome::new(&shared.home, RefCell::default())?;
        let made = Self { session, patterns, flat: OnceLock::new() };
        made.pattern(PatternEntry::Words)?;
        Ok(made)
    }

    fn flat(&self) -> Result<&VulkanKernel> {
        if let Some(kernel) = self.flat.get() {
            return Ok(kernel);
        }
        let kernel = VulkanKernel::build(&self.session, &KernelSource::new("flat").wgsl(FLAT))?;
        Ok(self.flat.get_or_init(|| kernel))
    }

    fn pattern_into(&self, memory: &QueueBuffer, view: &View, wanted: &Pattern) -> Result<()> {
        let (entry, launch) = pattern(view, wanted, &self.session.limits)?;
        if launch.is_empty() {
            return Ok(());
        }
        let (target, groups, numbers) = (Bound::Memory(memory), launch.groups, launch.numbers());
        // SAFETY: the text stays inside the view, which lies in the memory.
        unsafe { self.pattern(entry)?.launch(&Work { target, reads: &[], groups, numbers }, &[]) }
    }

    fn pattern(&self, entry: PatternEntry) -> Result<Rc<Pipeline>> {
        let mut made = self.patterns.get()?.borrow_mut();
        if let Some((_, pipeline)) = made.iter().find(|(other, _)| *other == entry) {
            return Ok(Rc::clone(pipeline));
        }
        let words = spirv(PATTERN, entry.name()).map_err(|error| self.session.limits.refused(entry.name(), error))?;
        let shape = Shape { writes: Writes::Memory, reads: Reads::Memories(0), pushed: None };
        let layout = self.session.layouts.get()?.get(shape)?;
        // SAFETY: naga wrote the words of a text that binds its target alone.
        let pipeline = Rc::new(unsafe { Pipeline::build(&layout, &words, entry.name()) }?);
        made.push((entry, Rc::clone(&pipeline)));
        Ok(pipeline)
    }
}

/// Linear memory or an image, of this very backend.
enum Side<'a> {
    Linear(&'a VulkanMemory),
    Image(&'a VulkanImage),
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
unsafe impl BackendDriver for VulkanBackend {
    fn device(&self) -> &DeviceIdentity {
        &self.session.identity
    }

    fn caps(&self) -> &ComputeCaps {
        &self.session.caps
    }

    fn open_in(&self, display: &dyn Display) -> Result<Option<Arc<dyn ComputeBackend>>> {
        let Some(display) = display.downcast_ref::<VulkanDisplay>() else { return Ok(None) };
        let inside = self.session.caps.display_queue() == Some(display.shared.queue_id());
        if inside || !self.session.identity.same_device(display.device()).is_yes() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Self::inside(&display.shared)?)))
    }

    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        Ok(Arc::new(VulkanKernel::build(&self.session, source)?))
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        Ok(Box::new(VulkanMemory::new(&self.session, bytes)?))
    }

    fn allocate_shared(
        &self,
        bytes: usize,
        _handle: HandleType,
        _display: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        let memory = VulkanMemory::new(&self.session, bytes)?;
        let handle = memory.to_handle()?;
        Ok((Box::new(memory), handle))
    }

    fn import_surface(&self, _: Checked, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
        match desc {
            SurfaceDesc::Image(image) => Ok(Box::new(VulkanImage::open(&self.session, handle, image)?)),
            SurfaceDesc::Buffer(_) => Ok(Box::new(VulkanMemory::open(&self.session, handle, desc.byte_len()?)?)),
        }
    }

    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        let shared = self.session.shared()?;
        Ok(Box::new(VulkanSemaphore::open(shared, handle.duplicate_semaphore()?)?))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        own::<VulkanKernel>(kernel, &self.session)?.launch(target, args)
    }

    fn write_pattern(&self, target: Target<'_>, wanted: &Pattern) -> Result<()> {
        let (memory, view) = target.into_parts();
        if let Some(image) = find::<VulkanImage>(memory, &self.session) {
            if let Some(color) = flat_color(image.format(), wanted) {
                return self.flat()?.launch(Target::new(memory, view)?, &color.map(Arg::F32));
            }
            return image.through_linear(&view, |memory, view| self.pattern_into(memory, view, wanted));
        }
        self.pattern_into(own::<VulkanMemory>(memory, &self.session)?.buffer()?, &view, wanted)
    }

    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
        let (memory, view) = target.into_parts();
        if find::<VulkanImage>(memory, &self.session).is_some() {
            let reason = "an image has no name here; let the link take another path than in-queue-texture";
            return Err(self.session.shared()?.unsupported(reason));
        }
        let (memory, shared) = (own_mut::<VulkanMemory>(memory, &self.session)?, self.session.shared()?);
        let memory = RawMemory::Vulkan {
            buffer: memory.give_name()?.as_raw(),
            device: shared.sharing.device().handle().as_raw(),
            queue: shared.handles.queue.as_raw(),
        };
        // SAFETY: the target lies inside the memory, which keeps its buffer for as long as it is borrowed.
        Ok(unsafe { RawTarget::new(memory, view) })
    }

    fn copy(
        &self,
        _: Checked,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()> {
        match (Side::of(from, &self.session)?, Side::of(to, &self.session)?) {
            (Side::Linear(from), Side::Linear(to)) => to.copy_from(from, &range),
            (Side::Linear(from), Side::Image(to)) => to.copy_from(from.buffer()?, &range),
            (Side::Image(from), Side::Linear(to)) => from.copy_to(to.buffer()?, &range),
            (Side::Image(from), Side::Image(to)) => from.copy_image(to, &range),
        }
    }

    fn finish(&self) -> Result<()> {
        self.session.shared()?.submissions.finish()
    }
}
