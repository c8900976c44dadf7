//! The trial: a shader is built and launched in a process of its own before it runs here. That process may crash or
//! hang, and is then killed.
//!
//! A ready process waits for the next shader, so that a trial takes no longer than the shader itself. A process that
//! has failed is replaced. Requests and answers are lines of JSON on its standard input and output. A shader cannot
//! forge an answer by printing, because its prints go elsewhere.

use crate::dialect::Dialect;
use crate::driver::Driver;
use crate::error::{Fault, PlayError};
use crate::gl::Gl;
use crate::input::{FrameValues, Moment};
use crate::pass::TextVoucher;
use crate::picture::Streams;
use crate::program::Program;
use crate::running_program::RunningProgram;
use pixelferry::driver::describe::answer_process::{AnswerOutput, AnswerProcess};
use pixelferry::{BackendChoice, DisplayChoice, Extent, ImageView, PixelFormat, Target, View};
use pixelferry::{open_backend, open_headless};
use serde::{Deserialize, Serialize};
use std::io::BufRead;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Size of the first launch. It is small, so that a shader that takes too long is found early; it also shows which
/// pixels stay unwritten. No group size divides its sides, so some work items are outside.
const SMALL: Extent = Extent::new(61, 35);
/// Seconds and frame numbers of further small launches: a shader that hangs there would hang the program later.
const AHEAD: [(f32, i32); 4] = [(0.5, 30), (2.0, 120), (10.0, 600), (60.0, 3600)];
/// Value of the guard bytes around the picture.
const AROUND: u8 = 0xa5;
/// How long the trial waits for a stream's frame.
const SOON: Duration = Duration::from_millis(200);
/// Time limit for the process to get ready: it loads drivers.
const READY: Duration = Duration::from_secs(60);

/// A shader to try.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// The passes.
    pub program: Program,
    /// Values of the sliders.
    pub sliders: Vec<f32>,
    /// Moment to launch it with.
    pub moment: Moment,
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
}

/// Outcome of a trial: the program, or why it did not build, run or end.
pub type Outcome = Result<Program, Vec<Fault>>;

#[derive(Serialize, Deserialize)]
enum Answer {
    Ready,
    Unable(String),
    Tried(Result<(), Vec<Fault>>),
}

/// Runs the trial process: tries the shaders that arrive on `input` until it ends, and answers on standard output,
/// which nothing else can use from then on.
///
/// # Errors
/// An error of the backend when it is opened, which is also sent as an answer; [`PlayError::Trial`] if the parent does
/// not read answers.
pub fn serve(input: impl BufRead, backend: BackendChoice, vouched: TextVoucher) -> Result<(), PlayError> {
    let mut output =
        AnswerOutput::take().map_err(|error| failed(format!("the process has no standard output: {error}")))?;
    let mut answer = |answer: &Answer| -> Result<(), PlayError> {
        let text = serde_json::to_string(answer).map_err(failed)?;
        output.send(&text).map_err(|error| failed(format!("the parent process does not read its answers: {error}")))
    };
    let mut opened = driver(backend, backend == BackendChoice::Gl)
        .inspect_err(|error| drop(answer(&Answer::Unable(error.to_string()))))?;
    answer(&Answer::Ready)?;
    for line in input.lines() {
        let request: Request = serde_json::from_str(&line.map_err(failed)?).map_err(failed)?;
        let file = request.program.file.clone();
        let is_of_fragments = Dialect::of(&file).is_ok_and(Dialect::is_of_fragments);
        // OpenGL runs both fragment shaders and kernels.
        let fits = match is_of_fragments == matches!(opened, Driver::Fragments(_)) {
            true => Ok(()),
            false => driver(backend, is_of_fragments).map(|other| opened = other),
        };
        let tried = fits.and_then(|()| tried(&opened, request, vouched));
        answer(&Answer::Tried(tried.map_err(|error| error.into_faults(&file))))?;
    }
    Ok(())
}

fn failed(error: impl ToString) -> PlayError {
    PlayError::Trial(error.to_string())
}

/// Opens OpenGL for fragment shaders, or a backend for kernels.
fn driver(choice: BackendChoice, is_of_fragments: bool) -> Result<Driver, PlayError> {
    if !is_of_fragments {
        return Ok(Driver::Kernels(open_backend(choice, &[])?));
    }
    let display = open_headless(DisplayChoice::Gl)?;
    let none = || PlayError::OpenGl("there is no display without a window".into());
    Ok(Driver::Fragments(Gl(display.gl().cloned().ok_or_else(none)?)))
}

fn tried(driver: &Driver, request: Request, vouched: TextVoucher) -> Result<(), PlayError> {
    let Request { program, sliders, moment, size: [width, height] } = request;
    let mut running = RunningProgram::build(driver, program, SMALL, vouched, &mut Streams::default())?;
    // A frame of the right size makes a better trial. If none arrives, the running program reports that later.
    let _ = running.wait_for_streams(SOON);
    let first = Moment { frame: 0, ..moment };
    running.compute_buffers((&first, &sliders))?;
    // A pixel that is equal after a launch on black and one on white was written.
    let [black, white] = [0, 255].map(|behind| running.trial_pixels((&first, &sliders), behind));
    let (black, white) = (black?, white?);
    let mut pairs = black.chunks_exact(4).zip(white.chunks_exact(4));
    if pairs.all(|(black, white)| black == [0; 4] && white == [255; 4]) {
        let text = "the kernel writes no pixel: it must store each one, for example with pf_store or PF_STORE";
        return Err(Fault::new(&running.program.file, None, text).into());
    }
    for (ahead, frames) in AHEAD {
        let later = Moment { time: moment.time + ahead, frame: moment.frame.saturating_add(frames), ..moment };
        running.launch_buffers((&later, &sliders))?;
        running.trial_pixels((&later, &sliders), 0)?;
    }
    running.resize(Extent::new(width, height));
    running.compute_buffers((&moment, &sliders))?;
    running.trial_pixels((&moment, &sliders), 0).map(drop)
}

impl RunningProgram {
    /// Returns the picture of a moment; that of a kernel is computed over bytes of one value. Fails if the kernel changed
    /// the guard memory, which is as large as the picture on each side.
    fn trial_pixels(&self, now: FrameValues<'_>, behind: u8) -> Result<Vec<u8>, PlayError> {
        let backend = match &self.driver {
            Driver::Kernels(backend) => backend,
            Driver::Fragments(gl) => {
                let texture = gl.texture(self.size, false)?;
                self.draw_picture(&texture, now)?;
                return texture.read_pixels();
            }
        };
        let len = self.size.pixels() as usize * 4;
        let mut bytes = vec![AROUND; 3 * len];
        bytes[len..2 * len].fill(behind);
        let mut memory = backend.allocate(bytes.len())?;
        memory.write(0, &bytes)?;
        let view = View::Image(ImageView::packed(self.size, PixelFormat::Rgba8, 1, len, false)?);
        self.compute_picture(now, |kernel, arguments| {
            backend.launch(kernel, Target::new(memory.as_mut(), view)?, arguments)
        })?;
        backend.finish()?;
        memory.read(0, &mut bytes)?;
        if bytes[..len].iter().chain(&bytes[2 * len..]).any(|byte| *byte != AROUND) {
            let text = "the kernel writes outside of its picture: it must store only below out_width and out_height";
            return Err(Fault::new(&self.program.file, None, text).into());
        }
        Ok(bytes[len..2 * len].to_vec())
    }
}

/// The parent's side of the trial process.
pub struct Trials {
    command: Box<dyn FnMut() -> Command>,
    limit: Duration,
    tester: Option<Tester>,
    /// The program on trial, and the request for its process.
    request: Option<(Program, String)>,
}

struct Tester {
    process: AnswerProcess,
    is_ready: bool,
    /// Since when it gets ready or tries a program, if it does.
    busy: Option<Instant>,
}

impl Trials {
    /// Starts the trial process, in which [`serve`] must run. A shader that takes longer than `limit` fails.
    ///
    /// # Errors
    /// [`PlayError::Trial`] if the process does not start.
    pub fn start(command: impl FnMut() -> Command + 'static, limit: Duration) -> Result<Self, PlayError> {
        let mut trials = Self { command: Box::new(command), limit, tester: None, request: None };
        trials.restart()?;
        Ok(trials)
    }

    /// Replaces the process.
    fn restart(&mut self) -> Result<(), PlayError> {
        self.tester = None;
        let mut command = (self.command)();
        command.stderr(Stdio::null());
        let process = AnswerProcess::start(command).map_err(failed)?;
        self.tester = Some(Tester { process, is_ready: false, busy: Some(Instant::now()) });
        Ok(())
    }

    /// Tries a program; replaces one that is on trial.
    ///
    /// # Errors
    /// [`PlayError::Trial`] if there is no process for it.
    pub fn request(&mut self, request: &Request) -> Result<(), PlayError> {
        let text = serde_json::to_string(request).map_err(failed)?;
        self.forget()?;
        self.request = Some((request.program.clone(), text));
        self.send();
        Ok(())
    }

    /// Cancels the trial of a program that is outdated.
    ///
    /// # Errors
    /// [`PlayError::Trial`] if no new process can be started.
    pub fn forget(&mut self) -> Result<(), PlayError> {
        self.request = None;
        let is_free = |tester: &Tester| tester.busy.is_none() || !tester.is_ready;
        if self.tester.as_ref().is_some_and(is_free) { Ok(()) } else { self.restart() }
    }

    /// Sends the request to the process, if that is ready.
    fn send(&mut self) {
        if let (Some(tester), Some((_, text))) = (&mut self.tester, &self.request)
            && tester.busy.is_none()
        {
            tester.process.send(format!("{text}\n"));
            tester.busy = Some(Instant::now());
        }
    }

    /// Returns whether a program is on trial.
    pub const fn is_busy(&self) -> bool {
        self.request.is_some()
    }

    /// Returns the outcome of the trial if it is over; does not wait.
    ///
    /// # Errors
    /// [`PlayError::Trial`] if the process cannot work at all. The program is then forgotten, and the next one gets
    /// another process.
    pub fn outcome(&mut self) -> Result<Option<Outcome>, PlayError> {
        let Some(tester) = &mut self.tester else { return Ok(None) };
        let limit = if tester.is_ready { self.limit } else { READY };
        let answer = tester.process.answer(Duration::ZERO);
        let answer = answer.map(|answer| answer.map(|text| serde_json::from_str(&text)).transpose());
        let failed = match answer {
            Ok(Ok(Some(Answer::Ready))) => {
                (tester.is_ready, tester.busy) = (true, None);
                self.send();
                return Ok(None);
            }
            Ok(Ok(Some(Answer::Tried(tried)))) => {
                tester.busy = None;
                return Ok(self.request.take().map(|(program, _)| tried.map(|()| program)));
            }
            Ok(Ok(Some(Answer::Unable(reason)))) => reason,
            Ok(Err(error)) => error.to_string(),
            Ok(Ok(None)) if tester.busy.is_none_or(|since| since.elapsed() <= limit) => return Ok(None),
            Ok(Ok(None)) if tester.is_ready => format!(
                "the shader did not end within {} s; does it contain an endless loop? (--limit allows more time)",
                limit.as_secs_f32()
            ),
            Ok(Ok(None)) => {
                format!("the trial process did not open its driver within {READY:?}; try another --backend")
            }
            Err(status) => format!(
                "the trial process ended with {status}: the driver crashed, or the shader accessed memory outside its \
                 own"
            ),
        };
        let was_ready = tester.is_ready;
        self.tester = None;
        let request = self.request.take();
        if !was_ready {
            return Err(PlayError::Trial(failed));
        }
        self.restart()?;
        Ok(request.map(|(program, _)| Err(vec![Fault::new(&program.file, None, failed)])))
    }
}
