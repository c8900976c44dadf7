//! Owned references to OpenCL objects.

use super::Failure;
use opencl3::error_codes::CL_INVALID_VALUE;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A kind of object, and how its references are counted.
pub trait ObjectKind {
    /// Names of the API functions.
    const RELEASE: &'static str;
    const RETAIN: &'static str;
    const INFO: &'static str;
    /// `CL_*_REFERENCE_COUNT`.
    const REFERENCE_COUNT: u32;
    /// `CL_*_CONTEXT`; 0 for what is in none.
    const CONTEXT: u32;

    /// # Safety
    /// `raw` must be a live object of this kind, and the caller must own one reference, which is gone afterwards.
    unsafe fn release(raw: *mut c_void) -> Result<(), i32>;

    /// # Safety
    /// `raw` must be a live object of this kind.
    unsafe fn retain(raw: *mut c_void) -> Result<(), i32>;

    /// A value of the kind's `clGet*Info`.
    ///
    /// # Safety
    /// The conditions of [`ObjectKind::retain`] hold.
    unsafe fn info(raw: *mut c_void, param: u32) -> Result<Vec<u8>, i32>;
}

/// Kinds whose objects several threads may use at once (OpenCL 3.0 API, appendix A.2). All are, except kernels, whose
/// arguments are set one by one.
pub trait Shareable: ObjectKind {}

macro_rules! kinds {
    ($($kind:ident, $name:literal, $module:ident::($release:ident, $retain:ident), $info:literal = $get:ident, $count:literal, $context:literal;)*) => {$(
        pub enum $kind {}

        impl ObjectKind for $kind {
            const RELEASE: &'static str = concat!("clRelease", $name);
            const RETAIN: &'static str = concat!("clRetain", $name);
            const INFO: &'static str = $info;
            const REFERENCE_COUNT: u32 = $count;
            const CONTEXT: u32 = $context;

            unsafe fn release(raw: *mut c_void) -> Result<(), i32> {
                // SAFETY: the caller's promise is the one that the function asks for.
                unsafe { cl3::$module::$release(raw) }
            }

            unsafe fn retain(raw: *mut c_void) -> Result<(), i32> {
                // SAFETY: as above.
                unsafe { cl3::$module::$retain(raw) }
            }

            unsafe fn info(raw: *mut c_void, param: u32) -> Result<Vec<u8>, i32> {
                cl3::$module::$get(raw, param)
            }
        }
    )*};
}

// The numbers are `CL_*_REFERENCE_COUNT` and `CL_*_CONTEXT`, of which cl3 has not all.
kinds! {
    ContextKind, "Context", context::(release_context, retain_context),
        "clGetContextInfo" = get_context_data, 0x1080, 0;
    QueueKind, "CommandQueue", command_queue::(release_command_queue, retain_command_queue),
        "clGetCommandQueueInfo" = get_command_queue_data, 0x1092, 0x1090;
    MemKind, "MemObject", memory::(release_mem_object, retain_mem_object),
        "clGetMemObjectInfo" = get_mem_object_data, 0x1105, 0x1106;
    ProgramKind, "Program", program::(release_program, retain_program),
        "clGetProgramInfo" = get_program_data, 0x1160, 0x1161;
    KernelKind, "Kernel", kernel::(release_kernel, retain_kernel),
        "clGetKernelInfo" = get_kernel_data, 0x1192, 0x1193;
    EventKind, "Event", event::(release_event, retain_event),
        "clGetEventInfo" = get_event_data, 0x11D2, 0x11D4;
    SamplerKind, "Sampler", sampler::(release_sampler, retain_sampler),
        "clGetSamplerInfo" = get_sampler_data, 0x1150, 0x1151;
    SubDeviceKind, "Device", device::(release_device, retain_device),
        "clGetDeviceInfo" = get_device_data, 0x1047, 0;
}

impl Shareable for ContextKind {}
impl Shareable for QueueKind {}
impl Shareable for MemKind {}
impl Shareable for ProgramKind {}
impl Shareable for EventKind {}
impl Shareable for SamplerKind {}
impl Shareable for SubDeviceKind {}

/// One reference to an object, given up on drop.
pub struct Handle<K: ObjectKind> {
    raw: NonNull<c_void>,
    kind: PhantomData<K>,
}

// SAFETY: OpenCL objects are not tied to a thread (OpenCL 3.0 API, appendix A.2).
unsafe impl<K: ObjectKind> Send for Handle<K> {}
// SAFETY: `Shareable` marks the kinds for which the specification allows calls from several threads at once.
unsafe impl<K: Shareable> Sync for Handle<K> {}

impl<K: ObjectKind> Handle<K> {
    /// # Safety
    /// Where `result` is a non-null object, it must be of kind `K`, and the caller hands over one reference to it.
    pub unsafe fn own(operation: &'static str, result: Result<*mut c_void, i32>) -> Result<Self, Failure> {
        let raw = super::check(operation, result)?;
        // A driver that reports success without an object is broken, but must not break us.
        let raw = NonNull::new(raw).ok_or(Failure { operation, code: CL_INVALID_VALUE })?;
        Ok(Self { raw, kind: PhantomData })
    }

    /// Adds a reference to an existing object.
    ///
    /// # Safety
    /// `raw` must be null or a live object of kind `K`.
    pub unsafe fn adopt(raw: *mut c_void) -> Result<Self, Failure> {
        let missing = Failure { operation: K::RETAIN, code: CL_INVALID_VALUE };
        let raw = NonNull::new(raw).ok_or(missing)?;
        // SAFETY: the caller's promise.
        super::check(K::RETAIN, unsafe { K::retain(raw.as_ptr()) })?;
        Ok(Self { raw, kind: PhantomData })
    }

    pub fn raw(&self) -> *mut c_void {
        self.raw.as_ptr()
    }

    /// A value of the kind's `clGet*Info`.
    pub fn info(&self, param: u32) -> Result<Vec<u8>, Failure> {
        // SAFETY: the object is live because this handle owns a reference.
        super::check(K::INFO, unsafe { K::info(self.raw(), param) })
    }

    /// An object, or null, that `clGet*Info` names.
    pub fn object(&self, param: u32) -> Result<*mut c_void, Failure> {
        let bytes = super::query::array(K::INFO, &self.info(param)?)?;
        Ok(std::ptr::with_exposed_provenance_mut(usize::from_ne_bytes(bytes)))
    }

    /// Number of references, ours and the driver's own among them.
    pub fn references(&self) -> Result<u32, Failure> {
        super::query::array(K::INFO, &self.info(K::REFERENCE_COUNT)?).map(u32::from_ne_bytes)
    }
}

impl<K: ObjectKind> Drop for Handle<K> {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: the object is live because this handle owns a reference, which is given up here, once.
        if let Err(code) = unsafe { K::release(self.raw()) } {
            tracing::warn!(code, "{} failed", K::RELEASE);
        }
    }
}
