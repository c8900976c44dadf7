//! `fork(2)`, which runs the child on the calling thread's copy alone.

use interop_core::describe::panics::catch;
use pixelferry_testing::wait_until;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::time::Duration;

unsafe extern "C" {
    safe fn fork() -> i32;
    safe fn _exit(status: i32) -> !;
}

/// A forked child; killed when it is dropped.
pub struct Fork(Pid);

impl Fork {
    /// A child that runs `work` and ends.
    pub fn new(work: impl FnOnce()) -> Self {
        match fork() {
            0 => _exit(i32::from(catch(work).is_err())),
            child => Self(Pid::from_raw(child).expect("no process can be forked")),
        }
    }

    /// A child that does nothing, and keeps its copies until it is killed.
    pub fn idle() -> Self {
        Self::new(|| {
            loop {
                std::thread::sleep(Duration::from_secs(60));
            }
        })
    }

    /// Waits for its end; true where nothing failed.
    pub fn passes(self) -> bool {
        let mut status = None;
        wait_until("the end of a forked child", || {
            status = waitpid(Some(self.0), WaitOptions::NOHANG).unwrap();
            status.is_some()
        });
        std::mem::forget(self);
        status.is_some_and(|(_, status)| status.exit_status() == Some(0))
    }

    /// Left to itself.
    pub fn leave(self) -> Pid {
        let child = self.0;
        std::mem::forget(self);
        child
    }
}

impl Drop for Fork {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::KILL);
        let _ = waitpid(Some(self.0), WaitOptions::empty());
    }
}
