//! Semaphores behind handles of the operating system: `cl_khr_semaphore` and `cl_khr_external_semaphore`.

use super::extension::function;
use super::{Failure, PlatformId, Session, check};
use crate::Event;
use crate::os;
use interop_core::devices::os_handle::ImportedHandle;
use interop_core::{OsHandle, Result, SemaphoreHandle};
use std::ffi::c_void;
use std::io;
use std::ptr::{self, NonNull};
use std::sync::Arc;

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

/// Another API's binary semaphore.
pub struct Semaphore {
    raw: NonNull<c_void>,
    wait: Enqueue,
    signal: Enqueue,
    release: Release,
    session: Arc<Session>,
}

impl Semaphore {
    /// Opens it, by a handle of its own. The device must list the extensions.
    pub fn import(session: &Arc<Session>, platform: PlatformId, handle: &SemaphoreHandle) -> io::Result<Result<Self>> {
        let handle = os::duplicate_semaphore(handle.handle())?;
        Ok(Self::open(session, platform, handle).map_err(|f| session.error(f)))
    }

    fn open(session: &Arc<Session>, platform: PlatformId, handle: OsHandle) -> Result<Self, Failure> {
        const CALL: &str = "clCreateSemaphoreWithPropertiesKHR";
        let create = function!(platform, c"clCreateSemaphoreWithPropertiesKHR" as Create);
        let wait = function!(platform, c"clEnqueueWaitSemaphoresKHR" as Enqueue);
        let signal = function!(platform, c"clEnqueueSignalSemaphoresKHR" as Enqueue);
        let release = function!(platform, c"clReleaseSemaphoreKHR" as Release);
        // No list of devices: the context has one only, and NVIDIA's driver refuses the list (-64).
        let to_driver = ImportedHandle::new(handle);
        let properties = [TYPE, BINARY, u64::from(os::SEMAPHORE), to_driver.property(), 0];
        let mut code = 0;
        // SAFETY: the context is live, the list ends with 0, one code is written.
        let raw = unsafe { create(session.context.raw(), properties.as_ptr(), &raw mut code) };
        match NonNull::new(raw).filter(|_| code == 0) {
            Some(raw) => Ok(Self { raw, wait, signal, release, session: session.clone() }),
            None => {
                to_driver.close_if_left();
                Err(Failure { operation: CALL, code })
            }
        }
    }

    /// Work queued from now on waits for the semaphore, which is unsignalled then.
    pub fn wait(&self) -> Result<()> {
        self.enqueue(self.wait, "clEnqueueWaitSemaphoresKHR")
    }

    /// Signals when the work queued so far is done.
    pub fn signal(&self) -> Result<()> {
        self.enqueue(self.signal, "clEnqueueSignalSemaphoresKHR")?;
        // Else the other side waits for commands that are still in this process.
        self.session.flush()
    }

    fn enqueue(&self, function: Enqueue, name: &'static str) -> Result<()> {
        let (queue, mut event) = (self.session.queue().raw(), ptr::null_mut());
        // SAFETY: queue and semaphore are live, binary semaphores have no payload, one event is written.
        let code = unsafe {
            function(queue, 1, &raw const self.raw as *const *mut c_void, ptr::null(), 0, ptr::null(), &raw mut event)
        };
        // SAFETY: a new event, whose one reference is ours.
        unsafe {
            let event = if code == 0 { Ok(event) } else { Err(code) };
            Event::own(&self.session.context, name, event, Some(self.session.queue())).map(drop)
        }
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // Commands may still wait for it.
        let finished = self.session.finish();
        // SAFETY: made once, released once.
        let code = unsafe { (self.release)(self.raw.as_ptr()) };
        let released = check("clReleaseSemaphoreKHR", if code == 0 { Ok(()) } else { Err(code) });
        let released = released.map_err(|f| self.session.error(f));
        for error in [finished, released].into_iter().filter_map(Result::err) {
            tracing::warn!(%error, "a semaphore was dropped");
        }
    }
}
