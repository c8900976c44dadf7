//! The program's side of its child process.

use super::message::{Answer, ArgumentWork, Request, Work};
use crate::stream::Subscriber;
use interop_core::describe::answer_process::AnswerProcess;
use interop_core::describe::threads;
use interop_core::{ComputeBackend, Error, Result};
use std::fmt;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The environment variable that makes a process the child of an isolated link.
pub(super) const IS_CHILD: &str = "PIXELFERRY_ISOLATED_CHILD";
/// Time limit for opening a driver and building kernels.
const OPENING: Duration = Duration::from_secs(60);
/// Most bytes that wait for the child to take them.
const MOST_QUEUED: usize = 64 << 20;

/// How the child of an isolated link is started and judged.
///
/// ```
/// use pixelferry::isolation::Isolation;
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
        // This file, even if another version has been installed since.
        let command = Arc::new(|| Ok(Command::new("/proc/self/exe")));
        Self { limit: Duration::from_secs(2), command }
    }
}

impl Isolation {
    /// Sets how long a frame may take from its launch. A child that takes longer hangs, and is killed. The time in which
    /// the program does not call [`super::IsolatedLink::update`], or in which both processes are stopped, counts only in
    /// part.
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
    /// Time of the first frame.
    pub first: Option<Instant>,
    /// Number of launches, and of those whose frames have come.
    launches: u64,
    arrived: u64,
    /// How long the child has been awaited, as far as that was observed, and the last observation.
    awaited: Duration,
    observed: Instant,
    queued: usize,
}

/// Why a child is replaced.
pub(super) enum ChildEnd {
    /// The automatic choice takes its device last.
    PassedOver,
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
        // A signal of the terminal is for the program, which may live on.
        command.env(IS_CHILD, "1").process_group(0);
        let process = AnswerProcess::start(command).map_err(|error| failed(&error))?;
        let (stream, observed) = (work.stream.clone(), Instant::now());
        let (subscriber, first, awaited) = (None, None, Duration::ZERO);
        let started =
            Self { process, stream, subscriber, first, launches: 0, arrived: 0, awaited, observed, queued: 0 };
        started.request(&Request::Open(work))?;
        Ok(started)
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

    /// True where the child takes what is sent.
    pub fn takes_bytes(&self) -> bool {
        self.subscriber.is_some() && self.process.queued() < MOST_QUEUED
    }

    /// Launches the kernels for another frame.
    ///
    /// # Errors
    /// As [`WorkerProcess::request`].
    pub fn launch(&mut self, arguments: Vec<Vec<ArgumentWork>>) -> Result<()> {
        self.request(&Request::Launch(arguments))?;
        if self.under_way() == 0 {
            (self.awaited, self.observed) = (Duration::ZERO, Instant::now());
        }
        self.launches += 1;
        Ok(())
    }

    /// Number of launches whose frames have not come.
    pub fn under_way(&self) -> usize {
        (self.launches - self.arrived) as usize
    }

    /// Notes that the frame with this number, and all before it, have come.
    pub fn arrived(&mut self, frame: u64) {
        self.first.get_or_insert_with(Instant::now);
        // The numbers are the child's.
        (self.arrived, self.awaited) = (frame.clamp(self.arrived, self.launches), Duration::ZERO);
    }

    /// Handles an answer, if one arrives within `limit`. `threads` read frames, so that no further driver is opened in
    /// this process.
    ///
    /// # Errors
    /// Why the child must be replaced.
    pub fn poll(
        &mut self,
        (isolation, threads): (&Isolation, &Arc<dyn ComputeBackend>),
        limit: Duration,
    ) -> Result<Option<Answer>, ChildEnd> {
        let answer = self.process.answer(limit).map_err(|how| ChildEnd::Lost(format!("the child {how}")))?;
        let Some(answer) = answer else { return self.check_hang(isolation).map(|()| None) };
        match serde_json::from_str(&answer)
            .map_err(|error| ChildEnd::Lost(format!("the child's answer is invalid: {error}")))?
        {
            Answer::PassedOver => Err(ChildEnd::PassedOver),
            Answer::Unable(reason) => Err(ChildEnd::Unable(reason)),
            Answer::Failed(reason) => Err(ChildEnd::Lost(reason)),
            answer => {
                if let Answer::Ready(_) = answer {
                    let opened =
                        Subscriber::open(&self.stream, threads).map_err(|error| ChildEnd::Lost(error.to_string()));
                    self.subscriber = Some(opened?);
                }
                Ok(Some(answer))
            }
        }
    }

    fn check_hang(&mut self, isolation: &Isolation) -> Result<(), ChildEnd> {
        let is_opening = self.subscriber.is_none();
        let limit = if is_opening { OPENING } else { isolation.limit };
        let (now, queued) = (Instant::now(), self.process.queued());
        if queued < self.queued || !is_opening && self.under_way() == 0 {
            // It takes memory that the program wrote, or has nothing to do.
            self.awaited = Duration::ZERO;
        } else {
            // Longer pauses are the program's, or those of a debugger.
            self.awaited += (now - self.observed).min(limit / 4);
        }
        (self.observed, self.queued) = (now, queued);
        if self.awaited <= limit {
            return Ok(());
        }
        let what = if is_opening { "did not open its driver" } else { "gave no frame" };
        let how = self.process.end(true);
        Err(ChildEnd::Lost(format!("the child {what} within {limit:?}, and {how}")))
    }

    /// Ends the child beside the program: the system may take long to end a process that a driver holds.
    pub fn retire(self, backend: &Arc<dyn ComputeBackend>) -> Option<JoinHandle<()>> {
        let Self { mut process, stream, subscriber, .. } = self;
        drop(subscriber);
        let _ = process.end(true);
        let backend = Arc::clone(backend);
        let end = move || {
            drop(process);
            // Nobody publishes there any more, which removes the stream's socket.
            let _ = Subscriber::open(&stream, &backend);
        };
        threads::spawn("retire", end).ok()
    }
}
