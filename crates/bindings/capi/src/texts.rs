//! Texts that callers hold and give back.

use crate::failure::{Failure, Result};
use std::collections::BTreeMap;
use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of bytes of each text that is out, its zero among them, by its address.
static TEXTS: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn texts() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    TEXTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The text for C: without zeros, which would end it.
pub fn c_string(text: String) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// Gives a text out, until [`free_text`]. The caller may write in it.
pub fn give_text(text: String) -> *mut c_char {
    let bytes = c_string(text).into_bytes_with_nul().into_boxed_slice();
    let len = bytes.len();
    let address = Box::into_raw(bytes).cast::<c_char>();
    texts().insert(address.addr(), len);
    address
}

/// Takes a text back. Null is nothing to do.
pub fn free_text(text: *mut c_char) -> Result<()> {
    if text.is_null() {
        return Ok(());
    }
    let len = texts().remove(&text.addr());
    let len =
        len.ok_or_else(|| Failure::Handle("this text does not belong to this library, or was freed before".into()))?;
    // SAFETY: `give_text` made a box of so many bytes at this address, and it was taken out of the table once.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(text.cast::<u8>(), len)) });
    Ok(())
}
