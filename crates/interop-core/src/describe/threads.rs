//! Threads in a host's process: they take none of its signals.
//!
//! A host that reads a signal by `signalfd` or `sigwait` blocks it in all of its threads, and knows nothing of ours. A thread
//! inherits the mask of the one that starts it, so each is started while all signals are blocked except those of faults, which a
//! handler of the host's still gets on the thread of the fault. [`spawn`] starts ours; [`SignalsBlocked`] stands around calls in
//! which drivers start theirs. `cargo xtask check-imports` refuses other ways to start a thread.

use std::io;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// Starts a thread with a name.
///
/// # Errors
/// Where the system gives no thread.
pub fn spawn<T: Send + 'static>(
    name: impl Into<String>,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let _blocked = SignalsBlocked::new();
    Builder::new().name(name.into()).spawn(body)
}

/// Starts a thread of a scope.
///
/// # Errors
/// Where the system gives no thread.
pub fn spawn_scoped<'scope, T: Send + 'scope>(
    builder: Builder,
    scope: &'scope Scope<'scope, '_>,
    body: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    let _blocked = SignalsBlocked::new();
    builder.spawn_scoped(scope, body)
}

pub(crate) use mask::HandlersKept;
pub use mask::{SignalsBlocked, takes_signals};

#[cfg(unix)]
mod mask {
    use std::ffi::CStr;
    use std::marker::PhantomData;
    use std::mem::MaybeUninit;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    /// What a fault raises on its own thread. A thread that blocks one of these ends the process where the host had a handler.
    const FAULTS: [libc::c_int; 6] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS];

    /// While this lives, the calling thread takes no signals except those of faults, and neither do threads that are started in
    /// calls from here. Dropping it gives the thread its own mask back.
    #[derive(Debug)]
    #[must_use]
    pub struct SignalsBlocked {
        before: Option<libc::sigset_t>,
        /// The mask is one thread's.
        _stays: PhantomData<*const ()>,
    }

    impl SignalsBlocked {
        /// Blocks them.
        pub fn new() -> Self {
            let mut before = MaybeUninit::uninit();
            // SAFETY: `all` is initialised by `sigfillset`, whose pointer is to its room; the signals are known.
            let all = unsafe {
                let mut all = MaybeUninit::uninit();
                libc::sigfillset(all.as_mut_ptr());
                for signal in FAULTS {
                    libc::sigdelset(all.as_mut_ptr(), signal);
                }
                all.assume_init()
            };
            // SAFETY: both point to sets of this function.
            let changed = unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, before.as_mut_ptr()) };
            // SAFETY: the call wrote it where it succeeded.
            Self { before: (changed == 0).then(|| unsafe { before.assume_init() }), _stays: PhantomData }
        }
    }

    /// Lets the process that `command` starts take all signals, whatever thread starts it.
    pub fn takes_signals(command: &mut Command) -> &mut Command {
        let take = || {
            let mut none = MaybeUninit::uninit();
            // SAFETY: the set is initialised by `sigemptyset`; both calls may stand between fork and exec.
            unsafe {
                libc::sigemptyset(none.as_mut_ptr());
                libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
            }
            Ok(())
        };
        // SAFETY: `take` calls nothing but the two.
        unsafe { command.pre_exec(take) }
    }

    /// LLVM, in PoCL, puts handlers of its own before SIGINT, SIGTERM and more when it writes its first file. While this lives, they
    /// stand; dropping it gives the host's back, except those of faults.
    pub(crate) struct HandlersKept(Vec<(libc::c_int, libc::sigaction)>);

    impl HandlersKept {
        /// Notes the handlers of now.
        pub(crate) fn new() -> Self {
            Self((1..32).filter(|signal| !FAULTS.contains(signal)).map(|signal| (signal, handler(signal))).collect())
        }
    }

    impl Drop for HandlersKept {
        fn drop(&mut self) {
            for (signal, before) in &self.0 {
                let now = handler(*signal).sa_sigaction;
                if now != before.sa_sigaction && is_llvm(now) {
                    // SAFETY: what the system said of this signal.
                    unsafe { libc::sigaction(*signal, before, std::ptr::null_mut()) };
                }
            }
        }
    }

    fn handler(signal: libc::c_int) -> libc::sigaction {
        // SAFETY: any bytes are such a structure, whose pointer is to its room.
        unsafe {
            let mut now = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut now);
            now
        }
    }

    /// Tells whether a function lies in LLVM's library, or in PoCL's, which may have it inside.
    fn is_llvm(function: usize) -> bool {
        // SAFETY: any address may be asked about; the name, where there is one, is a text of the loader's.
        unsafe {
            let mut found: libc::Dl_info = std::mem::zeroed();
            let known = libc::dladdr(std::ptr::without_provenance(function), &raw mut found) != 0;
            known && !found.dli_fname.is_null() && {
                let name = CStr::from_ptr(found.dli_fname).to_string_lossy();
                ["libLLVM", "libpocl"].iter().any(|library| name.contains(library))
            }
        }
    }

    impl Drop for SignalsBlocked {
        fn drop(&mut self) {
            if let Some(before) = &self.before {
                // SAFETY: a mask that this thread had.
                unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
            }
        }
    }
}

#[cfg(not(unix))]
mod mask {
    use std::process::Command;

    /// Processes take no signals here.
    pub fn takes_signals(command: &mut Command) -> &mut Command {
        command
    }

    /// This system has no handlers that drivers change.
    pub(crate) struct HandlersKept(());

    impl HandlersKept {
        /// Does nothing here.
        pub(crate) fn new() -> Self {
            Self(())
        }
    }

    /// This system sends no signals to threads.
    #[derive(Debug)]
    #[must_use]
    pub struct SignalsBlocked(());

    impl SignalsBlocked {
        /// Does nothing here.
        pub fn new() -> Self {
            Self(())
        }
    }
}

impl Default for SignalsBlocked {
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

    /// The signals that the calling thread blocks, a bit for each.
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
            let _blocked = SignalsBlocked::new();
            "x".parse::<u8>().map(|_| ())
        };
        assert!(fails().is_err());
        assert_eq!(blocked(), before);
        let panics = || {
            let _outer = SignalsBlocked::new();
            let _inner = SignalsBlocked::new();
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
