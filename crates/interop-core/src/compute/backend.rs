//! The interface of a compute backend, and the driver that each backend implements.

use super::kernel::{Kernel, KernelSource};
use super::memory::ComputeMemory;
use super::queue::{ComputeQueue, QueueOptions};
use super::raw::RawTarget;
use super::target::{Arg, Target};
use crate::describe::error::{Error, Result, call, setup};
use crate::describe::pattern::Pattern;
use crate::describe::surface::{ImageDesc, MemoryShape, SurfaceDesc};
use crate::devices::capability::{ComputeCaps, HandleType, Support};
use crate::devices::host_block::HostBlock;
use crate::devices::identity::DeviceIdentity;
use crate::devices::ranges::check_range;
use crate::devices::shared_handle::SharedHandle;
use crate::devices::timeline::DeviceSpan;
use crate::display::Display;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// The driver of a compute backend. [`ComputeBackend`] wraps it: it checks the arguments first, and documents each
/// call.
///
/// Errors that refuse a call need not name it: the front does ([`Error::refused`]).
///
/// # Safety
/// Whoever gives a kernel's text vouches for what it does in launches that are as described here
/// ([`KernelSource::with_text`]), and other crates launch their own texts on any backend. No caller can see whether a backend
/// keeps to it. So whoever implements one promises, for the backend and for what it returns (memories, kernels, queues,
/// semaphores):
///
/// - **Lengths.** Memory has all the bytes that were asked for, that the block has, or that the description needs, for as
///   long as it lives; [`ComputeMemory::len`] says no more than there are, and always the same. A call with a range, or a target,
///   outside of it is refused by the front, which asks that length.
/// - **Kernels.** A kernel is made of the text that was given, in that language, by that name. It runs once for each launch of
///   it, and not without one. Nothing keeps a source or a kernel for launches that nobody asked for.
/// - **Arguments.** A launch passes the target that was given and then the arguments that were given, unchanged and in order; it
///   takes memory and kernels of this backend alone. The work items are those that [`KernelSource`] describes.
/// - **Order.** What was queued is done in the order of the calls. [`ComputeMemory::release`], [`ComputeMemory::read`] and
///   [`ComputeBackend::finish`] return when what was queued before is over, or give an error.
/// - **Names.** What [`ComputeBackend::raw`] and [`ComputeBackend::allocate_shared`] name is the memory that was asked for, and
///   lives as long as the result is borrowed or the handle exists. [`ComputeBackend::device`] is the device's own identity.
/// - **Host memory.** Bytes of a [`HostBlock`] are used as [`ComputeBackend::import_host`] says, and a clone of the block is kept
///   for as long as they are.
///
/// A backend that hands every call on to another, unchanged, keeps what that one promises.
pub unsafe trait BackendDriver: Any + Send + Sync {
    /// Implements [`ComputeBackend::device`].
    fn device(&self) -> &DeviceIdentity;

    /// Implements [`ComputeBackend::caps`].
    fn caps(&self) -> &ComputeCaps;

    /// Implements [`ComputeBackend::open_in`].
    fn open_in(&self, display: &dyn Display) -> Result<Option<Arc<dyn ComputeBackend>>> {
        let _ = display;
        Ok(None)
    }

    /// Implements [`ComputeBackend::build`].
    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>>;

    /// Implements [`ComputeBackend::allocate`].
    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>>;

    /// Implements [`ComputeBackend::allocate_send`].
    fn allocate_send(&self, bytes: usize) -> Result<Box<dyn ComputeMemory + Send>> {
        let reason = format!("its memory stays on one thread; {bytes} bytes were asked for another");
        Err(Error::unsupported(BackendDriver::device(self), reason))
    }

    /// Implements [`ComputeBackend::import_host`].
    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        let reason = format!("its kernels cannot write {} bytes of the host's in place", block.len());
        Err(Error::unsupported(BackendDriver::device(self), reason))
    }

    /// Implements [`ComputeBackend::prepare_host`].
    fn prepare_host(&self, block: &HostBlock) -> Result<Option<Box<dyn Any>>> {
        let _ = block;
        Ok(None)
    }

    /// Implements [`ComputeBackend::import_surface`].
    fn import_surface(
        &self,
        checked: Checked,
        handle: &SharedHandle,
        desc: &SurfaceDesc,
    ) -> Result<Box<dyn ComputeMemory>> {
        let _ = checked;
        let reason = format!("it cannot open a {} ({desc})", handle.handle_type());
        Err(Error::unsupported(BackendDriver::device(self), reason))
    }

    /// Implements [`ComputeBackend::can_export_to`].
    fn can_export_to(&self, display: &DeviceIdentity) -> Support {
        self.device().same_device(display)
    }

    /// Implements [`ComputeBackend::allocate_shared`].
    fn allocate_shared(
        &self,
        bytes: usize,
        handle: HandleType,
        display: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        let reason = format!("it cannot export {bytes} bytes as {handle} to {display}");
        Err(Error::unsupported(BackendDriver::device(self), reason))
    }

    /// Implements [`ComputeBackend::allocate_shared_image`].
    fn allocate_shared_image(
        &self,
        image: &ImageDesc,
        handle: HandleType,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        let reason = format!("it cannot export an image {} as {handle}", image.extent);
        Err(Error::unsupported(BackendDriver::device(self), reason))
    }

    /// Implements [`ComputeBackend::import_semaphore`].
    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        let reason = format!("it cannot open a semaphore behind a {}", handle.handle_type());
        Err(Error::unsupported(BackendDriver::device(self), reason))
    }

    /// Implements [`ComputeBackend::launch`].
    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()>;

    /// Implements [`ComputeBackend::write_pattern`].
    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()>;

    /// Implements [`ComputeBackend::raw`].
    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
        let reason =
            format!("its memory has no name outside ({:?}); write by a kernel or from the host", target.view());
        Err(Error::unsupported(BackendDriver::device(self), reason))
    }

    /// Implements [`ComputeBackend::copy`].
    fn copy(
        &self,
        checked: Checked,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()>;

    /// Implements [`ComputeBackend::queue`].
    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
        let reason = format!("it has no further queues ({options:?}); use CUDA, OpenCL or threads");
        Err(Error::unsupported(BackendDriver::device(self), reason))
    }

    /// Implements [`ComputeBackend::defer_submission`].
    fn defer_submission(&self) -> Result<()> {
        Ok(())
    }

    /// Implements [`ComputeBackend::finish`].
    fn finish(&self) -> Result<()>;

    /// Implements [`ComputeBackend::set_timeline`].
    fn set_timeline(&self, on: bool) -> Result<Support> {
        let _ = on;
        Ok(Support::No("this backend does not time its work".into()))
    }

    /// Implements [`ComputeBackend::drain_timeline`].
    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        let _ = into;
        Ok(())
    }
}

/// Proof that what is given fits, where memory is written that others have: the front alone makes one.
#[derive(Debug)]
pub struct Checked(());

mod sealed {
    /// A driver alone is [`super::ComputeBackend`], by the checks here.
    pub trait Sealed {}

    impl<B: super::BackendDriver> Sealed for B {}
}

/// One device driven by one API, with an in-order queue.
///
/// Threads: a backend may be shared between threads. Work enters the queue in the order of the calls.
/// Calls may return before the device has done the work; [`ComputeMemory::release`] and [`ComputeBackend::finish`]
/// wait.
///
/// Every call is checked here, once, before the backend's own type ([`BackendDriver`]) gets it.
pub trait ComputeBackend: sealed::Sealed + Any + Send + Sync {
    /// Returns the identity of the device.
    fn device(&self) -> &DeviceIdentity;

    /// Returns what memory it can give and take.
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
    fn open_in(&self, display: &dyn Display) -> Result<Option<Arc<dyn ComputeBackend>>>;

    /// Builds a kernel from the source in the backend's language.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where `source` has no text for this backend, [`Error::KernelBuild`] with the compiler's
    /// log.
    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>>;

    /// Allocates `bytes` of the device's own memory. The content is undefined.
    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>>;

    /// Allocates as [`ComputeBackend::allocate`] does, memory that may go to another thread: one computes a frame into it, and
    /// another brings it to a display, which stays on its thread. What was queued with it before is done before what is
    /// queued after. One thread has it at a time.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where memory stays on the thread of a context (OpenGL), and in backends that do not say.
    fn allocate_send(&self, bytes: usize) -> Result<Box<dyn ComputeMemory + Send>>;

    /// Makes host memory writable by kernels, in place. The block's address must satisfy the
    /// [`ComputeCaps`] for [`crate::HandleType::HostPointer`]. A block may be imported several times: what one memory does
    /// beside a slice that another gave out is refused. So a backend forms slices by [`HostBlock::read`] and
    /// [`HostBlock::write`] alone, and its commands take part in [`HostBlock::borrows`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::imports`] does not list it.
    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>>;

    /// Prepares host memory for [`ComputeMemory::read`] and [`ComputeMemory::write`] at full speed, for as long as what
    /// is returned lives (it keeps the block alive). `None` where there is nothing to gain.
    fn prepare_host(&self, block: &HostBlock) -> Result<Option<Box<dyn Any>>>;

    /// Makes a display's own object writable by kernels. The context that the handle belongs to must be current on
    /// this thread, here and whenever the memory is acquired, released or dropped.
    ///
    /// Memory of images may be opaque (an array): then kernels write it by `PF_STORE` only, and the byte-wise calls of
    /// [`ComputeMemory`] go by way of a copy.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::imports`] does not list the handle's type.
    fn import_surface(&self, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>>;

    /// Tells whether kernels can write linear memory that lies where `display` can open it: its own device's where they are
    /// one device, or another's that kernels reach (peer access).
    fn can_export_to(&self, display: &DeviceIdentity) -> Support;

    /// Allocates linear memory on the display's device together with a handle by which the display can open it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::exports`] does not list the handle's type, or
    /// [`ComputeBackend::can_export_to`] says no.
    fn allocate_shared(
        &self,
        bytes: usize,
        handle: HandleType,
        display: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)>;

    /// Allocates an image of the device's own together with a handle by which a display can open it as a texture of the
    /// same size and format. It is opaque memory, see [`ComputeBackend::import_surface`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::exports`] does not list images by the handle's type.
    fn allocate_shared_image(
        &self,
        image: &ImageDesc,
        handle: HandleType,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)>;

    /// Opens a display's semaphore.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::semaphores`] does not list its kind.
    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>>;

    /// Puts a kernel into the queue. Its parameters are the target (see [`KernelSource`]) and then `args` in order.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a kernel or memory of another backend, [`Error::InvalidInput`] where the arguments do
    /// not fit the kernel or the target does not lie inside its memory.
    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()>;

    /// Writes the verification pattern into the target by a kernel of the backend's own, in the same way as a user's
    /// kernel would write. Paths are timed with flat patterns ([`Pattern::is_flat`]): one that costs more than a plain kernel
    /// hides what they differ by.
    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()>;

    /// The target by its own API's names, for work that others queue. Bytes that queues beside the backend's own use are
    /// waited for, or ordered before what its queue gets from now on. [`crate::WriteFrame::raw`] says how to use it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the memory has no names outside; [`Error::Foreign`] for memory of another backend.
    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>>;

    /// Copies a range between two memories of this backend, in queue order. An empty range inside both does nothing.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a range outside of either; [`Error::Foreign`] for memory of another backend.
    fn copy(&self, from: &dyn ComputeMemory, to: &mut dyn ComputeMemory, range: Range<usize>) -> Result<()>;

    /// Makes a further queue, which runs beside the backend's own and any other. See [`ComputeQueue`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the backend has none, or none with these options.
    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>>;

    /// A hint that what is queued from now on need not start before something waits for it: a GPU that must switch
    /// between compute and display then does several frames at a time. Every call that waits ends it.
    fn defer_submission(&self) -> Result<()>;

    /// Waits until the queue is empty.
    fn finish(&self) -> Result<()>;

    /// Switches on or off the recording of what the device does and when; off at first, and free then. Says why where
    /// the device does not tell. Waits for what is queued; no other thread should queue work meanwhile.
    ///
    /// # Errors
    /// What the driver reports; then nothing is recorded.
    fn set_timeline(&self, on: bool) -> Result<Support>;

    /// Hands over what was recorded of work that is done by now, in the order in which it was queued. Waits for nothing.
    ///
    /// # Errors
    /// What the driver reports.
    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()>;
}

impl<B: BackendDriver> ComputeBackend for B {
    fn device(&self) -> &DeviceIdentity {
        BackendDriver::device(self)
    }

    fn caps(&self) -> &ComputeCaps {
        BackendDriver::caps(self)
    }

    fn open_in(&self, display: &dyn Display) -> Result<Option<Arc<dyn ComputeBackend>>> {
        setup("ComputeBackend::open_in", || BackendDriver::open_in(self, display))
    }

    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        setup("ComputeBackend::build", || BackendDriver::build(self, source))
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        setup("ComputeBackend::allocate", || {
            check_bytes(self, bytes)?;
            BackendDriver::allocate(self, bytes)
        })
    }

    fn allocate_send(&self, bytes: usize) -> Result<Box<dyn ComputeMemory + Send>> {
        setup("ComputeBackend::allocate_send", || {
            check_bytes(self, bytes)?;
            BackendDriver::allocate_send(self, bytes)
        })
    }

    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        setup("ComputeBackend::import_host", || {
            if block.len() == 0 {
                return Err(Error::refused("the block has 0 bytes; give at least 1"));
            }
            let caps = BackendDriver::caps(self);
            check_support(self, caps.can_import(HandleType::HostPointer, MemoryShape::Linear))?;
            let address = block.address().as_ptr().addr();
            let alignment = caps.imports.iter().find(|cap| cap.handle == HandleType::HostPointer);
            if let Some(alignment) = alignment.map(|cap| cap.address_alignment)
                && !address.is_multiple_of(alignment)
            {
                return Err(Error::refused(format!("address {address:#x} is not a multiple of {alignment} bytes")));
            }
            BackendDriver::import_host(self, block)
        })
    }

    fn prepare_host(&self, block: &HostBlock) -> Result<Option<Box<dyn Any>>> {
        setup("ComputeBackend::prepare_host", || BackendDriver::prepare_host(self, block))
    }

    fn import_surface(&self, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
        setup("ComputeBackend::import_surface", || {
            check_support(self, BackendDriver::caps(self).can_import_surface(handle.handle_type(), desc))?;
            handle.check_names(desc)?;
            // Drivers import the whole allocation of a memory handle, whatever the description's size.
            match (handle, desc) {
                (SharedHandle::Memory(memory), _) => {
                    check_bytes(self, usize::try_from(memory.bytes()).unwrap_or(usize::MAX))?;
                }
                (_, SurfaceDesc::Buffer(_)) => check_bytes(self, desc.byte_len()?)?,
                // A texture is no allocation of this side's: the display has made it.
                (_, SurfaceDesc::Image(_)) => {}
            }
            BackendDriver::import_surface(self, Checked(()), handle, desc)
        })
    }

    fn can_export_to(&self, display: &DeviceIdentity) -> Support {
        BackendDriver::can_export_to(self, display)
    }

    fn allocate_shared(
        &self,
        bytes: usize,
        handle: HandleType,
        display: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        setup("ComputeBackend::allocate_shared", || {
            check_bytes(self, bytes)?;
            let caps = BackendDriver::caps(self);
            let can = caps.can_export(handle, MemoryShape::Linear).and(|| BackendDriver::can_export_to(self, display));
            check_support(self, can)?;
            BackendDriver::allocate_shared(self, bytes, handle, display)
        })
    }

    fn allocate_shared_image(
        &self,
        image: &ImageDesc,
        handle: HandleType,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        setup("ComputeBackend::allocate_shared_image", || {
            check_support(self, BackendDriver::caps(self).can_export(handle, MemoryShape::Image))?;
            SurfaceDesc::Image(*image).byte_len()?;
            BackendDriver::allocate_shared_image(self, image, handle)
        })
    }

    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        setup("ComputeBackend::import_semaphore", || {
            match handle {
                SharedHandle::Semaphore(semaphore) => {
                    check_support(self, BackendDriver::caps(self).can_open_semaphore(semaphore.kind()))?;
                }
                SharedHandle::Other { .. } => {}
                _ => return Err(Error::refused("the handle does not name a semaphore")),
            }
            BackendDriver::import_semaphore(self, handle)
        })
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        call("ComputeBackend::launch", || BackendDriver::launch(self, kernel, target, args))
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        call("ComputeBackend::write_pattern", || {
            let (memory, view) = target.into_parts();
            // Backends may write a texture's pattern by way of linear memory, whose rows may be padded.
            let most = BackendDriver::caps(self).max_allocation / 2;
            pattern.in_bands(&view, usize::try_from(most).unwrap_or(usize::MAX)).try_for_each(|(band, pattern)| {
                BackendDriver::write_pattern(self, Target::new(&mut *memory, band)?, &pattern)
            })
        })
    }

    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
        call("ComputeBackend::raw", || BackendDriver::raw(self, target))
    }

    fn copy(&self, from: &dyn ComputeMemory, to: &mut dyn ComputeMemory, range: Range<usize>) -> Result<()> {
        call("ComputeBackend::copy", || {
            check_range(&range, from.len())?;
            check_range(&range, to.len())?;
            if range.is_empty() {
                return Ok(());
            }
            BackendDriver::copy(self, Checked(()), from, to, range)
        })
    }

    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
        setup("ComputeBackend::queue", || BackendDriver::queue(self, options))
    }

    fn defer_submission(&self) -> Result<()> {
        call("ComputeBackend::defer_submission", || BackendDriver::defer_submission(self))
    }

    fn finish(&self) -> Result<()> {
        call("ComputeBackend::finish", || BackendDriver::finish(self))
    }

    fn set_timeline(&self, on: bool) -> Result<Support> {
        call("ComputeBackend::set_timeline", || BackendDriver::set_timeline(self, on))
    }

    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        call("ComputeBackend::drain_timeline", || BackendDriver::drain_timeline(self, into))
    }
}

/// Refuses none, and more than there is.
fn check_bytes(driver: &impl BackendDriver, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Err(Error::refused("0 bytes asked for; give at least 1"));
    }
    check_support(driver, driver.caps().fits(bytes as u64))
}

fn check_support(driver: &impl BackendDriver, can: Support) -> Result<()> {
    match can {
        Support::Yes => Ok(()),
        Support::No(reason) => Err(Error::unsupported(driver.device().to_string(), reason)),
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
///
/// ```
/// use interop_core::{ComputeSemaphore, Error, Result};
/// use std::{cell::Cell, rc::Rc};
///
/// /// Of a backend whose work is done when its calls return: a counter on the host.
/// struct Counter(Rc<Cell<u64>>);
///
/// impl ComputeSemaphore for Counter {
///     fn signal(&mut self, value: u64) -> Result<()> {
///         self.0.set(value);
///         Ok(())
///     }
///     fn wait(&mut self, value: u64) -> Result<()> {
///         let is_over = self.0.get() >= value;
///         if is_over { Ok(()) } else { Err(Error::invalid("Counter::wait", "it would wait forever")) }
///     }
/// }
/// let counter = Rc::new(Cell::new(0));
/// let mut semaphore: Box<dyn ComputeSemaphore> = Box::new(Counter(Rc::clone(&counter)));
/// semaphore.signal(3)?;
/// semaphore.wait(2)?;
/// assert_eq!((counter.get(), semaphore.wait(4).is_err()), (3, true));
/// # Ok::<(), Error>(())
/// ```
pub trait ComputeSemaphore {
    /// Signals when all work queued before is done. Does not wait.
    ///
    /// `value` is the counter's new value; binary semaphores ignore it, and must have been waited for before.
    fn signal(&mut self, value: u64) -> Result<()>;

    /// Lets work queued from now on wait until the semaphore is signalled (the counter is at least `value`). Does not
    /// wait.
    fn wait(&mut self, value: u64) -> Result<()>;
}
