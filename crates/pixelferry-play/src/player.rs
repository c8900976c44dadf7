//! The program on show, the next one, and time and sliders.

use crate::clock::Clock;
use crate::drawing::Canvas;
use crate::driver::Driver;
use crate::error::{Fault, PlayError};
use crate::gl::Gl;
use crate::input::Moment;
use crate::pass::{Vouched, Wishes};
use crate::picture::Streams;
use crate::program::Program;
use crate::running::Running;
use crate::slider::{Kind, Slider};
use crate::text::{backend_for, is_of_fragments};
use crate::trial::{Outcome, Request, Trials};
use crate::watch::Watch;
use image::RgbaImage;
use pixelferry::api::gl::GlDisplay;
use pixelferry::{
    DeviceIdentity, Display, DisplayChoice, Extent, Link, LinkBuilder, PixelFormat, Surface, SurfaceDesc,
};
use pixelferry::{open_headless, picture};
use std::any::Any;
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What is played, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// The file.
    pub file: PathBuf,
    /// Backend and channels.
    pub wishes: Wishes,
    /// Display, where there is no window.
    pub display: DisplayChoice,
    /// Columns and rows of the picture, or of the window at first.
    pub size: Extent,
    /// Without a window the picture of a filter is as large as its first image instead.
    pub follows_image: bool,
    /// Numbers of sliders at first, by their names.
    pub set: Vec<(String, f32)>,
    /// Time from frame to frame, where it is not the time that passes.
    pub step: Option<Duration>,
    /// Time that a text may take in its trial.
    pub limit: Duration,
}

impl Options {
    /// A file with nothing else said.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self {
            file: file.into(),
            wishes: Wishes::default(),
            display: DisplayChoice::Auto,
            size: Extent::new(800, 450),
            follows_image: false,
            set: Vec::new(),
            step: None,
            limit: Duration::from_secs(5),
        }
    }
}

/// The way of the picture to the display.
enum Screen {
    /// Kernels write frames of a link.
    Kernels(Box<Link>),
    /// Fragment shaders draw in the display's own context.
    Fragments(Canvas),
}

impl Screen {
    fn open(options: &Options, shown_by: Option<&Rc<dyn Display>>) -> Result<Self, PlayError> {
        let Extent { width, height } = options.size;
        if is_of_fragments(&options.file)? {
            let gl = opengl(options, shown_by)?;
            return Ok(Self::Fragments(Canvas::new(&gl, options.size)?));
        }
        let builder = LinkBuilder::new(SurfaceDesc::image(width, height, PixelFormat::Rgba8));
        let builder = builder.backend(backend_for(&options.file, options.wishes.backend)?);
        let builder = match shown_by {
            Some(display) => builder.shown_by(display),
            None => builder.display(options.display),
        };
        Ok(Self::Kernels(Box::new(builder.open()?.link)))
    }

    fn driver(&self) -> Driver {
        match self {
            Self::Kernels(link) => Driver::Kernels(link.backend().clone()),
            Self::Fragments(canvas) => Driver::Fragments(canvas.gl().clone()),
        }
    }
}

/// The OpenGL of the display that shows fragment shaders, or of one without a window.
fn opengl(options: &Options, shown_by: Option<&Rc<dyn Display>>) -> Result<Gl, PlayError> {
    let display = match shown_by {
        Some(display) => (Rc::clone(display) as Rc<dyn Any>).downcast::<GlDisplay>().ok(),
        None => {
            let choice = if options.display == DisplayChoice::Auto { DisplayChoice::Gl } else { options.display };
            let none = |reason| PlayError::NoOpenGl { file: options.file.clone(), reason };
            open_headless(choice).map_err(none)?.gl().cloned()
        }
    };
    let other =
        || PlayError::Option(format!("{} is a fragment shader, which needs OpenGL's display", options.file.display()));
    Gl::of(&display.ok_or_else(other)?)
}

/// A file that is played. The picture on show stays until that of the next text is there.
///
/// Stays on the thread of its display, whose context must be current in every call and when it is dropped.
pub struct Player {
    options: Options,
    screen: Screen,
    watch: Watch,
    trials: Trials,
    vouched: Vouched,
    running: Option<Running>,
    streams: Streams,
    values: Vec<f32>,
    faults: Vec<Fault>,
    /// Since when there is a text that is not on show yet.
    saved: Option<Instant>,
    last: Option<Duration>,
    /// Sum of the picture of the last trial, where its kernel writes all pixels.
    sum: Option<u64>,
    is_drawn: bool,
    /// Moment of the frame on show, at which a pause stays.
    shown: Option<Moment>,
    /// Time of the frames.
    pub clock: Clock,
    /// Place of the pointer, as [`Moment::mouse`] has it.
    pub mouse: [f32; 4],
}

impl Player {
    /// Opens backend and display, and has the file tried. `command` starts a process in which [`crate::serve`] runs, with the
    /// backend that it is given, by its name; `shown_by` is a window's display.
    ///
    /// # Errors
    /// [`PlayError::Ending`], [`PlayError::Backend`], [`PlayError::Trial`], and what backend and display report. What is wrong in the
    /// text is none: it is among [`Player::faults`].
    pub fn open(
        options: Options,
        shown_by: Option<&Rc<dyn Display>>,
        command: impl FnMut() -> Command + 'static,
        vouched: Vouched,
    ) -> Result<Self, PlayError> {
        backend_for(&options.file, options.wishes.backend)?;
        let trials = Trials::start(command, options.limit)?;
        let screen = Screen::open(&options, shown_by)?;
        let watch = Watch::new(Program::beside(&options.file)?);
        let clock = Clock::new(options.step);
        let mut player = Self {
            options,
            screen,
            watch,
            trials,
            vouched,
            running: None,
            streams: Streams::default(),
            values: Vec::new(),
            faults: Vec::new(),
            saved: None,
            last: None,
            sum: None,
            is_drawn: false,
            shown: None,
            clock,
            mouse: [0.0; 4],
        };
        player.read()?;
        Ok(player)
    }

    /// Reads the files, and has them tried. True where they are not: they are wrong.
    fn read(&mut self) -> Result<bool, PlayError> {
        self.saved = Some(Instant::now());
        let program = match Program::read(&self.options.file, &self.options.wishes) {
            Ok(program) => program,
            Err(error) => {
                // The text before it is not to come now.
                self.trials.forget()?;
                self.fail(error.into_faults(&self.options.file));
                return Ok(true);
            }
        };
        let sliders = self.values_of(&program);
        let Extent { width, height } = self.size();
        self.trials.request(&Request { program, sliders, moment: self.moment(), size: [width, height] })?;
        Ok(false)
    }

    /// Numbers for a program's sliders: as they were moved, as asked for, or as the text says.
    fn values_of(&self, program: &Program) -> Vec<f32> {
        let before = |slider: &Slider| {
            let known = self.running.as_ref()?.program.sliders.iter().position(|known| known == slider)?;
            self.values.get(known).copied()
        };
        let asked =
            |slider: &Slider| self.options.set.iter().find(|(name, _)| *name == slider.name).map(|(_, value)| *value);
        let value = |slider: &Slider| slider.nearest(before(slider).or_else(|| asked(slider)).unwrap_or(slider.value));
        program.sliders.iter().map(value).collect()
    }

    fn fail(&mut self, faults: Vec<Fault>) {
        self.faults = faults;
        self.saved = None;
    }

    /// Looks whether a file was saved or a trial is over. True where there is another program or another fault.
    pub fn look(&mut self) -> bool {
        self.looked().unwrap_or_else(|error| {
            self.fail(error.into_faults(&self.options.file));
            true
        })
    }

    fn looked(&mut self) -> Result<bool, PlayError> {
        // An editor may have emptied the file to write it next.
        let is_written = || std::fs::metadata(&self.options.file).is_ok_and(|found| found.len() > 0);
        if self.watch.has_changed() && is_written() && self.read()? {
            return Ok(true);
        }
        match self.trials.outcome()? {
            None => return Ok(false),
            Some(Outcome::Failed(faults)) => self.fail(faults),
            Some(Outcome::Passed(passed)) => {
                self.sum = Some(passed.sum).filter(|_| passed.unwritten[0] == 0);
                let values = self.values_of(&passed.program);
                self.replace(passed.program, values)?;
            }
        }
        Ok(true)
    }

    /// Builds a program that passed, launches it, which replaces the one before.
    fn replace(&mut self, program: Program, values: Vec<f32>) -> Result<(), PlayError> {
        let unknown =
            self.options.set.iter().find(|(name, _)| !program.sliders.iter().any(|slider| slider.name == *name));
        if let Some((name, _)) = unknown {
            let names: Vec<_> = program.sliders.iter().map(|slider| slider.name.as_str()).collect();
            let others = if names.is_empty() { "none".into() } else { names.join(", ") };
            return Err(PlayError::Option(format!("there is no slider '{name}'; there are {others}")));
        }
        for slider in &program.sliders {
            let beyond = self
                .options
                .set
                .iter()
                .find(|(name, wish)| *name == slider.name && !(slider.limits[0]..=slider.limits[1]).contains(wish));
            if let Some((name, wish)) = beyond {
                let [least, most] = slider.limits;
                return Err(PlayError::Option(format!(
                    "slider '{name}' goes from {least} to {most}, and {wish} is beyond"
                )));
            }
        }
        let mut next = Running::build(&self.screen.driver(), program, self.size(), self.vouched, &mut self.streams)?;
        let moment = self.moment();
        if let (true, None, Some(size)) = (self.options.follows_image, &self.running, next.image_size()) {
            self.resize(size)?;
            next.resize(size)?;
        }
        frame(&mut self.screen, &mut next, &moment, &values)?;
        // Buffers go on where they are the same ones; else a text that begins at frame 0 is to see it.
        if !next.inherit(self.running.take()) && self.options.step.is_none() {
            self.clock.rewind();
            self.shown = None;
        }
        self.running = Some(next);
        self.values = values;
        self.faults = Vec::new();
        self.last = self.saved.take().map(|saved| saved.elapsed());
        self.is_drawn = true;
        Ok(())
    }

    /// Computes the next frame, where there is a program; in a pause only where `is_stepped`. A frame that fails leaves the one before
    /// on show, and is a fault.
    pub fn frame(&mut self, is_stepped: bool) {
        if !self.clock.is_halted() || is_stepped {
            self.shown = None;
            self.again();
            self.shown = Some(self.clock.now());
            self.clock.go_on(is_stepped);
        }
    }

    /// Computes the frame of this moment again, as when a slider has moved in a pause.
    pub fn again(&mut self) {
        let moment = self.moment();
        let Some(running) = &mut self.running else { return };
        match frame(&mut self.screen, running, &moment, &self.values) {
            Ok(()) => {
                self.is_drawn = true;
                // A button is pressed for one frame.
                let sliders = running.program.sliders.iter().zip(&mut self.values);
                sliders.filter(|(slider, _)| slider.kind == Kind::Event).for_each(|(_, value)| *value = 0.0);
            }
            Err(error) => self.faults = error.into_faults(&self.options.file),
        }
    }

    fn moment(&self) -> Moment {
        let halted_at = self.shown.filter(|_| self.clock.is_halted());
        Moment { mouse: self.mouse, ..halted_at.unwrap_or_else(|| self.clock.now()) }
    }

    /// Sets the size of the picture.
    ///
    /// # Errors
    /// What the display reports.
    pub fn resize(&mut self, size: Extent) -> Result<(), PlayError> {
        match &mut self.screen {
            Screen::Kernels(link) => link.resize(SurfaceDesc::image(size.width, size.height, PixelFormat::Rgba8))?,
            Screen::Fragments(canvas) => *canvas = Canvas::new(&canvas.gl().clone(), size)?,
        }
        self.is_drawn = false;
        let moment = self.moment();
        if let Some(running) = &mut self.running {
            running.resize(size)?;
            frame(&mut self.screen, running, &moment, &self.values)?;
            self.is_drawn = true;
        }
        Ok(())
    }

    /// Begins again: time, frames and buffers.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn rewind(&mut self) -> Result<(), PlayError> {
        self.clock.rewind();
        self.shown = None;
        let size = self.size();
        self.running.as_mut().map_or(Ok(()), |running| running.resize(size))
    }

    /// Columns and rows of the picture.
    pub fn size(&self) -> Extent {
        match &self.screen {
            Screen::Kernels(link) => match link.desc() {
                SurfaceDesc::Image(image) => image.extent,
                SurfaceDesc::Buffer(_) => self.options.size,
            },
            Screen::Fragments(canvas) => canvas.size(),
        }
    }

    /// The device that computes the picture.
    pub fn device(&self) -> &DeviceIdentity {
        match &self.screen {
            Screen::Kernels(link) => link.backend().device(),
            Screen::Fragments(canvas) => canvas.gl().display().device(),
        }
    }

    /// The picture on show, for the display to draw.
    ///
    /// # Errors
    /// [`pixelferry::Error::NothingShown`].
    pub fn shown(&self) -> Result<&Surface, PlayError> {
        match &self.screen {
            Screen::Kernels(link) => Ok(link.shown()?.surface()),
            Screen::Fragments(canvas) if self.is_drawn => Ok(canvas.surface()),
            Screen::Fragments(_) => Err(pixelferry::Error::NothingShown.into()),
        }
    }

    /// The picture on show as bytes: RGBA, rows from the top.
    ///
    /// # Errors
    /// [`pixelferry::Error::NothingShown`], and what the display reports.
    pub fn read_back(&mut self) -> Result<Vec<u8>, PlayError> {
        self.shown()?;
        match &mut self.screen {
            Screen::Kernels(link) => Ok(link.read_back()?),
            Screen::Fragments(canvas) => canvas.read_back(),
        }
    }

    /// The picture on show as files want it.
    ///
    /// # Errors
    /// Those of [`Player::read_back`].
    pub fn picture(&mut self) -> Result<RgbaImage, PlayError> {
        let Extent { width, height } = self.size();
        match &mut self.screen {
            Screen::Kernels(link) => Ok(picture(link)?),
            Screen::Fragments(_) => {
                let bytes = self.read_back()?;
                RgbaImage::from_raw(width, height, bytes).ok_or_else(|| pixelferry::Error::NothingShown.into())
            }
        }
    }

    /// True where there is a picture.
    pub const fn is_drawn(&self) -> bool {
        self.is_drawn
    }

    /// True while a text is on trial.
    pub const fn is_busy(&self) -> bool {
        self.trials.is_busy()
    }

    /// What is wrong in the newest text, or with the last frame.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Streams that the program on show reads, by their names, and what is to be said of each: why there is no newer frame. Nothing is said
    /// while frames come.
    pub fn streams(&self) -> Vec<(String, String)> {
        self.running.as_ref().map(Running::streams).unwrap_or_default()
    }

    /// Waits, at most so long, for the first frame of each of those streams.
    ///
    /// # Errors
    /// [`PlayError::Channel`] where there is none.
    pub fn wait_for_streams(&self, limit: Duration) -> Result<(), PlayError> {
        self.running.as_ref().map_or(Ok(()), |running| running.wait_for_streams(limit))
    }

    /// Sliders of the program on show, and their numbers.
    pub fn sliders(&mut self) -> (&[Slider], &mut [f32]) {
        (self.running.as_ref().map_or(&[], |running| &running.program.sliders), &mut self.values)
    }

    /// Time from the look that found the newest text to its picture.
    pub const fn last(&self) -> Option<Duration> {
        self.last
    }

    /// Sum of the picture that the newest text had in its trial, where its kernel writes all pixels.
    pub const fn sum(&self) -> Option<u64> {
        self.sum
    }

    /// The file.
    pub fn file(&self) -> &std::path::Path {
        &self.options.file
    }
}

/// A frame of a program.
fn frame(screen: &mut Screen, running: &mut Running, moment: &Moment, sliders: &[f32]) -> Result<(), PlayError> {
    running.go_to(moment)?;
    match screen {
        Screen::Kernels(link) => {
            running.launch_buffers(moment, sliders)?;
            let launched = link.frame(|next| {
                running.compute_picture(moment, sliders, |kernel, arguments| next.launch(kernel, arguments))
            });
            Ok(launched?)
        }
        Screen::Fragments(canvas) => running.draw(canvas, moment, sliders),
    }
}
