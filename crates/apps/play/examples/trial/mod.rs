//! The process that tries texts, which is the example itself with an argument.

use pixelferry::BackendChoice;
use pixelferry::command::ApiChoice as _;
use pixelferry_play::{TextVoucher, serve};
use std::error::Error;
use std::process::Command;
use std::{env, io};

/// First argument of such a process; the backend follows.
const MARK: &str = "--trial";

/// Runs the process of a trial if the arguments ask for it. Returns false if this is the example's own process.
pub fn runs(arguments: &[String], vouched: TextVoucher) -> Result<bool, Box<dyn Error>> {
    let [mark, backend] = arguments else { return Ok(false) };
    if mark != MARK {
        return Ok(false);
    }
    serve(io::stdin().lock(), BackendChoice::parse(backend)?, vouched)?;
    Ok(true)
}

/// Starts such a process for each trial.
pub fn command(backend: BackendChoice) -> io::Result<impl FnMut() -> Command + 'static> {
    let program = env::current_exe()?;
    Ok(move || {
        let mut command = Command::new(&program);
        command.args([MARK, backend.name()]);
        command
    })
}
