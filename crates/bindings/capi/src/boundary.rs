//! Reads and writes through a caller's pointers. Checks what can be checked: null, alignment, sizes, text.

use crate::abi::SizedStruct;
use crate::failure::{Failure, Result};
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::ptr;

fn check<T>(pointer: *const T, what: &str) -> Result<()> {
    if pointer.is_null() {
        return Err(Failure::argument(format!("{what} is NULL")));
    }
    if !pointer.is_aligned() {
        return Err(Failure::argument(format!("{what} is not aligned for its type")));
    }
    Ok(())
}

/// Reads a text.
///
/// # Safety
/// `text` is null, or a string that ends with zero and does not change during `'a`.
pub unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str> {
    // SAFETY: the caller's promise.
    let text = unsafe { optional_text(text, what) }?;
    text.ok_or_else(|| Failure::argument(format!("{what} is NULL")))
}

/// A text from C, or `None` for null.
///
/// # Safety
/// The promises of [`text`].
pub unsafe fn optional_text<'a>(text: *const c_char, what: &str) -> Result<Option<&'a str>> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null, and the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|error| Failure::argument(format!("{what} is not UTF-8: {error}")))
}

/// Reads an array.
///
/// # Safety
/// `first` is null, or points to `count` values of `T` that do not change during `'a`.
pub unsafe fn array<'a, T>(first: *const T, count: usize, what: &str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    check(first, what)?;
    if count.checked_mul(size_of::<T>()).is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        return Err(Failure::argument(format!("{what} has an invalid count of {count} elements")));
    }
    // SAFETY: it is aligned, not null and no larger than memory can be; and the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

/// Returns bytes to write.
///
/// # Safety
/// `first` is null, or points to `count` initialised bytes that nothing else uses during `'a`.
pub unsafe fn bytes_mut<'a>(first: *mut u8, count: usize, what: &str) -> Result<&'a mut [u8]> {
    // SAFETY: the caller's promise.
    let checked = unsafe { array(first.cast_const(), count, what) }?.len();
    if checked == 0 {
        return Ok(&mut []);
    }
    // SAFETY: `array` checked it; and the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts_mut(first, count) })
}

/// Reads a struct that begins with its size, possibly of an older header: missing fields are zero.
///
/// # Safety
/// `given` is null, or has as many bytes as its first field says.
pub unsafe fn structure<T: SizedStruct>(given: *const T) -> Result<T> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { checked_size(given) }?;
    let mut read = MaybeUninit::<T>::zeroed();
    // SAFETY: both have this many bytes (the caller's promise, and `checked_size`); every bit pattern is a valid `T`.
    unsafe {
        ptr::copy_nonoverlapping(given.cast::<u8>(), read.as_mut_ptr().cast::<u8>(), bytes);
        Ok(read.assume_init())
    }
}

/// Reads a struct; null means all zeros.
///
/// # Safety
/// The promises of [`structure`].
pub unsafe fn optional_structure<T: SizedStruct>(given: *const T) -> Result<T> {
    // SAFETY: the caller's promise.
    if given.is_null() { Ok(T::blank()) } else { unsafe { structure(given) } }
}

/// Writes a struct that begins with its size, up to the size that the caller's header knows; does not change the size.
/// A struct of another size is refused before the work is done.
///
/// # Safety
/// `out` is null, or has as many bytes as its first field says, which nothing else uses now.
pub unsafe fn fill<T: SizedStruct>(out: *mut T, value: impl FnOnce() -> Result<T>) -> Result<()> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { checked_size(out.cast_const()) }?;
    let value = value()?;
    let head = size_of::<usize>();
    let from = (&raw const value).cast::<u8>();
    // SAFETY: both have this many bytes (the caller's promise, and `checked_size`), and `size` occupies the first.
    unsafe { ptr::copy_nonoverlapping(from.add(head), out.cast::<u8>().add(head), bytes - head) };
    Ok(())
}

/// # Safety
/// `given` is null, or has at least its first field.
unsafe fn checked_size<T: SizedStruct>(given: *const T) -> Result<usize> {
    check(given, T::NAME)?;
    // SAFETY: it is aligned and not null; and the caller's promise.
    let size = unsafe { given.cast::<usize>().read() };
    if T::SIZES.contains(&size) {
        return Ok(size);
    }
    // Any other size may cut a pointer in two, and a larger struct may ask for what this library does not know.
    let known = size_of::<T>();
    let sizes = T::SIZES.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ");
    let newer = if size > known { ", or use the library that came with the newer header" } else { "" };
    Err(Failure::argument(format!(
        "{}.size is {size}, but this library accepts {sizes}; set it to sizeof({}){newer}",
        T::NAME,
        T::NAME
    )))
}

/// Checks where a result goes, and writes `empty` there.
///
/// # Safety
/// `out` is null, or may be written.
pub unsafe fn out<T>(out: *mut T, empty: T, what: &str) -> Result<()> {
    check(out, what)?;
    // SAFETY: it is aligned and not null; and the caller's promise.
    unsafe { out.write(empty) };
    Ok(())
}

/// Like [`out`], for a result that the caller may leave out by giving null.
///
/// # Safety
/// The promises of [`out`].
pub unsafe fn optional_out<T>(place: *mut T, empty: T, what: &str) -> Result<()> {
    // SAFETY: the caller's promise.
    if place.is_null() { Ok(()) } else { unsafe { out(place, empty, what) } }
}

/// Clears the place of a result, computes the result, and writes it.
///
/// # Safety
/// The promises of [`out`], until this returns.
pub unsafe fn put<T>(place: *mut T, empty: T, what: &str, result: impl FnOnce() -> Result<T>) -> Result<()> {
    // SAFETY: the caller's promise; `out` accepted the place.
    unsafe {
        out(place, empty, what)?;
        place.write(result()?);
    }
    Ok(())
}
