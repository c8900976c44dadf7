//! Owned references to OpenCL objects.

use super::Failure;
use opencl3::error_codes::CL_INVALID_VALUE;
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
            const RELEASE: &'static str = concat!("clRelease", $name);

            unsafe fn release(raw: *mut c_void) -> Result<(), i32> {
                // SAFETY: the caller's promise is the one that the function asks for.
                unsafe { $release(raw) }
            }

        }
    )*};
}

kinds! {
    ContextKind, "Context", cl3::context::release_context;
    QueueKind, "CommandQueue", cl3::command_queue::release_command_queue;
    MemKind, "MemObject", cl3::memory::release_mem_object;
    ProgramKind, "Program", cl3::program::release_program;
    KernelKind, "Kernel", cl3::kernel::release_kernel;
    EventKind, "Event", cl3::event::release_event;
    SamplerKind, "Sampler", cl3::sampler::release_sampler;
    SubDeviceKind, "Device", cl3::device::release_device;
}

impl Shareable for ContextKind {}
impl Shareable for QueueKind {}
impl Shareable for MemKind {}
impl Shareable for ProgramKind {}
impl Shareable for EventKind {}
impl Shareable for SamplerKind {}
impl Shareable for SubDeviceKind {}

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
