//! The side that writes: what a compute backend must offer.

mod clock;
mod completion;
mod convert;
mod device_event;
mod event;
mod flat;
mod hazard;
mod host_buffer;
mod host_pool;
mod kernel;
mod opaque;
mod queue;
mod read_back;
mod schedule;

pub use crate::ranges::Access;
pub use clock::now;
pub use completion::{Completer, UserEvent};
pub use convert::CONVERT_SOURCE;
pub use device_event::DeviceEvent;
pub use event::{Event, EventStatus, Profile};
pub use hazard::Hazards;
pub use host_buffer::{HostBuffer, HostStorage};
pub use host_pool::HostPool;
pub use kernel::{Kernel, KernelSource, Language, SourceCode};
pub use opaque::{NOT_LINEAR, OpaqueImage, Placement};
pub use queue::{ComputeQueue, NOT_FOR_QUEUES, Order, Priority, QueueOptions, check_fill, check_some};
pub use read_back::{ReadBack, ReadSlot};
pub use schedule::{Kind, Schedule, Start, Use};

use crate::capability::{ComputeCaps, HandleType, Support, SyncKind};
use crate::device::DeviceIdentity;
use crate::display::Display;
use crate::error::{Error, Result};
use crate::format::PixelFormat;
use crate::geometry::Extent;
use crate::host_block::HostBlock;
use crate::pattern::Pattern;
use crate::shared_handle::SharedHandle;
use crate::surface::{ImageDesc, SurfaceDesc};
use crate::timeline::DeviceSpan;
use crate::view::{BufferView, ImageView, View};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// One device driven by one API, with an in-order queue.
///
/// Threads: a backend may be shared between threads. Work enters the queue in the order of the calls.
/// Calls may return before the device has done the work; [`ComputeMemory::release`] and [`ComputeBackend::finish`]
/// wait.
pub trait ComputeBackend: Any + Send + Sync {
    /// Who the device is.
    fn device(&self) -> &DeviceIdentity;

    /// What memory it can give and take.
    fn caps(&self) -> &ComputeCaps;

    /// Opens this device once more, inside what `display` draws in, where that opens paths that this backend lacks: OpenCL
    /// shares with OpenGL by contexts that are made for one another (`cl_khr_gl_sharing`). `None` where there is nothing to
    /// gain: this backend serves the display as it is.
    ///
    /// The display's context must be current on this thread. Kernels and memory are of the one backend or the other; the
    /// new one keeps the context as long as it lives, and so do its kernels and memories.
    ///
    /// # Errors
    /// [`Error::WrongContext`]; [`Error::Unsupported`] where the driver does not name this device among those that share with the
    /// context; [`Error::Driver`]. The backend itself stays good for every path that it offers.
    fn open_in(&self, display: &dyn Display) -> Result<Option<Arc<dyn ComputeBackend>>> {
        let _ = display;
        Ok(None)
    }

    /// Builds a kernel from the source in the backend's language.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where `source` has no text for this backend, [`Error::KernelBuild`] with the compiler's
    /// log.
    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>>;

    /// Allocates `bytes` of the device's own memory. The content is undefined.
    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>>;

    /// Makes host memory writable by kernels, in place. The block's address must satisfy the
    /// [`ComputeCaps`] for [`crate::HandleType::HostPointer`]. A block may be imported several times: what one memory does
    /// beside a slice that another gave out is refused. So a backend forms slices by [`HostBlock::read`] and
    /// [`HostBlock::write`] alone, and its commands take part in [`HostBlock::borrows`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::imports`] does not list it.
    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        let reason = format!("its kernels cannot write {} bytes of the host's in place", block.len());
        Err(Error::Unsupported { operation: "import_host", device: self.device().to_string(), reason })
    }

    /// Prepares host memory for [`ComputeMemory::read`] and [`ComputeMemory::write`] at full speed, for as long as what
    /// is returned lives (it keeps the block alive). `None` where there is nothing to gain.
    fn prepare_host(&self, block: &HostBlock) -> Result<Option<Box<dyn Any>>> {
        let _ = block;
        Ok(None)
    }

    /// Makes a display's own object writable by kernels. The context that the handle belongs to must be current on
    /// this thread, here and whenever the memory is acquired, released or dropped.
    ///
    /// Memory of images may be opaque (an array): then kernels write it by `PF_STORE` only, and the byte-wise calls of
    /// [`ComputeMemory`] go by way of a copy.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::imports`] does not list the handle's type.
    fn import_surface(&self, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
        let reason = format!("it cannot open a {} ({desc})", handle.handle_type());
        Err(Error::Unsupported { operation: "import_surface", device: self.device().to_string(), reason })
    }

    /// Whether kernels can write linear memory that lies where `display` can open it: its own device's where they are
    /// one device, or another's that kernels reach (peer access).
    fn reaches(&self, display: &DeviceIdentity) -> Support {
        self.device().is_one_with(display)
    }

    /// Allocates linear memory on the display's device together with a handle by which the display can open it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::exports`] does not list the handle's type, or
    /// [`ComputeBackend::reaches`] says no.
    fn allocate_shared(
        &self,
        bytes: usize,
        handle: HandleType,
        display: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        let reason = format!("it cannot export {bytes} bytes as {handle} to {display}");
        Err(Error::Unsupported { operation: "allocate_shared", device: self.device().to_string(), reason })
    }

    /// Allocates an image of the device's own together with a handle by which a display can open it as a texture of the
    /// same size and format. It is opaque memory, see [`ComputeBackend::import_surface`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::exports`] does not list images by the handle's type.
    fn allocate_shared_image(
        &self,
        image: &ImageDesc,
        handle: HandleType,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        let reason = format!("it cannot export an image {} as {handle}", image.extent);
        Err(Error::Unsupported { operation: "allocate_shared_image", device: self.device().to_string(), reason })
    }

    /// Opens a display's semaphore.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::semaphores`] does not list its kind.
    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        let reason = format!("it cannot open a semaphore behind a {}", handle.handle_type());
        Err(Error::Unsupported { operation: "import_semaphore", device: self.device().to_string(), reason })
    }

    /// Puts a kernel into the queue. Its parameters are the target (see [`KernelSource`]) and then `args` in order.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a kernel or memory of another backend, [`Error::InvalidInput`] where the arguments do
    /// not fit the kernel or the target does not lie inside its memory.
    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()>;

    /// Writes the verification pattern into the target by a kernel of the backend's own, in the same way as a user's
    /// kernel would write.
    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()>;

    /// Copies a range between two memories of this backend, in queue order.
    fn copy(&self, from: &dyn ComputeMemory, to: &mut dyn ComputeMemory, range: Range<usize>) -> Result<()>;

    /// Makes a further queue, which runs beside the backend's own and any other. See [`ComputeQueue`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the backend has none, or none with these options.
    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
        let reason = format!("it has no further queues ({options:?})");
        Err(Error::Unsupported { operation: "queue", device: self.device().to_string(), reason })
    }

    /// A hint that what is queued from now on need not start before something waits for it: a GPU that must switch
    /// between compute and display then does several frames at a time. Every call that waits ends it.
    fn hold_back(&self) -> Result<()> {
        Ok(())
    }

    /// Waits until the queue is empty.
    fn finish(&self) -> Result<()>;

    /// Switches on or off the recording of what the device does and when; off at first, and free then. Says why where
    /// the device does not tell. Waits for what is queued; no other thread should queue work meanwhile.
    ///
    /// # Errors
    /// What the driver reports; then nothing is recorded.
    fn set_timeline(&self, on: bool) -> Result<Support> {
        let _ = on;
        Ok(Support::No("this backend does not time its work".into()))
    }

    /// Hands over what was recorded of work that is done by now, in the order in which it was queued. Waits for nothing.
    ///
    /// # Errors
    /// What the driver reports.
    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        let _ = into;
        Ok(())
    }
}

/// For paths of a program's own, which may know more of a backend than the contract says.
impl dyn ComputeBackend {
    /// The backend as that type, where it is of it.
    pub fn downcast_ref<B: ComputeBackend>(&self) -> Option<&B> {
        (self as &dyn Any).downcast_ref()
    }
}

/// The compute side's end of a semaphore.
pub trait ComputeSemaphore {
    /// Signals when all work queued before is done. Does not wait.
    ///
    /// `value` is the counter's new value; binary semaphores ignore it, and must have been waited for before.
    fn signal(&mut self, value: u64) -> Result<()>;

    /// Lets work queued from now on wait until the semaphore is signalled (the counter is at least `value`). Does not
    /// wait.
    fn wait(&mut self, value: u64) -> Result<()>;
}

/// Memory that kernels of one backend read and write.
///
/// Not tied to a thread by itself; memory imported from a display is dropped before what it was imported from
/// (the import keeps the block alive).
///
/// A backend works with memory that it made itself and refuses all other. A backend that wraps another gives that one the
/// memory that it wraps, see [`Target::within`].
#[allow(clippy::len_without_is_empty)] // never empty
pub trait ComputeMemory: Any {
    /// Number of bytes.
    fn len(&self) -> usize;

    /// Copies from the device, after all work queued before. Blocks.
    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()>;

    /// Copies to the device, after all work queued before. Blocks until `from` may be reused.
    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()>;

    /// Shows the bytes to the host, after all work queued before: mapped where device memory is host memory, else
    /// by way of a copy. Blocks.
    fn view(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;

    /// Lets the host fill the range in place. The old bytes of the range are lost.
    fn fill(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>;

    /// Keeps the memory's other owner apart in this way from now on, for [`ComputeBackend::import_surface`] of a display's
    /// own object.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for all but [`SyncKind::Implicit`] where [`ComputeCaps::semaphores`] does not list the kind.
    fn set_sync(&mut self, kind: SyncKind) -> Result<()> {
        if kind == SyncKind::Implicit {
            return Ok(());
        }
        let reason = format!("the memory is not kept apart by a {kind}");
        Err(Error::Unsupported { operation: "set_sync", device: "this memory".into(), reason })
    }

    /// Begins the compute side's turn with imported memory: orders kernels queued from now on after what the other
    /// owner was told to do before. Nothing to do for memory of the device's own.
    fn acquire(&mut self) -> Result<()> {
        Ok(())
    }

    /// Marks the end of the compute side's turn in the queue without waiting: the next [`ComputeMemory::release`]
    /// waits for the work up to here only, not for what is queued later.
    fn submit(&mut self) -> Result<()> {
        Ok(())
    }

    /// Ends the compute side's turn with imported memory: waits for the work queued so far (or up to
    /// [`ComputeMemory::submit`]) and makes it visible to the memory's other owner.
    fn release(&mut self) -> Result<()>;

    /// Ends the compute side's turn with imported memory in queue order, without waiting: for a semaphore that is
    /// signalled next.
    fn release_in_queue(&mut self) -> Result<()> {
        Ok(())
    }
}

/// For backends to find their own types again. The compiler says what type a memory is of, so that nobody else's can pass
/// for one: what a backend then asks it, its length above all, is answered by the backend itself.
impl dyn ComputeMemory {
    /// Whether it is of that type.
    pub fn is<M: ComputeMemory>(&self) -> bool {
        (self as &dyn Any).is::<M>()
    }

    /// The memory as that type, where it is of it.
    pub fn downcast_ref<M: ComputeMemory>(&self) -> Option<&M> {
        (self as &dyn Any).downcast_ref()
    }

    /// The same, to change it.
    pub fn downcast_mut<M: ComputeMemory>(&mut self) -> Option<&mut M> {
        (self as &mut dyn Any).downcast_mut()
    }
}

/// Memory and the part of it that a kernel writes.
pub struct Target<'a> {
    memory: &'a mut dyn ComputeMemory,
    view: View,
    items: Option<usize>,
}

impl<'a> Target<'a> {
    /// A checked target: the view lies inside the memory.
    pub fn new(memory: &'a mut dyn ComputeMemory, view: View) -> Result<Self> {
        view.check_inside(memory.len(), "Target::new")?;
        Ok(Self { memory, view, items: None })
    }

    /// An image with tight rows from the start of `memory`, for passes whose result is not shown.
    pub fn image(memory: &'a mut dyn ComputeMemory, extent: Extent, format: PixelFormat) -> Result<Self> {
        let view = ImageView::packed(extent, format, 1, 0, false)?;
        Self::new(memory, View::Image(view))
    }

    /// The whole of `memory` as bytes.
    pub fn buffer(memory: &'a mut dyn ComputeMemory) -> Self {
        let len = memory.len();
        Self { memory, view: View::Buffer(BufferView { offset: 0, len }), items: None }
    }

    /// Number of work items of this launch for a buffer target, in the place of [`KernelSource::with_items`]; the CPU
    /// decides by it whether other threads are worth waking.
    #[must_use]
    pub fn with_items(mut self, items: usize) -> Self {
        self.items = Some(items);
        self
    }

    /// Work items of this launch, where [`Target::with_items`] said so.
    pub fn items(&self) -> Option<usize> {
        self.items
    }

    /// Where in the memory.
    pub fn view(&self) -> View {
        self.view
    }

    /// The same part, with the same work items, of the memory that `inner` finds in this one: for backends that wrap others.
    ///
    /// # Errors
    /// Those of `inner`; [`Error::InvalidInput`] where the view does not lie inside that memory.
    pub fn within(
        self,
        inner: impl FnOnce(&'a mut dyn ComputeMemory) -> Result<&'a mut dyn ComputeMemory>,
    ) -> Result<Self> {
        Ok(Self { items: self.items, ..Self::new(inner(self.memory)?, self.view)? })
    }

    /// The memory and where in it.
    pub fn into_parts(self) -> (&'a mut dyn ComputeMemory, View) {
        (self.memory, self.view)
    }
}

/// One argument of a kernel, after the target.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Arg<'a> {
    /// 32-bit signed.
    I32(i32),
    /// 32-bit unsigned.
    U32(u32),
    /// binary32.
    F32(f32),
    /// 64-bit signed.
    I64(i64),
    /// 64-bit unsigned.
    U64(u64),
    /// binary64; the device may lack it.
    F64(f64),
    /// Device memory, read by the kernel: by a pointer, or in OpenCL an imported texture by `image2d_t`, between acquire and
    /// release where it is OpenGL's.
    Memory(&'a dyn ComputeMemory),
}

impl Arg<'_> {
    /// Name of the kind, for messages.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::I32(_) => "i32",
            Self::U32(_) => "u32",
            Self::F32(_) => "f32",
            Self::I64(_) => "i64",
            Self::U64(_) => "u64",
            Self::F64(_) => "f64",
            Self::Memory(_) => "memory",
        }
    }
}

/// Checks that `range` lies inside `len` bytes; for backends.
pub fn check_range(range: &Range<usize>, len: usize, operation: &'static str) -> Result<()> {
    if range.start > range.end || range.end > len {
        return Err(Error::invalid(
            operation,
            format!("bytes {}..{} reach outside the memory of {len} bytes", range.start, range.end),
        ));
    }
    Ok(())
}
