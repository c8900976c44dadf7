//! The shown program, the next one, time and sliders.

use crate::dialect::backend_for;
use crate::error::{Fault, PlayError};
use crate::input::{Clock, Moment, Slider, SliderKind};
use crate::pass::{Source, TextVoucher, Wishes};
use crate::picture::{Keyboard, Picture, Streams};
use crate::program::Program;
use crate::running_program::RunningProgram;
use crate::screen::Screen;
use crate::trial::{Request, Trials};
use image::RgbaImage;
use pixelferry::command::check_picture_file;
use pixelferry::{DeviceIdentity, Display, DisplayChoice, Extent, Surface, save_rgba8};
use pixelferry_media::record::Recorder;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How often files are polled.
const OFTEN: Duration = Duration::from_millis(20);

/// Time and length of each file; `None` for one that is missing.
type FileStamps = Vec<Option<(SystemTime, u64)>>;

/// Looks at the files that a program can consist of.
fn stamps(file: &Path) -> Result<FileStamps, PlayError> {
    let found = Program::beside(file)?.into_iter().map(|file| std::fs::metadata(file).ok());
    Ok(found.map(|found| found.and_then(|found| Some((found.modified().ok()?, found.len())))).collect())
}

/// What to play, and how.
#[derive(Debug, Clone)]
pub struct PlayerOptions {
    /// File to play.
    pub file: PathBuf,
    /// Backend and channels.
    pub wishes: Wishes,
    /// Display to use if there is no window.
    pub display: DisplayChoice,
    /// Size of the picture, or initial size of the window, in pixels.
    pub size: Extent,
    /// Give the picture of an ISF filter the size of its first image.
    pub follows_image: bool,
    /// Initial slider values, by name.
    pub set: Vec<(String, f32)>,
    /// Time per frame; `None` follows the real time.
    pub step: Option<Duration>,
    /// Time limit for a shader's trial run.
    pub limit: Duration,
}

impl PlayerOptions {
    /// Options for a file, with defaults for everything else.
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

/// Plays a file. The shown picture stays until the next version has computed one.
///
/// It stays on the thread of its display, whose context must be current in every call and when it is dropped.
pub struct Player {
    pub(crate) options: PlayerOptions,
    screen: Screen,
    size: Extent,
    /// The program's files, as they were found the last time.
    found: FileStamps,
    looked: Instant,
    trials: Trials,
    vouched: TextVoucher,
    pub(crate) running: Option<RunningProgram>,
    streams: Streams,
    values: Vec<f32>,
    faults: Vec<Fault>,
    /// When the newest version was found, until it is shown.
    saved: Option<Instant>,
    /// Time from finding the newest version to showing its picture.
    pub(crate) last: Option<Duration>,
    /// There is a picture.
    pub(crate) is_drawn: bool,
    /// Moment of the shown frame, where a pause stays.
    shown: Option<Moment>,
    /// Time of the frames.
    pub clock: Clock,
    /// Pointer position, in the form of [`Moment::mouse`].
    pub mouse: [f32; 4],
    /// Keys for shaders that read them.
    pub keyboard: Keyboard,
}

impl Player {
    /// Opens backend and display, and starts the file's trial. `command` starts the trial process: it must run
    /// [`crate::serve`] with the backend whose name it is given. `shown_by` is a window's display.
    ///
    /// # Errors
    /// [`PlayError::Language`], [`PlayError::Trial`], and errors of backend and display. Errors
    /// in the shader are not returned; see [`Player::faults`].
    pub fn open(
        options: PlayerOptions,
        shown_by: Option<&Arc<dyn Display>>,
        command: impl FnMut() -> Command + 'static,
        vouched: TextVoucher,
    ) -> Result<Self, PlayError> {
        backend_for(&options.file, options.wishes.backend)?;
        let mut player = Self {
            trials: Trials::start(command, options.limit)?,
            screen: Screen::open((&options.file, options.wishes.backend), options.size, options.display, shown_by)?,
            clock: Clock::new(options.step),
            size: options.size,
            found: stamps(&options.file)?,
            options,
            looked: Instant::now(),
            vouched,
            running: None,
            streams: Streams::default(),
            values: Vec::new(),
            faults: Vec::new(),
            saved: None,
            last: None,
            is_drawn: false,
            shown: None,
            mouse: [0.0; 4],
            keyboard: Keyboard::default(),
        };
        player.read().unwrap_or_else(|error| player.fail(error));
        Ok(player)
    }

    /// Reads the files and starts their trial.
    fn read(&mut self) -> Result<(), PlayError> {
        self.saved = Some(Instant::now());
        // A version on trial is outdated now, even if the new one is not tried.
        self.trials.forget()?;
        let program = Program::read(&self.options.file, &self.options.wishes)?;
        let sliders = self.values_of(&program);
        let Extent { width, height } = self.size;
        self.trials.request(&Request { program, sliders, moment: self.moment(), size: [width, height] })
    }

    /// Returns slider values for a program: as the user moved them, else from the options, else the shader's.
    fn values_of(&self, program: &Program) -> Vec<f32> {
        let known = || self.running.iter().flat_map(|running| &running.program.sliders).zip(&self.values);
        let before = |slider: &Slider| Some(*known().find(|(known, _)| *known == slider)?.1);
        let asked = |slider: &Slider| Some(self.options.set.iter().find(|(name, _)| *name == slider.name)?.1);
        let value = |slider: &Slider| slider.nearest(before(slider).or_else(|| asked(slider)).unwrap_or(slider.value));
        program.sliders.iter().map(value).collect()
    }

    fn fail(&mut self, error: PlayError) {
        self.faults = error.into_faults(&self.options.file);
        self.saved = None;
    }

    /// Checks whether a file was saved or a trial is over. Returns true if the program or the errors have changed.
    pub fn look(&mut self) -> bool {
        self.looked().unwrap_or_else(|error| {
            self.fail(error);
            true
        })
    }

    /// Waits for the trial run.
    ///
    /// # Errors
    /// [`PlayError::Faults`] if the shader has errors.
    pub fn settle(&mut self) -> Result<(), PlayError> {
        while self.is_busy() {
            self.look();
            thread::sleep(Duration::from_millis(1));
        }
        if self.faults().is_empty() { Ok(()) } else { Err(PlayError::Faults(self.faults().to_vec())) }
    }

    fn looked(&mut self) -> Result<bool, PlayError> {
        if self.looked.elapsed() > OFTEN {
            self.looked = Instant::now();
            let before = std::mem::replace(&mut self.found, stamps(&self.options.file)?);
            // An editor may have truncated the file before writing it.
            let is_written = self.found.first().copied().flatten().is_some_and(|(_, len)| len > 0);
            if before != self.found && is_written {
                self.read()?;
            }
        }
        let Some(tried) = self.trials.outcome()? else { return Ok(false) };
        let program = tried.map_err(PlayError::Faults)?;
        let values = self.values_of(&program);
        self.replace(program, values)?;
        Ok(true)
    }

    /// Builds a program that passed its trial, launches it, and replaces the previous one.
    fn replace(&mut self, program: Program, values: Vec<f32>) -> Result<(), PlayError> {
        for (name, wish) in &self.options.set {
            let Some(slider) = program.sliders.iter().find(|slider| slider.name == *name) else {
                let names: Vec<_> = program.sliders.iter().map(|slider| slider.name.as_str()).collect();
                let others = if names.is_empty() { "none".into() } else { names.join(", ") };
                return Err(PlayError::Option(format!("unknown slider '{name}'; available: {others}")));
            };
            let [least, most] = slider.limits;
            if !(least..=most).contains(wish) {
                let text = format!("slider '{name}' goes from {least} to {most}; {wish} is outside");
                return Err(PlayError::Option(text));
            }
        }
        let driver = self.screen.driver();
        let mut next = RunningProgram::build(&driver, program, self.size, self.vouched, &mut self.streams)?;
        let moment = self.moment();
        if let (true, None, Some(size)) = (self.options.follows_image, &self.running, next.image_size()) {
            self.screen.resize(size)?;
            self.size = size;
            next.resize(size);
        }
        self.screen.frame(&mut next, (&moment, &values))?;
        // Buffers keep their content if they are the same; otherwise, a shader that starts at frame 0 must see that
        // frame.
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

    /// Computes the next frame of the program, if there is one; in a pause, only if `is_stepped`. If that fails, the
    /// previous frame stays and the error becomes a fault.
    pub fn frame(&mut self, is_stepped: bool) {
        if !self.clock.is_halted() || is_stepped {
            self.shown = None;
            self.again();
            self.keyboard.end_frame();
            self.shown = Some(self.clock.now());
            self.clock.go_on(is_stepped);
        }
    }

    /// Recomputes the current frame, for example after a slider moved during a pause.
    pub fn again(&mut self) {
        let moment = self.moment();
        let Some(running) = &mut self.running else { return };
        let filled = running.fill_keyboard(&self.keyboard);
        match filled.and_then(|()| self.screen.frame(running, (&moment, &self.values))) {
            Ok(()) => {
                self.is_drawn = true;
                // A button is pressed for one frame.
                let sliders = running.program.sliders.iter().zip(&mut self.values);
                sliders.filter(|(slider, _)| slider.kind == SliderKind::Event).for_each(|(_, value)| *value = 0.0);
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
    /// Errors of the display.
    pub fn resize(&mut self, size: Extent) -> Result<(), PlayError> {
        // A minimised window has no pixels, but a texture has one.
        let least = u32::from(matches!(self.screen, Screen::Fragments(_)));
        self.size = Extent::new(size.width.max(least), size.height.max(least));
        self.screen.resize(self.size)?;
        self.is_drawn = false;
        let moment = self.moment();
        if let Some(running) = &mut self.running {
            running.resize(self.size);
            self.screen.frame(running, (&moment, &self.values))?;
            self.is_drawn = true;
        }
        Ok(())
    }

    /// Restarts time, frames and buffers.
    pub fn rewind(&mut self) {
        self.clock.rewind();
        self.shown = None;
        if let Some(running) = &mut self.running {
            running.resize(self.size);
        }
    }

    /// Size of the picture in pixels.
    pub fn size(&self) -> Extent {
        self.size
    }

    /// The device that computes the picture.
    pub fn device(&self) -> &DeviceIdentity {
        self.screen.device()
    }

    /// The shown picture, for the display to draw.
    ///
    /// # Errors
    /// [`pixelferry::Error::NothingShown`].
    pub fn shown(&self) -> Result<&Surface, PlayError> {
        if self.is_drawn { self.screen.shown() } else { Err(pixelferry::Error::NothingShown.into()) }
    }

    /// Returns the shown picture, in the form that files need.
    ///
    /// # Errors
    /// [`pixelferry::Error::NothingShown`], and errors of the display.
    pub fn picture(&mut self) -> Result<RgbaImage, PlayError> {
        self.shown()?;
        let Extent { width, height } = self.size();
        let picture = RgbaImage::from_raw(width, height, self.screen.read_back()?);
        picture.ok_or_else(|| pixelferry::Error::NothingShown.into())
    }

    /// Returns whether a version is on trial.
    pub const fn is_busy(&self) -> bool {
        self.trials.is_busy()
    }

    /// Errors in the newest version, or of the last frame.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Returns whether the shown program reads the keyboard.
    pub fn reads_keyboard(&self) -> bool {
        self.pictures().any(|picture| picture.channel.source == Source::Keyboard)
    }

    /// Returns the streams that the program reads, by name, each with the reason why there is no newer frame; the
    /// reason is empty while frames arrive.
    pub fn streams(&self) -> Vec<(String, String)> {
        self.pictures().filter_map(Picture::stream).collect()
    }

    fn pictures(&self) -> impl Iterator<Item = &Picture> {
        self.running.iter().flat_map(|running| &running.pictures)
    }

    /// Sliders of the shown program, and their values.
    pub fn sliders(&mut self) -> (&[Slider], &mut [f32]) {
        (self.running.as_ref().map_or(&[], |running| &running.program.sliders), &mut self.values)
    }
}

/// Time limit for a stream's first frame.
const FIRST: Duration = Duration::from_secs(10);
/// Default time per frame.
const STEP: Duration = Duration::from_nanos(16_666_667);

/// Computes a number of frames. Saves the last one if a file is given, and records all of them if there is a recorder.
/// Time advances in steps and starts when every stream has a frame; streams run in real time.
///
/// # Errors
/// [`PlayError::Faults`] for a shader that is invalid or fails, [`PlayError::Channel`] for a stream without a frame in
/// 10 s, [`PlayError::Save`], and those of [`Player::open`].
pub fn play_headless(
    options: PlayerOptions,
    frames: u32,
    out: Option<&Path>,
    mut recorder: Option<&mut Recorder>,
    command: impl FnMut() -> Command + 'static,
    vouched: TextVoucher,
) -> Result<(), PlayError> {
    out.map_or(Ok(()), check_picture_file)?;
    let step = Some(options.step.unwrap_or(STEP));
    let mut player = Player::open(PlayerOptions { step, ..options }, None, command, vouched)?;
    player.settle()?;
    player.running.as_ref().map_or(Ok(()), |running| running.wait_for_streams(FIRST))?;
    // The first frame was computed with the program.
    player.rewind();
    for _ in 0..frames.max(1) {
        player.frame(true);
        player.settle()?;
        if let Some(recorder) = &mut recorder {
            recorder.put_picture(player.picture()?)?;
        }
    }
    out.map_or(Ok(()), |out| Ok(save_rgba8(player.picture()?, out)?))
}
