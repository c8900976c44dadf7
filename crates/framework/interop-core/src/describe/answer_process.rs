//! Child processes that answer requests.

use super::child_process::ChildProcess;
use super::threads;
use std::io::{self, BufRead as _, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Prefix of an answer: before it takes over its standard output, a process may print other lines.
const ANSWER: &str = "pixelferry-answer ";

/// A child process that reads requests from its standard input and answers with lines on its standard output. No call
/// waits for it, even if it does not read: a driver in it may hang.
///
/// Threads: one.
#[derive(Debug)]
pub struct AnswerProcess {
    process: ChildProcess,
    requests: Sender<Vec<u8>>,
    answers: Receiver<String>,
}

impl AnswerProcess {
    /// Starts a program that answers through an [`AnswerOutput`].
    ///
    /// # Errors
    /// Those of [`ChildProcess::start`], and the system's if it cannot start a thread.
    pub fn start(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = ChildProcess::start(command)?;
        let (Some(mut input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (requests, sent) = channel::<Vec<u8>>();
        // A process that has ended no longer reads; its answers end, too, which reports it.
        let mut write = move |bytes: Vec<u8>| input.write_all(&bytes).and_then(|()| input.flush());
        threads::spawn("requests", move || _ = sent.iter().try_for_each(&mut write))?;
        let (sender, answers) = channel();
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        let mut read = lines.filter_map(|line| line.strip_prefix(ANSWER).map(str::to_owned));
        threads::spawn("answers", move || _ = read.try_for_each(|answer| sender.send(answer)))?;
        Ok(Self { process, requests, answers })
    }

    /// Sends bytes to the process.
    pub fn send(&self, request: impl Into<Vec<u8>>) {
        // The thread has ended if the process has.
        let _ = self.requests.send(request.into());
    }

    /// Returns the next answer; `None` if there is none within `limit`.
    ///
    /// # Errors
    /// How the process ended. It is killed if it only closed its output.
    pub fn answer(&mut self, limit: Duration) -> Result<Option<String>, String> {
        match self.answers.recv_timeout(limit) {
            Ok(answer) => Ok(Some(answer)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                let _ = self.process.kill();
                Err(self.process.wait().map_or_else(|error| error.to_string(), |status| status.to_string()))
            }
        }
    }

    /// Returns the number of the process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }
}

/// The standard output of this process, taken over for answers: what a kernel or a driver prints there later is
/// discarded, because it could look like an answer.
pub struct AnswerOutput(Box<dyn Write>);

crate::debug_as!(AnswerOutput);

impl AnswerOutput {
    /// Takes over the standard output, which nothing else can use from then on.
    ///
    /// # Errors
    /// The system's, for example if there is no standard output.
    pub fn take() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use std::fs::File;
            let own = rustix::io::dup(io::stdout())?;
            rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
            Ok(Self(Box::new(File::from(own))))
        }
        #[cfg(not(unix))]
        Ok(Self(Box::new(io::stdout())))
    }

    /// Sends one line.
    ///
    /// # Errors
    /// The system's, if the parent process does not read.
    pub fn send(&mut self, answer: &str) -> io::Result<()> {
        self.0.write_all(format!("\n{ANSWER}{answer}\n").as_bytes())?;
        self.0.flush()
    }
}
