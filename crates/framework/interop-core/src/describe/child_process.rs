//! Child processes. The product starts every child as a [`ChildProcess`], so that no child outlives its program.

use super::process::ProcessMark;
use super::threads;
use std::io;
use std::ops::{Deref, DerefMut};
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// A process that is killed when this is dropped and, on Linux, whenever the program ends: by returning, by a panic, or
/// by a signal that cannot be caught.
///
/// Linux can kill a child when the *thread* that started it ends; there is no such event for the end of the program.
/// Each child therefore has a thread that lives as long as the child.
///
/// Threads: one.
#[derive(Debug)]
pub struct ChildProcess {
    process: Child,
    /// Its thread ends when the sender is dropped.
    keeper: Option<(Sender<()>, JoinHandle<()>)>,
    /// A process forked from this one owns neither the child nor the thread.
    made: ProcessMark,
}

impl ChildProcess {
    /// Starts a program.
    ///
    /// # Errors
    /// Those of [`Command::spawn`], and the system's if it cannot start a thread.
    pub fn start(mut command: Command) -> io::Result<Self> {
        end_with_its_thread(threads::takes_signals(&mut command));
        let (started, result) = channel();
        let (sender, until) = channel::<()>();
        let keeper = threads::spawn("child-keeper", move || {
            if started.send(command.spawn()).is_ok() {
                // Returns when the sender is dropped; nothing is ever sent.
                let _ = until.recv();
            }
        })?;
        let process = result.recv().map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))??;
        Ok(Self { process, keeper: Some((sender, keeper)), made: ProcessMark::here() })
    }

    /// Kills the process and collects its status; does nothing if it has already ended. In a process forked from the
    /// one that started it, leaves it running.
    pub fn end(&mut self) {
        if !self.made.is_here() {
            return;
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Deref for ChildProcess {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.process
    }
}

impl DerefMut for ChildProcess {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.process
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.end();
        let keeper = self.keeper.take();
        if !self.made.is_here() {
            std::mem::forget(keeper);
        } else if let Some((sender, keeper)) = keeper {
            drop(sender);
            let _ = keeper.join();
        }
    }
}

#[cfg(target_os = "linux")]
fn end_with_its_thread(command: &mut Command) {
    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
    use std::os::unix::process::CommandExt as _;
    let program = getpid();
    let ask = move || -> io::Result<()> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The program may have ended before this request to be signalled.
        if getppid() == Some(program) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    };
    // SAFETY: between fork and exec the closure makes three system calls, takes no lock and allocates nothing.
    unsafe { command.pre_exec(ask) };
}

/// On other systems, a child ends when this program drops it, or when its input ends.
#[cfg(not(target_os = "linux"))]
fn end_with_its_thread(_: &mut Command) {}
