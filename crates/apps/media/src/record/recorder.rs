//! The recorder, which takes pictures while they are shown.

use super::error::RecordError;
use super::film::{Film, Picture};
use super::output::Output;
use image::{ImageBuffer, Rgba};
use interop_core::{Error, Extent, ImageDesc, PixelFormat, RowOrder, SurfaceDesc};
use pixelferry::api::gl::{FrameReads, GlDisplay, Viewport};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Reads that may be under way.
const READS: usize = 3;

/// Reads of what was drawn, and the frames of the film that they are for.
struct Reads {
    ring: FrameReads,
    frames: VecDeque<u64>,
}

/// Settings of a film.
///
/// ```
/// use pixelferry_media::record::RecordOptions;
///
/// let options = RecordOptions::default();
/// assert_eq!((options.rate, options.step), (60, false));
/// assert!(options.with_step(true).step);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordOptions {
    /// Frame rate of the film, 1 to 1000 frames a second.
    pub rate: u32,
    /// True where each picture becomes one frame of the film, however long it took, and none is dropped. Otherwise the
    /// film shows what was on show at the time of each of its frames.
    pub step: bool,
}

impl Default for RecordOptions {
    fn default() -> Self {
        Self { rate: 60, step: false }
    }
}

impl RecordOptions {
    /// Sets the frame rate, in frames a second.
    #[must_use]
    pub const fn with_rate(mut self, rate: u32) -> Self {
        self.rate = rate;
        self
    }

    /// Sets whether each picture becomes one frame; otherwise the clock determines the frames.
    #[must_use]
    pub const fn with_step(mut self, step: bool) -> Self {
        self.step = step;
        self
    }
}

/// Counts of a finished film's frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilmSummary {
    /// Number of frames in the film. A frame without a new picture in its time repeats the previous picture.
    pub frames: u64,
    /// Number of frames whose own picture is missing because the writer was behind.
    pub dropped: u64,
    /// Size of the film: that of the first picture. H.264 has even sides only, so the last pixels of an odd side are
    /// repeated.
    pub extent: Extent,
}

/// Records drawn frames. All pictures get the size of the first: larger ones are cut at their right and lower edges,
/// and smaller ones are filled up with black.
///
/// [`Recorder::finish`] returns errors and the number of frames. If the recorder is only dropped, the film ends at its
/// current length.
///
/// Threads: the recorder stays on its display's thread.
pub struct Recorder {
    reads: Option<Reads>,
    film: Film,
    options: RecordOptions,
    /// Time at which the writer had the first picture.
    begun: Option<Instant>,
    /// The frame after the last one that has its picture.
    next: u64,
    dropped: u64,
}

impl Recorder {
    /// Starts a film. Its file is created at once, and its encoder starts with the first picture.
    ///
    /// # Errors
    /// [`RecordError::Write`] for a file that cannot be created; [`RecordError::Video`] where GStreamer or an encoder
    /// is missing; [`Error::InvalidInput`] for an invalid frame rate.
    pub fn create(output: Output, options: RecordOptions) -> Result<Self, RecordError> {
        const MOST: u32 = 1000;
        if !(1..=MOST).contains(&options.rate) {
            let said = format!("invalid frame rate {}; give 1 to {MOST} frames a second", options.rate);
            return Err(Error::invalid("Recorder::create", said).into());
        }
        Ok(Self { reads: None, film: Film::start(output, options.rate)?, options, begun: None, next: 0, dropped: 0 })
    }

    /// Returns the time of one picture in seconds, if each picture is one frame of the film.
    pub fn step(&self) -> Option<f32> {
        self.options.step.then(|| 1.0 / self.options.rate as f32)
    }

    /// Records the content of the framebuffer that is bound for drawing. Call it after the last draw and before the
    /// window presents. Does not wait for the device, unless each picture is one frame. Returns true where the film
    /// gets the picture, and false where it needs none at the moment or is behind: a picture that stays must be drawn
    /// and recorded again.
    ///
    /// # Errors
    /// Those of [`FrameReads::start`] and [`FrameReads::take`]; what the writer failed by, at a frame after that.
    pub fn frame(&mut self, display: &GlDisplay, size: Extent) -> Result<bool, RecordError> {
        self.collect(false)?;
        // A hidden window has no pixels that could be missing.
        if size.pixels() == 0 {
            return Ok(true);
        }
        let Some(at) = self.due() else { return Ok(false) };
        if self.options.step && self.reading() >= READS {
            self.collect(true)?;
        }
        let new = || Reads { ring: display.frame_reads(READS), frames: VecDeque::new() };
        let reads = self.reads.get_or_insert_with(new);
        let started = reads.ring.start(Viewport::full(size.width, size.height))?;
        if started {
            reads.frames.push_back(at);
        }
        self.took(at, started);
        if self.begun.is_none() {
            self.collect(true)?;
            self.begun = Some(Instant::now());
        }
        Ok(started)
    }

    fn reading(&self) -> usize {
        self.reads.as_ref().map_or(0, |reads| reads.frames.len())
    }

    /// Gives the film what was read; the oldest, too, where it waits.
    fn collect(&mut self, waits: bool) -> Result<(), RecordError> {
        let mut wait = waits;
        let Some(Reads { ring, frames }) = &mut self.reads else { return Ok(()) };
        while let Some(at) = frames.front().copied() {
            let mut pixels = self.film.memory();
            let taken = ring.take(std::mem::take(&mut wait), &mut pixels);
            // A read that failed is lost.
            if !matches!(taken, Ok(None)) {
                frames.pop_front();
            }
            let Some(extent) = taken? else { return Ok(()) };
            let image = ImageDesc::new(extent.width, extent.height, PixelFormat::Rgba8);
            let image = image.with_row_order(RowOrder::BottomUp);
            if !self.film.put(Picture { at, image, pixels }, self.options.step || waits)? {
                self.dropped += 1;
            }
        }
        Ok(())
    }

    /// Returns memory for [`Recorder::put`]: that of a picture that was written, or an empty vector.
    pub fn memory(&self) -> Vec<u8> {
        self.film.memory()
    }

    /// Records a picture in host memory: tight rows of RGBA8, BGRA8 or R8.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for another format or a wrong length; errors of the writer.
    pub fn put(&mut self, image: ImageDesc, pixels: Vec<u8>) -> Result<(), RecordError> {
        const OP: &str = "Recorder::put";
        if !matches!(image.format, PixelFormat::Rgba8 | PixelFormat::Bgra8 | PixelFormat::R8) {
            let said = format!("unsupported format {}; a film has RGBA8, BGRA8 or R8 pixels", image.format);
            return Err(Error::invalid(OP, said).into());
        }
        let desc = SurfaceDesc::Image(image);
        let bytes = desc.byte_len()?;
        if bytes == 0 || pixels.len() != bytes {
            return Err(Error::invalid(OP, format!("{desc} has {bytes} bytes, but {} were given", pixels.len())).into());
        }
        let Some(at) = self.due() else { return Ok(()) };
        let is_there = self.film.put(Picture { at, image, pixels }, self.options.step)?;
        self.took(at, is_there);
        self.begun.get_or_insert_with(Instant::now);
        Ok(())
    }

    /// Records a picture as [`pixelferry::picture()`] makes one.
    ///
    /// # Errors
    /// Those of [`Recorder::put`].
    pub fn put_picture(&mut self, picture: ImageBuffer<Rgba<u8>, Vec<u8>>) -> Result<(), RecordError> {
        let image = ImageDesc::new(picture.width(), picture.height(), PixelFormat::Rgba8);
        self.put(image, picture.into_raw())
    }

    /// Returns the current frame of the film; `None` where it already has its picture.
    fn due(&self) -> Option<u64> {
        if self.options.step {
            return Some(self.next);
        }
        let at = self.now();
        (at >= self.next).then_some(at)
    }

    /// Returns the film's frame by the clock.
    fn now(&self) -> u64 {
        let passed = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        (passed.as_secs_f64() * f64::from(self.options.rate)) as u64
    }

    fn took(&mut self, at: u64, is_there: bool) {
        self.next = at + 1;
        self.dropped += u64::from(!is_there);
    }

    /// Waits for the reads in progress. They belong to their display, so call this before the display is dropped.
    ///
    /// # Errors
    /// Those of [`FrameReads::take`]; what the writer failed by.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        let mut flushed = Ok(());
        while self.reading() > 0 {
            let left = self.reading();
            flushed = flushed.and(self.collect(true));
            if self.reading() == left {
                break;
            }
        }
        flushed
    }

    /// Writes everything that was recorded, and ends the film.
    ///
    /// # Errors
    /// Those of [`Recorder::flush`]; what the writer failed by: a full disk, an encoder that ended.
    pub fn finish(mut self) -> Result<FilmSummary, RecordError> {
        self.flush()?;
        let frames = if self.options.step || self.begun.is_none() { self.next } else { self.next.max(self.now()) };
        let (frames, extent) = self.film.finish(frames)?;
        Ok(FilmSummary { frames, dropped: self.dropped, extent })
    }
}
