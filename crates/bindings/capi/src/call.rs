//! Wraps every call: no panic crosses the boundary, and each thread's last failure is kept as text.

use crate::abi::{PIXELFERRY_ERROR_PANIC, PIXELFERRY_OK, pf_status};
use crate::failure::Result;
use crate::texts::c_string;
use interop_core::describe::panics::catch;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs a call's work and stores its failure.
pub fn call(name: &'static str, work: impl FnOnce() -> Result<()>) -> pf_status {
    // Make the text in here, too: a program's own plugged-in code may print errors.
    let failed = match catch(|| work().map_err(|failure| (failure.status(), format!("{name}: {failure}")))) {
        Ok(Ok(())) => return PIXELFERRY_OK,
        Ok(Err(failed)) => failed,
        Err(panicked) => {
            let text = panicked.message();
            (
                PIXELFERRY_ERROR_PANIC,
                format!("{name}: internal error: {text}. Please report it; the object may be unusable"),
            )
        }
    };
    let (status, text) = failed;
    keep(text);
    status
}

fn keep(text: String) {
    // While the thread is ending, the message cannot be stored; the status must suffice.
    let _ = LAST.try_with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            *last = c_string(text);
        }
    });
}

/// Returns the message of this thread's last failed call; valid until another call fails there.
pub fn last_message() -> *const c_char {
    const NONE: &CStr = c"";
    let read = |last: &RefCell<CString>| last.try_borrow().map_or(NONE.as_ptr(), |text| text.as_ptr());
    LAST.try_with(read).unwrap_or(NONE.as_ptr())
}
