//! A caller's function that computes frames, for links and outlets.

use crate::abi::{pf_frame, pf_frame_function};
use crate::failure::{Failure, Refusal, Result};
use crate::handles::{Handle as _, remove};
use crate::link_slot::{FrameSlot, FrameWriter};
use interop_core::Error;
use std::ffi::c_void;
use std::rc::Rc;
use std::sync::{Arc, PoisonError};

/// A caller's function that computes frames, with its argument.
pub struct FrameCallback {
    compute: unsafe extern "C" fn(*mut c_void, *mut pf_frame) -> i32,
    user: *mut c_void,
    refused: Refusal,
}

// SAFETY: for links of other threads, the header asks for a function and a pointer that the link's thread may use.
unsafe impl Send for FrameCallback {}

impl FrameCallback {
    /// Wraps the function.
    ///
    /// # Safety
    /// It may be called with `user` wherever this goes, and returns.
    pub unsafe fn new(compute: pf_frame_function, user: *mut c_void) -> Result<Self> {
        let compute = compute.ok_or_else(|| Failure::argument("compute is NULL"))?;
        Ok(Self { compute, user, refused: Refusal::default() })
    }

    /// The failure of the last attempt that the function refused.
    pub fn refusal(&self) -> Refusal {
        Arc::clone(&self.refused)
    }

    /// Calls the function with a handle that ends with the call. If the function refused after a failed call on the
    /// frame, that failure is the reason.
    pub fn one_try(&self, frame: FrameWriter<'_, '_>, is_whole: bool) -> Result<(), Error> {
        let done = FrameSlot::lend(frame, is_whole, |slot| {
            let handle = pf_frame::insert(Rc::clone(slot))?;
            // SAFETY: the promise of `new`.
            let code = unsafe { (self.compute)(self.user, handle) };
            remove(handle.addr());
            match code {
                0 => Ok(()),
                code => Err(slot.take_error().map_or(Failure::Callback(code), Failure::Core)),
            }
        });
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused = None;
        done.map_err(|failure| match failure {
            // After an error of a path, the next path gets the frame.
            Failure::Core(error) => error,
            other => {
                *refused = Some(other);
                Error::invalid("pf_frame_function", "the function returned an error")
            }
        })
    }
}

/// Returns the result of a frame, or the caller's own refusal if there is one.
pub fn refused_or<T>(done: Result<T, Error>, refusal: &Refusal) -> Result<T> {
    let refused = refusal.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (done, refused) {
        (Err(_), Some(failure)) => Err(failure),
        (done, _) => Ok(done?),
    }
}
