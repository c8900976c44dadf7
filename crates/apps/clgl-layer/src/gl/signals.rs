//! Signals of the program, which must not be delivered to the layer's threads.

/// Runs `f` with all signals blocked on this thread; threads that it starts inherit the block.
pub fn without_signals<T>(f: impl FnOnce() -> T) -> T {
    // SAFETY: all zero is a set; the calls write whole sets.
    let before = unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        before
    };
    let answer = f();
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    answer
}
