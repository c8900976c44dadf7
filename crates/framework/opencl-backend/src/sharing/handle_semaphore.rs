//! Semaphores behind handles of the operating system, opened with `cl_khr_external_semaphore`: the driver calls.

use crate::cl::{Device, Queue};
use crate::os;
use crate::queues::Queues;
use interop_core::devices::os_handle::ImportedHandle;
use interop_core::{OsHandle, Result};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

const EXTENSION: &str = "cl_khr_semaphore";

/// `clCreateSemaphoreWithPropertiesKHR`.
type Create = unsafe extern "system" fn(context: *mut c_void, properties: *const u64, code: *mut i32) -> *mut c_void;
/// `clReleaseSemaphoreKHR`.
type Release = unsafe extern "system" fn(semaphore: *mut c_void) -> i32;
/// `clEnqueueWaitSemaphoresKHR` and `clEnqueueSignalSemaphoresKHR`.
type Enqueue = unsafe extern "system" fn(
    queue: *mut c_void,
    count: u32,
    semaphores: *const *mut c_void,
    payloads: *const u64,
    wait_count: u32,
    wait_for: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32;

/// `CL_SEMAPHORE_TYPE_KHR`.
const TYPE: u64 = 0x203D;
/// `CL_SEMAPHORE_TYPE_BINARY_KHR`.
const BINARY: u64 = 1;

/// A binary semaphore of another API.
pub struct Semaphore {
    raw: NonNull<c_void>,
    wait: Enqueue,
    signal: Enqueue,
    release: Release,
    queues: Arc<Queues>,
}

// SAFETY: OpenCL's objects except kernels may be used from any thread (OpenCL 3.0, appendix A.2).
unsafe impl Send for Semaphore {}
// SAFETY: as above.
unsafe impl Sync for Semaphore {}

impl Semaphore {
    /// Opens the semaphore; on success the driver owns the handle. The device must list the extensions.
    pub fn open(queues: &Arc<Queues>, device: &Device, handle: OsHandle) -> Result<Self> {
        const CALL: &str = "clCreateSemaphoreWithPropertiesKHR";
        let function = |name| device.extension_function(EXTENSION, name).map(NonNull::as_ptr);
        let addresses = [function(CALL)?, function("clReleaseSemaphoreKHR")?];
        let enqueue = [function("clEnqueueWaitSemaphoresKHR")?, function("clEnqueueSignalSemaphoresKHR")?];
        // SAFETY: the types are those of the functions in the extension's specification.
        let (create, release, [wait, signal]) = unsafe {
            (
                std::mem::transmute::<*mut c_void, Create>(addresses[0]),
                std::mem::transmute::<*mut c_void, Release>(addresses[1]),
                enqueue.map(|address| std::mem::transmute::<*mut c_void, Enqueue>(address)),
            )
        };
        // No list of devices: the context has only one, and NVIDIA's driver rejects the list (-64).
        let to_driver = ImportedHandle::new(handle);
        let properties = [TYPE, BINARY, u64::from(os::SEMAPHORE), to_driver.property(), 0];
        let (context, mut code) = (queues.current().context(), 0);
        // SAFETY: the context is live, the list ends with 0, one code is written.
        let raw = unsafe { create(context.raw(), properties.as_ptr(), &raw mut code) };
        match NonNull::new(raw).filter(|_| code == 0) {
            Some(raw) => Ok(Self { raw, wait, signal, release, queues: queues.clone() }),
            None => {
                to_driver.close_if_left();
                Err(context.driver_error(CALL, code))
            }
        }
    }

    fn queue(&self) -> &Queue {
        self.queues.current()
    }

    /// Makes work that is queued from now on wait for the semaphore, which is unsignalled then.
    pub fn wait(&self) -> Result<()> {
        self.enqueue(self.wait, "clEnqueueWaitSemaphoresKHR")
    }

    /// Signals when the work queued so far is done.
    pub fn signal(&self) -> Result<()> {
        self.enqueue(self.signal, "clEnqueueSignalSemaphoresKHR")?;
        // Otherwise the other side would wait for commands that are still in this process.
        self.queue().flush()
    }

    fn enqueue(&self, function: Enqueue, name: &'static str) -> Result<()> {
        let (queue, semaphore) = (self.queue(), self.raw.as_ptr());
        // SAFETY: queue and semaphore are live, binary semaphores have no payload, and no event is asked for.
        let code =
            unsafe { function(queue.raw(), 1, &raw const semaphore, ptr::null(), 0, ptr::null(), ptr::null_mut()) };
        if code == 0 { Ok(()) } else { Err(queue.context().driver_error(name, code)) }
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // Commands may still wait for it.
        let finished = self.queue().finish();
        // SAFETY: made once, released once.
        let code = unsafe { (self.release)(self.raw.as_ptr()) };
        let released = match code {
            0 => Ok(()),
            code => Err(self.queue().context().driver_error("clReleaseSemaphoreKHR", code)),
        };
        for error in [finished, released].into_iter().filter_map(Result::err) {
            tracing::warn!(%error, "cannot release a semaphore");
        }
    }
}
