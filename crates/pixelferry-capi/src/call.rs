//! The one way into every call. No panic crosses the boundary, and the last failure of each thread is kept as text.

use crate::abi::{PIXELFERRY_ERROR_PANIC, PIXELFERRY_OK, pf_status};
use crate::failure::Result;
use crate::texts::c_string;
use interop_core::describe::panics::catch;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs a call's work and keeps what it reports.
pub fn call(name: &'static str, work: impl FnOnce() -> Result<()>) -> pf_status {
    // The text is made in here, too: errors are printed by code of others where a program plugs some in.
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
    // After the thread's end began there is nowhere to keep it; the status says enough.
    let _ = LAST.try_with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            *last = c_string(text);
        }
    });
}

/// Returns what the last call that failed on this thread reported; stays until another fails there.
pub fn last_message() -> *const c_char {
    const NONE: &CStr = c"";
    let read = |last: &RefCell<CString>| last.try_borrow().map_or(NONE.as_ptr(), |text| text.as_ptr());
    LAST.try_with(read).unwrap_or(NONE.as_ptr())
}
