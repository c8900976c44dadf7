//! Standard output and standard error of a command: a failed write is an error or is ignored, and never panics.

use std::fmt::{Arguments, Display};
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Standard output failed, for example because the disk is full.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output: {0}")]
pub struct OutputError(#[from] pub io::Error);

/// Standard output. After its reader has gone (`| head`), it discards everything: the command must still save its
/// files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Output;

fn unless_closed<T>(result: io::Result<T>, dropped: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(dropped),
        other => other,
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_closed(io::stdout().write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_closed(io::stdout().flush(), ())
    }
}

/// Whether standard output is reserved for data.
static IS_LEFT: AtomicBool = AtomicBool::new(false);

/// Sends lines to standard error from now on, because standard output is used for data.
pub fn leave_output() {
    IS_LEFT.store(true, Ordering::Relaxed);
}

/// Writes a line to standard output; [`say!`](crate::say) formats it.
///
/// # Errors
/// [`OutputError`], except if the reader has gone.
pub fn line(text: Arguments<'_>) -> Result<(), OutputError> {
    if IS_LEFT.load(Ordering::Relaxed) {
        error_line(text);
        return Ok(());
    }
    // In one piece, so that lines of several threads do not mix.
    Ok(Output.write_all(format!("{text}\n").as_bytes()).and_then(|()| Output.flush())?)
}

/// Writes a line to standard error; [`complain!`](crate::complain) formats it. A failure is ignored.
pub fn error_line(text: Arguments<'_>) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Prints a line like `println!`, but returns an [`OutputError`] instead of panicking.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => { $crate::terminal::line(::std::format_args!($($text)*)) };
}

/// Prints a line like `eprintln!`, but never panics.
#[macro_export]
macro_rules! complain {
    ($($text:tt)*) => { $crate::terminal::error_line(::std::format_args!($($text)*)) };
}

/// Ends a command: prints an error and returns the exit status 1 for it.
pub fn end(result: Result<(), impl Display>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
