//! Device memory and streams of other code in this process, in the primary context that this crate uses as well.

use super::api::call;
use super::event::Event;
use super::{Failure, INVALID_VALUE, Queue, Span};
use cudarc::driver::sys as cu;
use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

/// `CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL`.
const DEVICE_ORDINAL: u32 = 9;

/// Returns the device that holds `address`. The driver rejects unknown addresses.
pub fn device_of(queue: &Queue, address: u64) -> Result<i32, Failure> {
    let _current = queue.enter_held()?;
    let mut ordinal: c_int = -1;
    // SAFETY: writes one number; the address is only looked up.
    unsafe { call!(queue.api().driver, cuPointerGetAttribute((&raw mut ordinal).cast(), DEVICE_ORDINAL, address)) }?;
    Ok(ordinal)
}

/// Memory that other code allocated.
pub struct ForeignMemory {
    address: cu::CUdeviceptr,
    len: usize,
    queue: Arc<Queue>,
}

impl ForeignMemory {
    /// Fails for memory that does not belong to the queue's device, as far as the driver knows.
    ///
    /// # Safety
    /// The bytes must stay allocated until this is dropped.
    pub unsafe fn new(queue: &Arc<Queue>, address: u64, len: usize) -> Result<Self, Failure> {
        let refused = Failure { operation: "cuPointerGetAttribute", code: INVALID_VALUE };
        let last = (len as u64).checked_sub(1).and_then(|last| address.checked_add(last)).ok_or(refused)?;
        for byte in [address, last] {
            if device_of(queue, byte)? != queue.device() {
                return Err(refused);
            }
        }
        Ok(Self { address, len, queue: queue.clone() })
    }

    pub fn span(&self) -> Span<'_> {
        // SAFETY: allocated for as long as `self` lives, by the promise given to `new`.
        unsafe { Span::new(self.address, self.len) }
    }
}

impl Drop for ForeignMemory {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // The owner may free it next.
        Failure::log(self.queue.synchronize());
    }
}

/// Makes work that is queued from now on wait for everything submitted to another stream of the context so far.
///
/// # Safety
/// `stream` must be a live stream of the context, or one of the driver's names for its default streams.
pub unsafe fn follow(queue: &Arc<Queue>, stream: usize) -> Result<(), Failure> {
    let event = Event::new(queue)?;
    {
        let _current = queue.enter_held()?;
        let stream: cu::CUstream = ptr::with_exposed_provenance_mut(stream);
        // SAFETY: the stream is live by the caller's promise; event and stream are of the current context.
        unsafe { call!(queue.api().driver, cuEventRecord(event.raw(), stream)) }?;
    }
    queue.wait(&event)
}

/// Makes work that is submitted to another stream of the context from now on wait for everything queued here so far.
///
/// # Safety
/// As for [`follow`].
pub unsafe fn lead(queue: &Arc<Queue>, stream: usize) -> Result<(), Failure> {
    let event = Event::new(queue)?;
    event.record()?;
    let _current = queue.enter()?;
    let stream: cu::CUstream = ptr::with_exposed_provenance_mut(stream);
    // SAFETY: the stream is live by the caller's promise; event and stream are of the current context.
    unsafe { call!(queue.api().driver, cuStreamWaitEvent(stream, event.raw(), 0)) }
}

/// Waits until all work of the context is done, also that of other code.
pub fn finish_context(queue: &Queue) -> Result<(), Failure> {
    let _current = queue.enter()?;
    // SAFETY: the context is current.
    unsafe { call!(queue.api().driver, cuCtxSynchronize()) }
}
