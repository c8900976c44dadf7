//! Exit codes of the command.

use std::process::ExitCode;

/// Outcome of a command that ran without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    HostOnly,
    NoPath,
    Causes,
    #[cfg(all(feature = "stream", target_os = "linux"))]
    NoStream,
}

struct ExitRow {
    exit: Exit,
    code: u8,
    about: &'static str,
}

const ROWS: &[ExitRow] = &[
    ExitRow { exit: Exit::Done, code: 0, about: "done; probe: a shared path works; doctor: nothing found" },
    ExitRow { exit: Exit::HostOnly, code: 3, about: "probe: frames pass through the host only" },
    ExitRow { exit: Exit::NoPath, code: 4, about: "probe: no path works" },
    ExitRow { exit: Exit::Causes, code: 5, about: "doctor: something was found" },
    #[cfg(all(feature = "stream", target_os = "linux"))]
    ExitRow { exit: Exit::NoStream, code: 6, about: "streams: no stream is published" },
];

/// Formats the exit codes for help. Codes 1 and 2 mean the same for every command.
pub fn help() -> String {
    let mut lines: Vec<_> = ROWS.iter().map(|row| format!("  {}  {}", row.code, row.about)).collect();
    lines.insert(1, "  1  an error, reported on standard error\n  2  invalid arguments".into());
    format!("Exit codes (probe is judged by the best pair of devices):\n{}", lines.join("\n"))
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ROWS.iter().find(|row| row.exit == exit).map_or(Self::FAILURE, |row| Self::from(row.code))
    }
}
