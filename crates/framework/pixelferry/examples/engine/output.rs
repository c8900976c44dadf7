//! Lines on standard output and standard error. `println!` would panic after the reader has gone (`| head`).

use super::Failure;
use std::fmt::{Arguments, Display};
use std::io::{self, ErrorKind, Write as _};
use std::process::ExitCode;

/// Writes a line to standard output.
pub fn line(text: Arguments<'_>) -> Result<(), Failure> {
    // In one piece, so that lines of several threads do not mix.
    match io::stdout().write_all(format!("{text}\n").as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes a line to standard error. A failure is ignored.
pub fn error_line(text: Arguments<'_>) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Prints a line like `println!`, but returns an error instead of panicking.
macro_rules! say {
    ($($text:tt)*) => { $crate::engine::output::line(::std::format_args!($($text)*)) };
}

/// Prints a line like `eprintln!`, but never panics.
macro_rules! complain {
    ($($text:tt)*) => { $crate::engine::output::error_line(::std::format_args!($($text)*)) };
}

pub(crate) use {complain, say};

/// Ends an engine: prints an error and returns the exit status 1 for it.
pub fn end(result: Result<(), impl Display>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
