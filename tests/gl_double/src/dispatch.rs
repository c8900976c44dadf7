//! The driver's functions, by their place in the loader's table (`cl_icd.h`).

use std::ffi::c_void;
use std::sync::OnceLock;

pub static TARGET: OnceLock<Dispatch> = OnceLock::new();

/// The last place that is used here.
pub const LAST: usize = 108;

/// The table, as addresses.
pub struct Dispatch(Vec<usize>);

impl Dispatch {
    pub fn new(functions: &[*const c_void]) -> Self {
        Self(functions.iter().map(|f| f.expose_provenance()).collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Address of the driver's function at a place of the table.
pub fn address(place: usize) -> *const c_void {
    let address = TARGET.get().and_then(|target| target.0.get(place)).copied().unwrap_or(0);
    std::ptr::with_exposed_provenance(address)
}

/// Calls the driver's function of that place and type.
macro_rules! target {
    ($place:literal: fn($($kind:ty),*) -> $result:ty; $($value:expr),* $(,)?) => {{
        let address = $crate::dispatch::address($place);
        // Every place is that of a function of this type, which every driver has.
        let function = std::mem::transmute::<*const std::ffi::c_void, unsafe extern "C" fn($($kind),*) -> $result>(address);
        function($($value),*)
    }};
}
pub(crate) use target;

/// Answers one of OpenCL's questions.
///
/// # Safety
/// `value` is null or has room for `bytes`, `found` is null or valid.
pub unsafe fn answer(answer: &[u8], bytes: usize, value: *mut c_void, found: *mut usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        if !found.is_null() {
            found.write(answer.len());
        }
        if !value.is_null() {
            if bytes < answer.len() {
                return -30;
            }
            std::ptr::copy_nonoverlapping(answer.as_ptr(), value.cast(), answer.len());
        }
    }
    0
}
