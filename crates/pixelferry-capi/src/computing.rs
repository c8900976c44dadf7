//! A caller's function that computes frames, of any link or outlet.

use crate::abi::pf_frame;
use crate::failure::{Failure, Refusal, Result};
use crate::handles::{Handle as _, remove};
use crate::held::{FrameSlot, Writing};
use interop_core::Error;
use std::rc::Rc;
use std::sync::{Arc, PoisonError};

/// A caller's function that computes frames.
pub struct Computing<F> {
    compute: F,
    refused: Refusal,
}

impl<F: Fn(*mut pf_frame) -> i32> Computing<F> {
    /// Takes the function.
    pub fn new(compute: F) -> Self {
        Self { compute, refused: Refusal::default() }
    }

    /// The failure of the last try that was refused.
    pub fn refusal(&self) -> Refusal {
        Arc::clone(&self.refused)
    }

    /// Calls the function with a handle that ends with it. If a call on the frame failed and the function refused, that is why.
    pub fn one_try(&self, frame: Writing<'_, '_>, is_whole: bool) -> Result<(), Error> {
        let done = FrameSlot::lend(frame, is_whole, |slot| {
            let handle = pf_frame::insert(Rc::clone(slot))?;
            let code = (self.compute)(handle);
            remove(handle.addr());
            match code {
                0 => Ok(()),
                code => Err(slot.take_error().map_or(Failure::Callback(code), Failure::Core)),
            }
        });
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused = None;
        done.map_err(|failure| match failure {
            // An error of a path lets the next one get the frame.
            Failure::Core(error) => error,
            other => {
                *refused = Some(other);
                Error::invalid("pf_frame_function", "the function that was given refused")
            }
        })
    }
}

/// Result of a frame, with the caller's own refusal where there was one.
pub fn refused_or<T>(done: Result<T, Error>, refusal: &Refusal) -> Result<T> {
    let refused = refusal.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (done, refused) {
        (Err(_), Some(failure)) => Err(failure),
        (done, _) => Ok(done?),
    }
}
