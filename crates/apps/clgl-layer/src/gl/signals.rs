//! Signals of the program, which must not be delivered to the layer's threads.

use std::ffi::c_int;

/// At least as large as the C library's `sigset_t`.
type SignalMask = [u64; 16];

unsafe extern "C" {
    fn sigfillset(set: *mut SignalMask) -> c_int;
    fn pthread_sigmask(how: c_int, set: *const SignalMask, before: *mut SignalMask) -> c_int;
}

/// Runs `f` with all signals blocked on this thread; threads that it starts inherit the block.
pub fn without_signals<T>(f: impl FnOnce() -> T) -> T {
    const SET_MASK: c_int = 2;
    let (mut all, mut before) = ([0; 16], [0; 16]);
    // SAFETY: the sets are as large as the C library's.
    unsafe {
        sigfillset(&raw mut all);
        pthread_sigmask(SET_MASK, &raw const all, &raw mut before);
    }
    let answer = f();
    // SAFETY: as above.
    unsafe { pthread_sigmask(SET_MASK, &raw const before, std::ptr::null_mut()) };
    answer
}
