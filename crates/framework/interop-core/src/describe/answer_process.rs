//! Child processes that answer requests.

use super::child_process::ChildProcess;
use super::threads;
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Prefix of an answer: before it takes over its standard output, a process may print other lines.
const ANSWER: &str = "pixelferry-answer ";
/// Longest line that is kept.
const LONGEST: u64 = 1 << 24;
/// Bytes that are written at a time.
const CHUNK: usize = 1 << 20;
/// How long the system may take to end a process.
const ENDING: Duration = Duration::from_millis(50);

/// A child process that reads requests from its standard input and answers with lines on its standard output. No request
/// waits for it, even if it does not read: a driver in it may hang.
///
/// It may move between threads.
#[derive(Debug)]
pub struct AnswerProcess {
    process: ChildProcess,
    requests: Sender<Vec<u8>>,
    /// Number of bytes of requests that the process has not taken.
    queued: Arc<AtomicUsize>,
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
        let queued = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&queued);
        let mut write = move |bytes: Vec<u8>| {
            bytes.chunks(CHUNK).try_for_each(|chunk| {
                input.write_all(chunk)?;
                left.fetch_sub(chunk.len(), Relaxed);
                input.flush()
            })
        };
        // A process that has ended no longer reads; its answers end, too, which reports it.
        threads::spawn("requests", move || _ = sent.iter().try_for_each(&mut write))?;
        let (sender, answers) = channel();
        let mut output = BufReader::new(output);
        let read = move || {
            let mut line = Vec::new();
            // Other text, which need not be valid, is left out.
            while output.by_ref().take(LONGEST).read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
                let answer =
                    line.trim_ascii_end().strip_prefix(ANSWER.as_bytes()).and_then(|text| str::from_utf8(text).ok());
                if answer.is_some_and(|answer| sender.send(answer.to_owned()).is_err()) {
                    return;
                }
                line.clear();
            }
        };
        threads::spawn("answers", read)?;
        Ok(Self { process, requests, queued, answers })
    }

    /// Sends bytes to the process.
    pub fn send(&self, request: impl Into<Vec<u8>>) {
        let request = request.into();
        self.queued.fetch_add(request.len(), Relaxed);
        // The thread has ended if the process has.
        let _ = self.requests.send(request);
    }

    /// Returns the number of bytes that were sent and not yet taken.
    pub fn queued(&self) -> usize {
        self.queued.load(Relaxed)
    }

    /// Returns the next answer; `None` if there is none within `limit`.
    ///
    /// # Errors
    /// How the process ended: see [`AnswerProcess::end`].
    pub fn answer(&mut self, limit: Duration) -> Result<Option<String>, String> {
        match self.answers.recv_timeout(limit) {
            Ok(answer) => Ok(Some(answer)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.end(false)),
        }
    }

    /// Waits a moment for the end of a process, unless it `hangs`; then kills it. Returns how it ended, for a sentence
    /// about it. Never takes longer than 100 ms, even if the system cannot end the process.
    pub fn end(&mut self, hangs: bool) -> String {
        if !hangs && let Some(status) = self.exit() {
            return format!("ended with {status}");
        }
        let _ = self.process.kill();
        if self.exit().is_some() { "was killed" } else { "was killed, and has not ended yet" }.to_owned()
    }

    fn exit(&mut self) -> Option<String> {
        let begun = Instant::now();
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return Some(status.to_string()),
                Err(error) => return Some(error.to_string()),
                Ok(None) if begun.elapsed() > ENDING => return None,
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    /// Returns the process ID.
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
            // Processes that drivers start do not get it.
            let own = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?;
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
