//! Threads in the host's process that receive none of its signals.
//!
//! A host that reads signals with `signalfd` or `sigwait` blocks them in all of its threads, but knows nothing of ours.
//! A thread inherits the signal mask of its creator, so ours are started while all signals are blocked except those of
//! faults; a handler of the host still receives those on the faulting thread. [`spawn`] starts our threads, and
//! [`SignalMaskGuard`] surrounds calls in which drivers start theirs. `cargo xtask check-imports` rejects other ways to
//! start a thread.

use std::io;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// Returns a number that no other running thread has. Unlike the number in the standard library, it can be read until
/// the thread has ended.
pub fn this_thread() -> usize {
    thread_local!(static MARK: u8 = const { 0 });
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}

/// Starts a named thread that blocks signals, except those of faults.
///
/// # Errors
/// Where the system cannot start another thread.
pub fn spawn<T: Send + 'static>(
    name: impl Into<String>,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let _blocked = SignalMaskGuard::new();
    Builder::new().name(name.into()).spawn(body)
}

/// Starts a thread of a scope that blocks signals, except those of faults.
///
/// # Errors
/// Where the system cannot start another thread.
pub fn spawn_scoped<'scope, T: Send + 'scope>(
    builder: Builder,
    scope: &'scope Scope<'scope, '_>,
    body: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    let _blocked = SignalMaskGuard::new();
    builder.spawn_scoped(scope, body)
}

pub(crate) use mask::SignalHandlerGuard;
pub use mask::{SignalMaskGuard, takes_signals};

// Miri has no signals.
#[cfg(all(unix, not(miri)))]
mod mask {
    use std::ffi::CStr;
    use std::marker::PhantomData;
    use std::mem::MaybeUninit;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    /// Signals that a fault raises on its own thread. Blocking one would end the process even where the host has a
    /// handler.
    const FAULTS: [libc::c_int; 6] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS];

    /// While this guard lives, the calling thread blocks all signals except those of faults, and so do threads that are
    /// started from it. Dropping the guard restores the thread's own mask.
    #[derive(Debug)]
    #[must_use]
    pub struct SignalMaskGuard {
        before: Option<libc::sigset_t>,
        /// Not `Send`: a signal mask belongs to one thread.
        _stays: PhantomData<*const ()>,
    }

    impl SignalMaskGuard {
        /// Blocks the signals.
        pub fn new() -> Self {
            let mut before = MaybeUninit::uninit();
            // SAFETY: `sigfillset` initialises `all`, whose pointer is valid; the signal numbers are valid.
            let all = unsafe {
                let mut all = MaybeUninit::uninit();
                libc::sigfillset(all.as_mut_ptr());
                for signal in FAULTS {
                    libc::sigdelset(all.as_mut_ptr(), signal);
                }
                all.assume_init()
            };
            // SAFETY: both pointers are to sets of this function.
            let changed = unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, before.as_mut_ptr()) };
            // SAFETY: the call initialised the set where it succeeded.
            Self { before: (changed == 0).then(|| unsafe { before.assume_init() }), _stays: PhantomData }
        }
    }

    /// Makes the process that `command` starts accept all signals, whatever thread starts it.
    pub fn takes_signals(command: &mut Command) -> &mut Command {
        let take = || {
            let mut none = MaybeUninit::uninit();
            // SAFETY: `sigemptyset` initialises the set; both calls are allowed between fork and exec.
            unsafe {
                libc::sigemptyset(none.as_mut_ptr());
                libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
            }
            Ok(())
        };
        // SAFETY: `take` makes only the two calls above.
        unsafe { command.pre_exec(take) }
    }

    /// LLVM, inside PoCL, installs its own handlers in front of those of SIGINT, SIGTERM and others when it writes its
    /// first file. While this guard lives, they stay; dropping it restores the host's handlers, except those of faults.
    pub(crate) struct SignalHandlerGuard(Vec<(libc::c_int, libc::sigaction)>);

    impl SignalHandlerGuard {
        /// Saves the current handlers.
        pub(crate) fn new() -> Self {
            Self((1..32).filter(|signal| !FAULTS.contains(signal)).map(|signal| (signal, handler(signal))).collect())
        }
    }

    impl Drop for SignalHandlerGuard {
        fn drop(&mut self) {
            for (signal, before) in &self.0 {
                let now = handler(*signal).sa_sigaction;
                if now != before.sa_sigaction && is_llvm(now) {
                    // SAFETY: `before` is a valid pointer, and the signal number is valid.
                    unsafe { libc::sigaction(*signal, before, std::ptr::null_mut()) };
                }
            }
        }
    }

    fn handler(signal: libc::c_int) -> libc::sigaction {
        // SAFETY: any bytes are a valid value of this structure, and the pointers are valid.
        unsafe {
            let mut now = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut now);
            now
        }
    }

    /// Tells whether a function lies in LLVM's library, or in PoCL's, which may contain LLVM.
    fn is_llvm(function: usize) -> bool {
        // SAFETY: any address may be looked up; the name, if there is one, is a string of the loader's.
        unsafe {
            let mut found: libc::Dl_info = std::mem::zeroed();
            let known = libc::dladdr(std::ptr::without_provenance(function), &raw mut found) != 0;
            known && !found.dli_fname.is_null() && {
                let name = CStr::from_ptr(found.dli_fname).to_string_lossy();
                ["libLLVM", "libpocl"].iter().any(|library| name.contains(library))
            }
        }
    }

    impl Drop for SignalMaskGuard {
        fn drop(&mut self) {
            if let Some(before) = &self.before {
                // SAFETY: the set is a mask that this thread had before.
                unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
            }
        }
    }
}

#[cfg(any(not(unix), miri))]
mod mask {
    use std::process::Command;

    /// Does nothing: this system sends no signals to processes.
    pub fn takes_signals(command: &mut Command) -> &mut Command {
        command
    }

    /// Does nothing on this system, where drivers change no handlers.
    pub(crate) struct SignalHandlerGuard(());

    impl SignalHandlerGuard {
        /// Does nothing on this system.
        pub(crate) fn new() -> Self {
            Self(())
        }
    }

    /// Does nothing: this system sends no signals to threads.
    #[derive(Debug)]
    #[must_use]
    pub struct SignalMaskGuard(());

    impl SignalMaskGuard {
        /// Does nothing on this system.
        pub fn new() -> Self {
            Self(())
        }
    }
}

impl Default for SignalMaskGuard {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::describe::panics::catch;
    use std::fs;

    /// The signals that the calling thread blocks, one bit each.
    fn blocked() -> u64 {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    }

    fn has(mask: u64, signal: i32) -> bool {
        mask >> (signal - 1) & 1 == 1
    }

    #[test]
    fn our_threads_take_the_signals_of_faults_alone() {
        let scoped =
            || std::thread::scope(|scope| spawn_scoped(Builder::new(), scope, blocked).unwrap().join().unwrap());
        for mask in [spawn("test", blocked).unwrap().join().unwrap(), scoped()] {
            for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGCHLD, libc::SIGALRM, libc::SIGUSR1, libc::SIGRTMAX()] {
                assert!(has(mask, signal), "{signal}");
            }
            for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS] {
                assert!(!has(mask, signal), "{signal}");
            }
        }
    }

    #[test]
    fn the_callers_mask_comes_back_after_an_error_and_a_panic() {
        let before = blocked();
        let fails = || -> Result<(), std::num::ParseIntError> {
            let _blocked = SignalMaskGuard::new();
            "x".parse::<u8>().map(|_| ())
        };
        assert!(fails().is_err());
        assert_eq!(blocked(), before);
        let panics = || {
            let _outer = SignalMaskGuard::new();
            let _inner = SignalMaskGuard::new();
            panic!("within");
        };
        assert!(catch(panics).is_err());
        assert_eq!(blocked(), before);
    }

    #[test]
    fn a_program_that_a_thread_of_ours_starts_takes_all_signals() {
        let start = || {
            let mut command = std::process::Command::new("cat");
            takes_signals(command.arg("/proc/self/status")).output().unwrap().stdout
        };
        let status = String::from_utf8(spawn("test", start).unwrap().join().unwrap()).unwrap();
        assert_eq!(status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap().trim(), "0".repeat(16));
    }
}
