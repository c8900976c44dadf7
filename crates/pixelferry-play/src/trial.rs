//! The trial: a text is built and launched in a process of its own before it runs here. Such a process may die of it, or is ended.
//!
//! A process that is ready waits for the next text, so that a trial takes no longer than the text. One that has failed is replaced.
//! Requests and answers are lines of JSON on its standard input and output. A text cannot forge an answer by printing: its standard
//! output is another one.

use crate::drawing::Canvas;
use crate::driver::Driver;
use crate::error::{Fault, PlayError};
use crate::gl::Gl;
use crate::input::Moment;
use crate::pass::Vouched;
use crate::picture::Streams;
use crate::program::Program;
use crate::running::Running;
use pixelferry::driver::describe::threads;
use pixelferry::{BackendChoice, ComputeBackend, DisplayChoice, Extent, ImageView, PixelFormat, Target, View};
use pixelferry::{open_backend, open_headless};
use pixelferry_media::child::ChildProcess;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// What an answer begins with: before the first one, the process may print other lines.
const ANSWER: &str = "pixelferry-trial ";
/// The first launch is small: a text that takes too long is known sooner, and what it leaves unwritten. No group divides its sides, so
/// that work items are beyond them.
const SMALL: Extent = Extent::new(61, 35);
/// Later moments of small launches, in seconds and frames: what does not end there would stop the program.
const AHEAD: [(f32, i32); 4] = [(0.5, 30), (2.0, 120), (10.0, 600), (60.0, 3600)];
/// Bytes around the picture.
const AROUND: u8 = 0xa5;
/// Time in which a stream may bring a frame to the trial.
const SOON: Duration = Duration::from_millis(200);
/// Time in which the process is ready: drivers are loaded.
const READY: Duration = Duration::from_secs(60);

/// A text to try.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// The passes.
    pub program: Program,
    /// Numbers of the sliders.
    pub sliders: Vec<f32>,
    /// Moment at which it is launched.
    pub moment: Moment,
    /// Columns and rows of the picture.
    pub size: [u32; 2],
}

/// Result of a trial that went well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    /// The passes.
    pub program: Program,
    /// FNV-1a of the picture's bytes, RGBA with rows from the top.
    pub sum: u64,
    /// Pixels of the small picture that the kernel left as they were, and how many it has.
    pub unwritten: [u32; 2],
}

/// Outcome of a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It ran.
    Passed(Box<Passed>),
    /// It did not build, did not run, or did not end.
    Failed(Vec<Fault>),
}

#[derive(Serialize, Deserialize)]
enum Answer {
    Ready,
    Unable(String),
    Passed(Box<Passed>),
    Failed(Vec<Fault>),
}

/// Tries what comes on `input` until that ends, and answers on standard output, which nobody else can use from then on: the process of a
/// trial.
///
/// # Errors
/// What the backend reports when it is opened, which was answered, too; [`PlayError::Trial`] where nobody listens.
pub fn serve(input: impl BufRead, backend: BackendChoice, vouched: Vouched) -> Result<(), PlayError> {
    let mut output = own_output().map_err(|error| PlayError::Trial(format!("it has no standard output: {error}")))?;
    let mut answer = |answer: &Answer| -> Result<(), PlayError> {
        let gone = |error: std::io::Error| PlayError::Trial(format!("nobody listens to it: {error}"));
        let text = serde_json::to_string(answer).map_err(|error| gone(error.into()))?;
        output.write_all(format!("\n{ANSWER}{text}\n").as_bytes()).and_then(|()| output.flush()).map_err(gone)
    };
    let mut drivers = Drivers::open(backend).inspect_err(|error| drop(answer(&Answer::Unable(error.to_string()))))?;
    answer(&Answer::Ready)?;
    for line in input.lines() {
        let read = line.map_err(|error| PlayError::Trial(error.to_string()))?;
        let request: Request = serde_json::from_str(&read).map_err(|error| PlayError::Trial(error.to_string()))?;
        let file = request.program.file.clone();
        answer(&match drivers.of(&request.program).and_then(|driver| tried(&driver, request, vouched)) {
            Ok(passed) => Answer::Passed(Box::new(passed)),
            Err(error) => Answer::Failed(error.into_faults(&file)),
        })?;
    }
    Ok(())
}

/// Takes the standard output for answers. What the text prints, as by OpenCL's `printf`, goes nowhere: it could read like an answer.
#[cfg(unix)]
fn own_output() -> io::Result<impl Write> {
    use std::{fs::File, os::fd::AsFd as _};
    let own = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    Ok(File::from(own))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "another system's has errors")]
fn own_output() -> io::Result<impl Write> {
    Ok(io::stdout())
}

/// What tries texts.
struct Drivers {
    choice: BackendChoice,
    backend: Option<Arc<dyn ComputeBackend>>,
    gl: Option<Gl>,
}

impl Drivers {
    /// OpenGL for fragment shaders, and with it kernels once there is one; else a backend.
    fn open(choice: BackendChoice) -> Result<Self, PlayError> {
        let mut drivers = Self { choice, backend: None, gl: None };
        if choice == BackendChoice::Gl {
            drivers.gl = open_headless(DisplayChoice::Gl)?.gl().map(Gl::of).transpose()?;
        } else {
            drivers.backend = Some(open_backend(choice, &[])?);
        }
        Ok(drivers)
    }

    fn of(&mut self, program: &Program) -> Result<Driver, PlayError> {
        if let (Some(gl), true) = (&self.gl, program.is_of_fragments()) {
            gl.display().make_current()?;
            return Ok(Driver::Fragments(gl.clone()));
        }
        let backend = match &self.backend {
            Some(backend) => Arc::clone(backend),
            None => open_backend(self.choice, &[])?,
        };
        self.backend = Some(Arc::clone(&backend));
        Ok(Driver::Kernels(backend))
    }
}

fn tried(driver: &Driver, request: Request, vouched: Vouched) -> Result<Passed, PlayError> {
    let Request { program, sliders, moment, size: [width, height] } = request;
    let mut running = Running::build(driver, program.clone(), SMALL, vouched, &mut Streams::default())?;
    // A frame of the right size is a better trial; one that does not come is said later, on show.
    let _ = running.wait_for_streams(SOON);
    let first = Moment { frame: 0, ..moment };
    running.go_to(&first)?;
    let all = SMALL.pixels() as u32;
    let mut unwritten = 0;
    if let Driver::Kernels(backend) = driver {
        running.launch_buffers(&first, &sliders)?;
        // What is the same on black and on white was written.
        let [black, white] = [0, 255].map(|behind| computed(backend, &running, (&first, &sliders), SMALL, behind));
        let (black, white) = (black?, white?);
        let pairs = black.chunks_exact(4).zip(white.chunks_exact(4));
        unwritten = pairs.filter(|(black, white)| *black == [0; 4] && *white == [255; 4]).count() as u32;
        if unwritten == all {
            let text = "the kernel writes no pixel: see that it stores each, as by pf_store or PF_STORE".to_owned();
            return Err(PlayError::Faults(vec![Fault { file: program.file, line: None, column: None, text }]));
        }
    }
    for (ahead, frames) in AHEAD {
        let later = Moment { time: moment.time + ahead, frame: moment.frame.saturating_add(frames), ..moment };
        pixels(driver, &mut running, (&later, &sliders), SMALL)?;
    }
    let size = Extent::new(width, height);
    running.resize(size)?;
    running.go_to(&moment)?;
    let sum = sum(&pixels(driver, &mut running, (&moment, &sliders), size)?);
    Ok(Passed { program, sum, unwritten: [unwritten, all] })
}

/// The picture of a moment, with the videos as they are.
fn pixels(driver: &Driver, running: &mut Running, now: (&Moment, &[f32]), size: Extent) -> Result<Vec<u8>, PlayError> {
    match driver {
        Driver::Kernels(backend) => {
            running.launch_buffers(now.0, now.1)?;
            computed(backend, running, now, size, 0)
        }
        Driver::Fragments(gl) => {
            let canvas = Canvas::new(gl, size)?;
            running.draw(&canvas, now.0, now.1)?;
            canvas.read_back()
        }
    }
}

/// The picture of kernels, over bytes that are all the same. Memory around it is as large again, and stays as it is.
fn computed(
    backend: &Arc<dyn ComputeBackend>,
    running: &Running,
    (moment, sliders): (&Moment, &[f32]),
    size: Extent,
    behind: u8,
) -> Result<Vec<u8>, PlayError> {
    let len = size.pixels() as usize * 4;
    let mut bytes = vec![AROUND; 3 * len];
    bytes[len..2 * len].fill(behind);
    let mut memory = backend.allocate(bytes.len())?;
    memory.write(0, &bytes)?;
    let view = View::Image(ImageView::packed(size, PixelFormat::Rgba8, 1, len, false)?);
    running.compute_picture(moment, sliders, |kernel, arguments| {
        backend.launch(kernel, Target::new(memory.as_mut(), view)?, arguments)
    })?;
    backend.finish()?;
    memory.read(0, &mut bytes)?;
    if bytes[..len].iter().chain(&bytes[2 * len..]).any(|byte| *byte != AROUND) {
        let text = "the kernel writes outside of its picture: see that it stores only below out_width and out_height"
            .to_owned();
        return Err(PlayError::Faults(vec![Fault {
            file: running.program.file.clone(),
            line: None,
            column: None,
            text,
        }]));
    }
    Ok(bytes[len..2 * len].to_vec())
}

/// FNV-1a.
pub fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The process that tries texts, as its parent has it.
pub struct Trials {
    command: Box<dyn FnMut() -> Command>,
    limit: Duration,
    tester: Option<Tester>,
    /// The text on trial, as its process gets it.
    request: Option<(Program, String)>,
}

struct Tester {
    process: ChildProcess,
    input: ChildStdin,
    answers: Receiver<Answer>,
    is_ready: bool,
    /// Since when it gets ready, or tries.
    since: Instant,
    is_busy: bool,
}

impl Trials {
    /// A process of this command, in which [`serve`] runs; it starts now. A text that takes longer than `limit` fails.
    ///
    /// # Errors
    /// [`PlayError::Trial`] where it does not start.
    pub fn start(command: impl FnMut() -> Command + 'static, limit: Duration) -> Result<Self, PlayError> {
        let mut trials = Self { command: Box::new(command), limit, tester: None, request: None };
        trials.tester = Some(trials.tester()?);
        Ok(trials)
    }

    fn tester(&mut self) -> Result<Tester, PlayError> {
        let failed = |error: std::io::Error| PlayError::Trial(error.to_string());
        let mut command = (self.command)();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = ChildProcess::start(command).map_err(failed)?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(PlayError::Trial("it has no standard input or output".into()));
        };
        let (sender, answers) = channel();
        let read = move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { return };
                let Some(text) = line.strip_prefix(ANSWER) else { continue };
                let Ok(answer) = serde_json::from_str(text) else { continue };
                if sender.send(answer).is_err() {
                    return;
                }
            }
        };
        threads::spawn("trial", read).map_err(failed)?;
        Ok(Tester { process, input, answers, is_ready: false, since: Instant::now(), is_busy: false })
    }

    /// Tries a text instead of one that is on trial.
    ///
    /// # Errors
    /// [`PlayError::Trial`] where there is no process for it.
    pub fn request(&mut self, request: &Request) -> Result<(), PlayError> {
        let text = serde_json::to_string(request).map_err(|error| PlayError::Trial(error.to_string()))?;
        self.forget()?;
        self.request = Some((request.program.clone(), text));
        self.send();
        Ok(())
    }

    /// Ends the trial of a text that is not to be shown any more.
    ///
    /// # Errors
    /// [`PlayError::Trial`] where there is no other process.
    pub fn forget(&mut self) -> Result<(), PlayError> {
        self.request = None;
        if self.tester.as_ref().is_none_or(|tester| tester.is_busy) {
            self.tester = None;
            self.tester = Some(self.tester()?);
        }
        Ok(())
    }

    /// Gives a process that is ready its text.
    fn send(&mut self) {
        if let (Some(tester), Some((_, text))) = (&mut self.tester, &self.request)
            && tester.is_ready
            && !tester.is_busy
        {
            // One that has gone is noticed by its answers.
            let _ = tester.input.write_all(format!("{text}\n").as_bytes()).and_then(|()| tester.input.flush());
            (tester.is_busy, tester.since) = (true, Instant::now());
        }
    }

    /// True while a text is on trial.
    pub const fn is_busy(&self) -> bool {
        self.request.is_some()
    }

    /// Outcome of the trial, once there is one. Does not wait.
    ///
    /// # Errors
    /// [`PlayError::Trial`] where the process cannot do its work at all; the text is forgotten then, and the next one gets another
    /// process.
    pub fn outcome(&mut self) -> Result<Option<Outcome>, PlayError> {
        let Some(tester) = &mut self.tester else { return Ok(None) };
        let limit = if tester.is_busy { self.limit } else { READY };
        let waits = tester.is_busy || !tester.is_ready;
        let failed = match tester.answers.try_recv() {
            Ok(Answer::Ready) => {
                tester.is_ready = true;
                self.send();
                return Ok(None);
            }
            Ok(Answer::Passed(passed)) => return Ok(self.done(Outcome::Passed(passed))),
            Ok(Answer::Failed(faults)) => return Ok(self.done(Outcome::Failed(faults))),
            Ok(Answer::Unable(reason)) => reason,
            Err(TryRecvError::Empty) if waits && tester.since.elapsed() > limit => {
                let seconds = limit.as_secs_f32();
                match tester.is_busy {
                    true => format!(
                        "it did not end within {seconds} s: a loop without an end? (--limit gives it more time)"
                    ),
                    false => format!(
                        "the process that tries texts did not open its driver within {seconds} s; try another --backend"
                    ),
                }
            }
            Err(TryRecvError::Empty) => return Ok(None),
            Err(TryRecvError::Disconnected) => {
                // One that only closed its output is ended; of one that is gone nothing changes.
                let _ = tester.process.kill();
                let status = tester.process.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                format!(
                    "the process that tried it ended with {status}: a driver fails at it, or it writes where it has no memory"
                )
            }
        };
        let was_ready = tester.is_ready;
        self.tester = None;
        let request = self.request.take();
        if !was_ready {
            return Err(PlayError::Trial(failed));
        }
        self.tester = Some(self.tester()?);
        let Some((program, _)) = request else { return Ok(None) };
        Ok(Some(Outcome::Failed(vec![Fault { file: program.file, line: None, column: None, text: failed }])))
    }

    fn done(&mut self, outcome: Outcome) -> Option<Outcome> {
        if let Some(tester) = &mut self.tester {
            tester.is_busy = false;
        }
        self.request = None;
        Some(outcome)
    }
}
