//! Lines on standard output and standard error: a failed write is an error or is ignored, and never panics.

use crate::failure::Failure;
use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write as _};

/// Writes a text to standard output. It is no failure if the reader has gone (`| head`).
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(()),
    }
}

/// Writes a line to standard output.
pub fn say(text: Arguments<'_>) -> Result<(), Failure> {
    print(&format!("{text}\n"))
}

/// Writes a line to standard error. A failure is ignored.
pub fn complain(text: Arguments<'_>) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}
