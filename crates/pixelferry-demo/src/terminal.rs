//! Standard output and standard error of a command: what cannot be written is an error, or dropped, and never a panic.

use std::fmt::{Arguments, Display};
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Standard output failed, for example because the disk is full.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output: {0}")]
pub struct OutputError(#[from] pub io::Error);

/// Standard output. It takes and drops what comes after its reader has gone (`| head`): nobody wants to read more, but
/// files are still to be saved.
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

/// True where standard output is not for words.
static IS_LEFT: AtomicBool = AtomicBool::new(false);

/// Lets lines go to standard error from now on, as standard output is for something else.
pub fn leave_output() {
    IS_LEFT.store(true, Ordering::Relaxed);
}

/// Writes a line to standard output; [`say!`](crate::say) formats it.
///
/// # Errors
/// [`OutputError`], but not for a reader that has gone.
pub fn line(text: Arguments<'_>) -> Result<(), OutputError> {
    if IS_LEFT.load(Ordering::Relaxed) {
        error_line(text);
        return Ok(());
    }
    // In one piece: lines of several threads do not mix.
    Ok(Output.write_all(format!("{text}\n").as_bytes()).and_then(|()| Output.flush())?)
}

/// Writes a line to standard error; [`complain!`](crate::complain) formats it. Where that fails nobody can be told.
pub fn error_line(text: Arguments<'_>) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Prints a line as `println!` does, but gives an [`OutputError`] where that panics.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => { $crate::terminal::line(::std::format_args!($($text)*)) };
}

/// Prints a line as `eprintln!` does, but never panics.
#[macro_export]
macro_rules! complain {
    ($($text:tt)*) => { $crate::terminal::error_line(::std::format_args!($($text)*)) };
}

/// The end of a command: an error is told, and makes the exit status 1.
pub fn end(result: Result<(), impl Display>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
