//! Pictures that channels read: files, videos and streams. For kernels they are four floats a pixel, rows from the top, and textures for
//! fragment shaders.

use crate::driver::{Driver, Pixels, Stored};
use crate::error::PlayError;
use crate::pass::{Channel, STREAM, Source};
use crate::stream::Stream;
use pixelferry::Extent;
use pixelferry::video::{Frame, Source as Video};
use pixelferry_view::decode_picture;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::time::Duration;

/// Most pixels: four times as many as a screen of 8K has would fill a GPU's memory.
const MOST: u64 = 1 << 25;
/// Longest side: a size is one word of a kernel's arguments.
const MOST_SIDE: u32 = 0xffff;

/// Most frames that are decoded for one picture.
const MOST_AT_ONCE: u64 = 64;

/// A picture in memory of a driver.
pub struct Picture {
    pub stored: Stored,
    motion: Motion,
}

/// Pictures of channels.
#[derive(Default)]
pub struct Pictures(Vec<(Channel, Picture)>);

impl Pictures {
    /// The picture of a channel.
    pub fn of(&self, channel: &Channel) -> Option<&Picture> {
        self.0.iter().find(|(known, _)| known == channel).map(|(_, picture)| picture)
    }

    pub fn add(&mut self, channel: &Channel, picture: Picture) {
        self.0.push((channel.clone(), picture));
    }

    pub fn all(&self) -> impl Iterator<Item = &Picture> {
        self.0.iter().map(|(_, picture)| picture)
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Picture> {
        self.0.iter_mut().map(|(_, picture)| picture)
    }
}

/// Source of another frame in that memory; `seen` is the number of the one of a stream that is there, and 0 while there is none.
enum Motion {
    None,
    Film(Reel),
    Stream { stream: Rc<Stream>, channel: usize, seen: u64 },
}

/// Streams that programs read: one that the program before reads, too, goes on with its last frame.
#[derive(Default)]
pub struct Streams(Vec<Weak<Stream>>);

impl Streams {
    fn open(&mut self, name: &str) -> Result<Rc<Stream>, String> {
        self.0.retain(|known| known.strong_count() > 0);
        if let Some(known) = self.0.iter().filter_map(Weak::upgrade).find(|known| known.name() == name) {
            return Ok(known);
        }
        let stream = Rc::new(Stream::open(name, fits)?);
        self.0.push(Rc::downgrade(&stream));
        Ok(stream)
    }
}

/// A video, of which a frame is in that memory.
struct Reel {
    file: PathBuf,
    channel: usize,
    video: Video,
    /// Frames that were read, also in rounds before.
    read: u64,
    /// Time of its first frame.
    begun: Option<f64>,
}

impl Picture {
    /// Reads a file, or attaches to a stream: without a frame it is one transparent pixel.
    ///
    /// # Errors
    /// [`PlayError::Channel`] for the file or the stream's name, and what the driver reports.
    pub fn open(
        shown: &Channel,
        channel: usize,
        driver: &Driver,
        streams: &mut Streams,
    ) -> Result<Option<Self>, PlayError> {
        let store =
            |size, pixels: Pixels<'_>| Stored::new(driver, size, pixels, shown.is_turned, shown.sampling.has_levels);
        let (stored, motion) = match &shown.source {
            Source::Buffer(_) => return Ok(None),
            Source::Picture(file) => {
                let failed = |reason: String| PlayError::Channel { channel, file: file.clone(), reason };
                let bytes = std::fs::read(file).map_err(|error| failed(error.to_string()))?;
                let picture =
                    decode_picture(&bytes, Pixels::MOST as u64 + 4).map_err(|error| failed(error.to_string()))?;
                let picture = picture.into_rgba8();
                let size = Extent::new(picture.width(), picture.height());
                fits(size).map_err(failed)?;
                (store(size, Pixels::Bytes(&picture))?, Motion::None)
            }
            Source::Film(file) => {
                let mut film = Reel { file: file.clone(), channel, video: open(file, channel)?, read: 0, begun: None };
                let frame = film.video.next_frame().map_err(|error| film.failed(&error))?;
                let frame = frame.ok_or_else(|| film.failed(&"it has no frame"))?;
                film.read = 1;
                fits(frame.extent()).map_err(|reason| film.failed(&reason))?;
                (store(frame.extent(), Pixels::Bytes(&frame.rgba()))?, Motion::Film(film))
            }
            Source::Stream(name) => {
                let stream = streams.open(name).map_err(|reason| of_stream(channel, name, reason))?;
                let stored = store(Extent::new(1, 1), Pixels::Floats(&[[0.0; 4]]))?;
                (stored, Motion::Stream { stream, channel, seen: 0 })
            }
        };
        let mut picture = Self { stored, motion };
        picture.follow(driver)?;
        Ok(Some(picture))
    }

    /// Goes to the frame of a time, or to the newest of a stream.
    ///
    /// # Errors
    /// [`PlayError::Channel`] for a video that is damaged, and what the driver reports.
    pub fn go_to(&mut self, time: f32, driver: &Driver) -> Result<(), PlayError> {
        let Self { stored, motion: Motion::Film(film) } = self else { return self.follow(driver) };
        let Some(frame) = film.go_to(time)? else { return Ok(()) };
        // Films may change their size.
        fits(frame.extent()).map_err(|reason| film.failed(&reason))?;
        stored.replace(driver, frame.extent(), Pixels::Bytes(&frame.rgba()))
    }

    /// Takes over a stream's newest frame.
    fn follow(&mut self, driver: &Driver) -> Result<(), PlayError> {
        let Self { stored, motion: Motion::Stream { stream, seen, .. } } = self else { return Ok(()) };
        stream.look();
        stream.show(*seen, |number, frame| {
            stored.replace(driver, frame.size, Pixels::Floats(&frame.pixels))?;
            *seen = number;
            Ok(())
        })
    }

    /// Waits, at most so long, for the first frame of a stream.
    ///
    /// # Errors
    /// [`PlayError::Channel`], with why there is none.
    pub fn wait(&self, limit: Duration) -> Result<(), PlayError> {
        let Motion::Stream { stream, channel, .. } = &self.motion else { return Ok(()) };
        stream.wait(limit).map_err(|reason| of_stream(*channel, stream.name(), reason))
    }

    /// The stream that it shows.
    pub fn stream(&self) -> Option<&Stream> {
        if let Motion::Stream { stream, .. } = &self.motion { Some(stream) } else { None }
    }
}

impl Reel {
    /// The frame of a time, counted from the first that was asked for, where it is another than before. After a leap the video
    /// goes on with its next frame: to get to another, all between would have to be decoded.
    fn go_to(&mut self, time: f32) -> Result<Option<Frame>, PlayError> {
        let (time, period) = (f64::from(time), self.video.period().as_secs_f64());
        let mut begun = self.begun.filter(|begun| *begun <= time).unwrap_or(time);
        if (time - begun) / period > (self.read + MOST_AT_ONCE) as f64 {
            begun = time - self.read as f64 * period;
        }
        self.begun = Some(begun);
        // Sums of steps end a little below.
        let wanted = ((time - begun) / period + 1e-3) as u64;
        if wanted.saturating_add(1) < self.read {
            self.video = open(&self.file, self.channel)?;
            self.read = 0;
        }
        let (mut newest, mut is_fresh) = (None, false);
        while self.read <= wanted {
            match self.video.next_frame() {
                Ok(Some(frame)) => {
                    newest = Some(frame);
                    self.read += 1;
                    is_fresh = false;
                }
                // It begins again, but only one that has a frame.
                Ok(None) if !is_fresh => {
                    self.video = open(&self.file, self.channel)?;
                    is_fresh = true;
                }
                Ok(None) => return Err(self.failed(&"it has no frame any more")),
                Err(error) => return Err(self.failed(&error)),
            }
        }
        Ok(newest)
    }

    fn failed(&self, why: &dyn std::fmt::Display) -> PlayError {
        PlayError::Channel { channel: self.channel, file: self.file.clone(), reason: why.to_string() }
    }
}

fn open(file: &Path, channel: usize) -> Result<Video, PlayError> {
    Video::video(file).map_err(|error| PlayError::Channel { channel, file: file.to_owned(), reason: error.to_string() })
}

fn of_stream(channel: usize, name: &str, reason: String) -> PlayError {
    PlayError::Channel { channel, file: format!("{STREAM}{name}").into(), reason }
}

/// Finds out whether a channel takes so many pixels.
fn fits(size: Extent) -> Result<(), String> {
    if u64::from(size.width) * u64::from(size.height) > MOST || size.width.max(size.height) > MOST_SIDE {
        return Err(format!("it has {size} pixels; a channel takes at most {MOST}, and {MOST_SIDE} a side"));
    }
    Ok(())
}
