//! Owned references to OpenCL objects.

use super::Failure;
use opencl3::error_codes::CL_INVALID_VALUE;
use opencl3::event::wait_for_events;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A kind of object, and how one reference to it is given up.
pub trait Kind {
    /// Name of the API function, for the log.
    const RELEASE: &'static str;

    /// # Safety
    /// `raw` must be a live object of this kind, and the caller must own one reference, which is gone afterwards.
    unsafe fn release(raw: *mut c_void) -> Result<(), i32>;
}

/// Kinds whose objects may be used by several threads at once: all but kernels, whose arguments are set one by one
/// (OpenCL 3.0 API, appendix A.2).
pub trait Shareable: Kind {}

macro_rules! kinds {
    ($($kind:ident, $name:literal, $release:path;)*) => {$(
        pub enum $kind {}

        impl Kind for $kind {
            const RELEASE: &'static str = $name;

            unsafe fn release(raw: *mut c_void) -> Result<(), i32> {
                // SAFETY: the caller's promise is the one that the function asks for.
                unsafe { $release(raw) }
            }
        }
    )*};
}

kinds! {
    ContextKind, "clReleaseContext", opencl3::context::context::release_context;
    QueueKind, "clReleaseCommandQueue", opencl3::command_queue::release_command_queue;
    MemKind, "clReleaseMemObject", opencl3::memory::release_mem_object;
    ProgramKind, "clReleaseProgram", opencl3::program::release_program;
    KernelKind, "clReleaseKernel", opencl3::kernel::release_kernel;
    EventKind, "clReleaseEvent", opencl3::event::release_event;
}

impl Shareable for ContextKind {}
impl Shareable for QueueKind {}
impl Shareable for MemKind {}

/// One reference to an object, given up on drop.
pub struct Handle<K: Kind> {
    raw: NonNull<c_void>,
    kind: PhantomData<K>,
}

// SAFETY: OpenCL objects are not tied to a thread (OpenCL 3.0 API, appendix A.2).
unsafe impl<K: Kind> Send for Handle<K> {}
// SAFETY: `Shareable` marks the kinds for which the specification allows calls from several threads at once.
unsafe impl<K: Shareable> Sync for Handle<K> {}

impl<K: Kind> Handle<K> {
    /// # Safety
    /// Where `result` is a non-null object, it must be of kind `K`, and the caller hands over one reference to it.
    pub unsafe fn own(operation: &'static str, result: Result<*mut c_void, i32>) -> Result<Self, Failure> {
        let raw = super::check(operation, result)?;
        // A driver that reports success without an object is broken, but must not break us.
        let raw = NonNull::new(raw).ok_or(Failure { operation, code: CL_INVALID_VALUE })?;
        Ok(Self { raw, kind: PhantomData })
    }

    pub fn raw(&self) -> *mut c_void {
        self.raw.as_ptr()
    }
}

impl<K: Kind> Drop for Handle<K> {
    fn drop(&mut self) {
        // SAFETY: the object is live because this handle owns a reference, which is given up here, once.
        if let Err(code) = unsafe { K::release(self.raw()) } {
            tracing::warn!(code, "{} failed", K::RELEASE);
        }
    }
}

/// Gives up the event that cl3 returns from every enqueued command, unless its times are asked for.
///
/// # Safety
/// An event in `result` must be live, and the caller hands over one reference to it.
pub unsafe fn enqueued(operation: &'static str, result: Result<*mut c_void, i32>) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let event = unsafe { Handle::<EventKind>::own(operation, result) }?;
    super::profile::queued(operation, event);
    Ok(())
}

/// The same for a command that must be done before the caller goes on. Waits for the event even where the command was
/// enqueued as a blocking one: when several threads use a queue, rusticl (seen with Mesa 22.3) returns from such a
/// command too early if another thread flushed it.
///
/// # Safety
/// As for [`enqueued`].
pub unsafe fn done(operation: &'static str, result: Result<*mut c_void, i32>) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let event = unsafe { Handle::<EventKind>::own(operation, result) }?;
    super::check(operation, wait_for_events(&[event.raw()]))?;
    super::profile::queued(operation, event);
    Ok(())
}
