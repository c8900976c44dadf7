//! The interface of a compute backend, and the driver that each backend implements.

use super::audit_kernels::AuditKernels;
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

/// The driver of a compute backend. [`ComputeBackend`] wraps it, checks the arguments first and documents each call.
///
/// Errors that reject a call need not name it: [`ComputeBackend`] adds the name ([`Error::refused`]).
///
/// # Safety
/// Whoever supplies a kernel's text vouches for its behaviour in launches as described here
/// ([`KernelSource::with_text`]), and other crates launch their own texts on any backend. A caller cannot verify that a
/// backend follows the description. The implementor therefore guarantees, for the backend and for the objects that it
/// returns (memories, kernels, queues, semaphores):
///
/// - **Lengths.** Memory has all the requested bytes (those of the block, or those that the description needs) for as
///   long as it lives. [`ComputeMemory::len`] never exceeds them and never changes. The wrapper uses that length to
///   reject a call with a range or target outside.
/// - **Kernels.** A kernel is built from the given text, in the given language and under the given name. It runs once
///   for each launch and at no other time. Sources and kernels are not kept for launches that were not requested.
/// - **Arguments.** A launch passes the given target and then the given arguments, unchanged and in order. It accepts
///   memory and kernels of this backend only. The work items are those that [`KernelSource`] describes.
/// - **Order.** Queued work is done in the order of the calls. [`ComputeMemory::release`], [`ComputeMemory::read`] and
///   [`ComputeBackend::finish`] return when the work queued before has ended, or return an error.
/// - **Handles.** The handles of [`ComputeBackend::raw`] and [`ComputeBackend::allocate_shared`] name the requested
///   memory, which lives as long as the result is borrowed or the handle exists. [`ComputeBackend::device`] is the
///   device's own identity.
/// - **Host memory.** Bytes of a [`HostBlock`] are used as [`ComputeBackend::import_host`] describes, and a clone of
///   the block is kept for as long as they are used.
///
/// A backend that forwards every call unchanged to another inherits the guarantees of that one.
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

    /// Implements [`ComputeBackend::import_host`].
    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        let reason = format!("its kernels cannot write {} bytes of host memory in place", block.len());
        Err(Error::unsupported(BackendDriver::device(self), reason))
    }

    /// Implements [`ComputeBackend::prepare_host`].
    fn prepare_host(&self, block: &HostBlock) -> Result<Option<Box<dyn Any + Send + Sync>>> {
        let _ = block;
        Ok(None)
    }

    /// Implements [`ComputeBackend::import_surface`].
    fn import_surface(
        &self,
        checked: CheckToken,
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
            format!("its memory has no native handle ({:?}); write it with a kernel or from the host", target.view());
        Err(Error::unsupported(BackendDriver::device(self), reason))
    }

    /// Implements [`ComputeBackend::copy`].
    fn copy(
        &self,
        checked: CheckToken,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()>;

    /// Implements [`ComputeBackend::queue`].
    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
        let reason = format!("it has no further queues ({options:?}); use CUDA, OpenCL or threads");
        Err(Error::unsupported(BackendDriver::device(self), reason))
    }

    /// Implements [`ComputeBackend::audit_kernels`].
    fn audit_kernels(&self) -> Option<&AuditKernels> {
        None
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

/// Proof that the arguments were checked, for writes to memory that has other owners. Only the checks of this module
/// make one.
#[derive(Debug)]
pub struct CheckToken(());

mod sealed {
    /// A driver becomes a [`super::ComputeBackend`] only through the checks of this module.
    pub trait Sealed {}

    impl<B: super::BackendDriver> Sealed for B {}
}

/// One device driven by one API, with an in-order queue.
///
/// Threads: a backend may be shared between threads. Work enters the queue in the order of the calls. Calls may return
/// before the device has done the work; [`ComputeMemory::release`] and [`ComputeBackend::finish`] wait for it.
///
/// Every call is checked here once before the backend's own type ([`BackendDriver`]) receives it.
pub trait ComputeBackend: sealed::Sealed + Any + Send + Sync {
    /// Returns the identity of the device.
    fn device(&self) -> &DeviceIdentity;

    /// Returns the memory and the semaphores that it can export and import, and its limits.
    fn caps(&self) -> &ComputeCaps;

    /// Opens this device again in the context that `display` draws in, where that enables paths that this backend
    /// lacks. OpenCL, for example, shares with OpenGL through contexts made for one another (`cl_khr_gl_sharing`).
    /// Returns `None` where nothing is gained, because this backend serves the display already.
    ///
    /// The display's context must be current on this thread. Kernels and memory belong to one of the two backends. The
    /// new backend, its kernels and its memories keep the context alive.
    ///
    /// # Errors
    /// [`Error::WrongContext`]; [`Error::Unsupported`] where the driver does not list this device among those that
    /// share with the context; [`Error::Driver`]. The backend itself stays usable for all of its paths.
    fn open_in(&self, display: &dyn Display) -> Result<Option<Arc<dyn ComputeBackend>>>;

    /// Builds a kernel from the source text in the backend's language.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where `source` has no text for this backend, [`Error::KernelBuild`] with the compiler's
    /// log.
    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>>;

    /// Allocates `bytes` of the device's own memory. The content is undefined.
    ///
    /// Memory may move to another thread: one thread computes a frame into it, and another brings it to a display. Work
    /// queued with it earlier is done before work queued later.
    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>>;

    /// Imports host memory, so that kernels write it in place. The block's address must satisfy the [`ComputeCaps`] for
    /// [`crate::HandleType::HostPointer`]. A block may be imported several times: an access through one memory that
    /// conflicts with a slice of another is rejected. A backend therefore forms slices only with [`HostBlock::read`]
    /// and [`HostBlock::write`], and its commands take part in [`HostBlock::borrows`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::imports`] does not list host pointers.
    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>>;

    /// Prepares host memory for [`ComputeMemory::read`] and [`ComputeMemory::write`] at full speed, for as long as the
    /// returned value lives (it keeps the block alive). Returns `None` where nothing is gained.
    fn prepare_host(&self, block: &HostBlock) -> Result<Option<Box<dyn Any + Send + Sync>>>;

    /// Imports a display's own object, so that kernels write it. The context that the handle belongs to must be current
    /// on this thread, now and whenever the memory is acquired, released or dropped.
    ///
    /// Memory of images may be opaque (an array). Kernels then write it with `PF_STORE` only, and the byte-wise calls
    /// of [`ComputeMemory`] use a copy.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::imports`] does not list the handle's type.
    fn import_surface(&self, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>>;

    /// Tells whether kernels can write linear memory that `display` can open: memory of their common device, or memory
    /// of another device that kernels reach (peer access).
    fn can_export_to(&self, display: &DeviceIdentity) -> Support;

    /// Allocates linear memory on the display's device together with a handle with which the display can open it.
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

    /// Allocates an image on this device together with a handle with which a display can open it as a texture of the
    /// same size and format. The memory is opaque, see [`ComputeBackend::import_surface`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::exports`] does not list images with the handle's type.
    fn allocate_shared_image(
        &self,
        image: &ImageDesc,
        handle: HandleType,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)>;

    /// Opens a display's semaphore, so that this backend's queue can wait for it and signal it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`ComputeCaps::semaphores`] does not list its kind.
    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>>;

    /// Queues a kernel. Its parameters are the target (see [`KernelSource`]) and then `args` in order.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a kernel or memory of another backend, [`Error::InvalidInput`] where the arguments do
    /// not fit the kernel or the target does not lie inside its memory.
    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()>;

    /// Queues a kernel of the backend's own that writes the verification pattern into the target, in the same way as a
    /// user's kernel writes. Paths are timed with flat patterns ([`Pattern::is_flat`]): a pattern that costs more than
    /// a plain kernel would hide the differences between paths.
    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()>;

    /// Returns the target's native handles, for work that other code queues. Bytes in use by other queues are waited
    /// for, or ordered before the later work of this backend's queue. [`crate::WriteFrame::raw`] describes the use.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the memory has no native handles; [`Error::Foreign`] for memory of another backend.
    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>>;

    /// Copies a range between two memories of this backend, in queue order. An empty range inside both does nothing.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a range outside of either memory; [`Error::Foreign`] for memory of another backend.
    fn copy(&self, from: &dyn ComputeMemory, to: &mut dyn ComputeMemory, range: Range<usize>) -> Result<()>;

    /// Creates another queue, which runs concurrently with the backend's own and all others. See [`ComputeQueue`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the backend has no other queues, or none with these options.
    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>>;

    /// Returns what keeps the kernels of audits. Links of a backend without it build them for themselves.
    fn audit_kernels(&self) -> Option<&AuditKernels>;

    /// Hints that work queued from now on need not start before a call waits for it. A GPU that must switch between
    /// compute and display then does several frames at a time. Every call that waits ends the hint.
    fn defer_submission(&self) -> Result<()>;

    /// Waits until the queue is empty.
    fn finish(&self) -> Result<()>;

    /// Switches the recording of device work and its times on or off. It is off at first, and costs nothing then.
    /// Returns the reason where the device does not report times. Waits for queued work; no other thread should queue
    /// work meanwhile.
    ///
    /// # Errors
    /// Errors of the driver; then nothing is recorded.
    fn set_timeline(&self, on: bool) -> Result<Support>;

    /// Passes the recorded work that is done by now to `into`, in the order in which it was queued. Does not wait.
    ///
    /// # Errors
    /// Errors of the driver.
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
                return Err(Error::refused(format!("address {address:#x} is not aligned to {alignment} bytes")));
            }
            BackendDriver::import_host(self, block)
        })
    }

    fn prepare_host(&self, block: &HostBlock) -> Result<Option<Box<dyn Any + Send + Sync>>> {
        setup("ComputeBackend::prepare_host", || BackendDriver::prepare_host(self, block))
    }

    fn import_surface(&self, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
        setup("ComputeBackend::import_surface", || {
            check_support(self, BackendDriver::caps(self).can_import_surface(handle.handle_type(), desc))?;
            handle.check_names(desc)?;
            // Drivers import the whole allocation of a memory handle, whatever size the description has.
            match (handle, desc) {
                (SharedHandle::Memory(memory), _) => {
                    check_bytes(self, usize::try_from(memory.bytes()).unwrap_or(usize::MAX))?;
                }
                (_, SurfaceDesc::Buffer(_)) => check_bytes(self, desc.byte_len()?)?,
                // The display made the texture, so the limits of this side's allocations do not apply.
                (_, SurfaceDesc::Image(_)) => {}
            }
            BackendDriver::import_surface(self, CheckToken(()), handle, desc)
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
                _ => return Err(Error::refused("the handle is not a semaphore")),
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
            // Backends may write a texture's pattern through linear memory, whose rows may be padded.
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
            BackendDriver::copy(self, CheckToken(()), from, to, range)
        })
    }

    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
        setup("ComputeBackend::queue", || BackendDriver::queue(self, options))
    }

    fn audit_kernels(&self) -> Option<&AuditKernels> {
        BackendDriver::audit_kernels(self)
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

/// Checks the size of an allocation: at least 1 byte, and at most the device's limit.
fn check_bytes(driver: &impl BackendDriver, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Err(Error::refused("0 bytes requested; give at least 1"));
    }
    check_support(driver, driver.caps().fits(bytes as u64))
}

fn check_support(driver: &impl BackendDriver, can: Support) -> Result<()> {
    can.ok_or_else(|reason| Error::unsupported(driver.device(), reason))
}

/// For a program's own paths, which may know the backend's type.
impl dyn ComputeBackend {
    /// Returns the backend as type `B`; `None` where it has another type.
    pub fn downcast_ref<B: ComputeBackend>(&self) -> Option<&B> {
        (self as &dyn Any).downcast_ref()
    }
}

/// The compute side's end of a semaphore shared with a display.
///
/// ```
/// use interop_core::{ComputeSemaphore, Error, Result};
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// /// Semaphore of a backend whose work is done when its calls return: a counter on the host.
/// struct Counter(Arc<AtomicU64>);
///
/// impl ComputeSemaphore for Counter {
///     fn signal(&mut self, value: u64) -> Result<()> {
///         self.0.store(value, Ordering::Release);
///         Ok(())
///     }
///     fn wait(&mut self, value: u64) -> Result<()> {
///         let is_over = self.0.load(Ordering::Acquire) >= value;
///         if is_over { Ok(()) } else { Err(Error::invalid("Counter::wait", "it would wait forever")) }
///     }
/// }
/// let counter = Arc::new(AtomicU64::new(0));
/// let mut semaphore: Box<dyn ComputeSemaphore> = Box::new(Counter(Arc::clone(&counter)));
/// semaphore.signal(3)?;
/// semaphore.wait(2)?;
/// assert_eq!((counter.load(Ordering::Acquire), semaphore.wait(4).is_err()), (3, true));
/// # Ok::<(), Error>(())
/// ```
pub trait ComputeSemaphore: Send + Sync {
    /// Signals the semaphore when all work queued before is done. Does not wait.
    ///
    /// `value` is the counter's new value. Binary semaphores ignore it, and must have been waited for since the last
    /// signal.
    fn signal(&mut self, value: u64) -> Result<()>;

    /// Makes work queued from now on wait until the semaphore is signalled (until the counter is at least `value`). The
    /// call itself does not wait.
    fn wait(&mut self, value: u64) -> Result<()>;
}
