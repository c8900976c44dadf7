//! Processes of their own: a bench starts itself again in a role.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Names the role, with its words, of a process that was started.
pub const ROLE: &str = "PIXELFERRY_BENCH_ROLE";
/// Variable with the endpoint that it connects to.
pub const HUB: &str = "PIXELFERRY_BENCH_HUB";

/// Microseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

/// In a process that was started: tells that it is ready.
pub fn tell_ready() -> Result<()> {
    println!("ready");
    Ok(std::io::stdout().flush()?)
}

/// A process in a role. It ends with its input.
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts this program again, with further variables.
    pub fn start(role: &str, hub: &str, variables: &[(&str, &str)]) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.env(ROLE, role).env(HUB, hub).envs(variables.iter().copied());
        Self::spawn(command)
    }

    /// Starts any program that keeps to this.
    pub fn spawn(mut command: Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take().ok_or("a pipe")?);
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    pub fn wait_until_ready(&mut self) -> Result<()> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok((line.trim() == "ready").then_some(()).ok_or("a process did not start")?)
    }

    /// Ends its input with these words.
    pub fn tell(&mut self, words: &str) -> Result<()> {
        let mut input = self.input.take().ok_or("its input ended before")?;
        Ok(write!(input, "{words}")?)
    }

    /// The line that it prints last.
    pub fn answer(mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        self.child.wait()?;
        Ok(line)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that ended on its own is not there any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
