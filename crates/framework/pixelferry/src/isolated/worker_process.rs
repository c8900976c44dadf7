//! The program's side of its child process.

use super::message::{Answer, ArgumentWork, Request, Work};
use crate::stream::Subscriber;
use interop_core::describe::answer_process::AnswerProcess;
use interop_core::{Error, Result};
use std::collections::VecDeque;
use std::fmt;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The environment variable that makes a process the child of an isolated link.
pub(super) const IS_CHILD: &str = "PIXELFERRY_ISOLATED_CHILD";
/// Time limit for opening a driver and building kernels.
const OPENING: Duration = Duration::from_secs(60);

/// How the child of an isolated link is started and judged.
///
/// ```
/// use pixelferry::isolated::Isolation;
/// use std::time::Duration;
///
/// let patient = Isolation::default().with_limit(Duration::from_secs(10));
/// # drop(patient);
/// ```
#[derive(Clone)]
pub struct Isolation {
    pub(super) limit: Duration,
    command: Arc<dyn Fn() -> std::io::Result<Command>>,
}

interop_core::debug_as!(Isolation, |this| limit = &this.limit);

impl Default for Isolation {
    /// This program again, and 2 s for a frame.
    fn default() -> Self {
        let command = Arc::new(|| std::env::current_exe().map(Command::new));
        Self { limit: Duration::from_secs(2), command }
    }
}

impl Isolation {
    /// Sets how long a frame may take from its launch. A child that takes longer hangs, and is killed.
    #[must_use]
    pub const fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the command that starts the child: a program that calls [`super::serve_child`].
    #[must_use]
    pub fn with_command(mut self, command: impl Fn() -> std::io::Result<Command> + 'static) -> Self {
        self.command = Arc::new(command);
        self
    }
}

/// A child process: opens its driver, then computes frames.
pub(super) struct WorkerProcess {
    pub process: AnswerProcess,
    stream: String,
    /// `None` until the child is ready.
    pub subscriber: Option<Subscriber>,
    begun: Instant,
    /// Number and time of the launches whose frames have not come, the oldest first.
    under_way: VecDeque<(u64, Instant)>,
    launches: u64,
}

/// Why a child is replaced.
pub(super) enum ChildEnd {
    /// It cannot do the work with this backend.
    Unable(String),
    /// It crashed, hangs, or reported an error.
    Lost(String),
}

impl WorkerProcess {
    /// Starts a child.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the system cannot start the process.
    pub fn start(isolation: &Isolation, work: Work) -> Result<Self> {
        let failed = |error: &dyn fmt::Display| {
            Error::unavailable("the child of an isolated link", error, "Check the limits of processes and memory.")
        };
        let mut command = (isolation.command)().map_err(|error| failed(&error))?;
        command.env(IS_CHILD, "1");
        let process = AnswerProcess::start(command).map_err(|error| failed(&error))?;
        let stream = work.stream.clone();
        let (subscriber, under_way, launches) = (None, VecDeque::new(), 0);
        let started = Self { process, stream, subscriber, begun: Instant::now(), under_way, launches };
        started.request(&Request::Open(work))?;
        Ok(started)
    }

    /// Returns the time since the child was started.
    pub fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Sends a request, without waiting for the child to read it.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a request that cannot be written as text.
    pub fn request(&self, request: &Request) -> Result<()> {
        let mut line = serde_json::to_vec(request).map_err(|error| Error::refused(error.to_string()))?;
        line.push(b'\n');
        self.process.send(line);
        Ok(())
    }

    /// Launches the kernels for another frame.
    ///
    /// # Errors
    /// As [`WorkerProcess::request`].
    pub fn launch(&mut self, arguments: Vec<Vec<ArgumentWork>>) -> Result<()> {
        self.request(&Request::Launch(arguments))?;
        self.launches += 1;
        self.under_way.push_back((self.launches, Instant::now()));
        Ok(())
    }

    /// Number of launches whose frames have not come.
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Notes that the frame with this number, and all before it, have come.
    pub fn arrived(&mut self, frame: u64) {
        self.under_way.retain(|(launch, _)| *launch > frame);
    }

    /// Handles one answer, if it arrives within `limit`. Returns the device's name when it is ready.
    ///
    /// # Errors
    /// Why the child must be replaced.
    pub fn poll(&mut self, isolation: &Isolation, limit: Duration) -> Result<Option<String>, ChildEnd> {
        let lost = |reason: String| ChildEnd::Lost(reason);
        let answer = self.process.answer(limit).map_err(|how| lost(format!("the child ended with {how}")))?;
        let Some(answer) = answer else {
            let (begun, limit) = match (&self.subscriber, self.under_way.front()) {
                (None, _) => (self.begun, OPENING),
                (_, Some((_, oldest))) => (*oldest, isolation.limit),
                _ => return Ok(None),
            };
            let is_late = begun.elapsed() > limit;
            return if is_late { Err(lost(format!("the child gave no frame within {limit:?}"))) } else { Ok(None) };
        };
        match serde_json::from_str(&answer).map_err(|error| lost(error.to_string()))? {
            Answer::Ready { device } => {
                // The host reads frames, so no further driver is opened here.
                let threads: Arc<dyn interop_core::ComputeBackend> =
                    Arc::new(cpu_fallback::CpuBackend::new().map_err(|error| lost(error.to_string()))?);
                let subscriber = Subscriber::open(&self.stream, &threads).map_err(|error| lost(error.to_string()))?;
                self.subscriber = Some(subscriber);
                return Ok(Some(device));
            }
            Answer::Published { frame } => self.arrived(frame),
            Answer::Unable { reason } => return Err(ChildEnd::Unable(reason)),
            Answer::Failed { reason } => return Err(lost(reason)),
        }
        Ok(None)
    }
}
