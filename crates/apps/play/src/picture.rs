//! Pictures for channels, from files, videos and streams.

use crate::driver::{Driver, Image, PIXEL};
use crate::error::PlayError;
use crate::gl::{SamplerState, TextureShape};
use crate::keys::Keyboard;
use crate::pass::{Channel, STREAM, Source};
use crate::stream::Stream;
use pixelferry::Extent;
use pixelferry_media::film::{Frame, Source as Video};
use pixelferry_view::decode_picture;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::time::Duration;

/// Pixel limit: four times the pixels of an 8K screen would fill a GPU's memory.
const MOST: u64 = 1 << 25;
/// Longest side: a size is packed in one word of a kernel's arguments.
const MOST_SIDE: u32 = 0xffff;

/// Maximum number of frames to decode for one picture.
const MOST_AT_ONCE: u64 = 64;

/// A picture in memory of a driver.
pub struct Picture {
    pub image: Image,
    is_turned: bool,
    sampling: SamplerState,
    motion: Motion,
}

/// Where the next frame comes from; `seen` is the number of the stream's frame in that memory, or 0.
enum Motion {
    None,
    Film(Reel),
    Stream { stream: Rc<Stream>, channel: usize, seen: u64 },
}

/// Streams that programs read. A stream that the previous program read continues with its last frame.
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

/// A video, with one of its frames in that memory.
struct Reel {
    file: PathBuf,
    channel: usize,
    video: Video,
    /// Number of decoded frames, including earlier rounds.
    read: u64,
    /// Time of its first frame.
    begun: Option<f64>,
}

impl Picture {
    /// Reads a file or attaches to a stream. A stream without a frame is one transparent pixel.
    ///
    /// # Errors
    /// [`PlayError::Channel`] for the file or the stream's name, and errors of the driver.
    pub fn open(
        shown: &Channel,
        channel: usize,
        driver: &Driver,
        streams: &mut Streams,
    ) -> Result<Option<Self>, PlayError> {
        let picture = |size, is_float, motion| {
            let (is_turned, sampling) = (shown.is_turned, shown.sampling);
            Ok::<_, PlayError>(Self { image: driver.image(size, is_float)?, is_turned, sampling, motion })
        };
        match &shown.source {
            Source::Buffer(_) => Ok(None),
            Source::Keyboard => Ok(Some(picture(Keyboard::SIZE, false, Motion::None)?)),
            Source::Picture(file) => {
                let bytes = std::fs::read(file).map_err(|error| failed(channel, file, &error))?;
                let pixels = decode_picture(&bytes, PIXEL as u64 + 4).map_err(|error| failed(channel, file, &error))?;
                let pixels = pixels.into_rgba8();
                let size = Extent::new(pixels.width(), pixels.height());
                fits(size).map_err(|reason| failed(channel, file, &reason))?;
                if shown.sampling.shape == TextureShape::Cube && size.width != 6 * size.height {
                    let reason = format!("size {size} is not that of a cube: six square faces side by side");
                    return Err(failed(channel, file, &reason));
                }
                let mut picture = picture(size, false, Motion::None)?;
                picture.fill(driver, size, &pixels)?;
                Ok(Some(picture))
            }
            Source::Film(file) => {
                let mut film = Reel { file: file.clone(), channel, video: open(file, channel)?, read: 0, begun: None };
                let frame = film.video.next_frame().map_err(|error| film.failed(&error))?;
                let frame = frame.ok_or_else(|| film.failed(&"it has no frame"))?;
                film.read = 1;
                let size = frame.extent();
                fits(size).map_err(|reason| film.failed(&reason))?;
                let mut picture = picture(size, false, Motion::Film(film))?;
                picture.fill(driver, size, &frame.rgba())?;
                Ok(Some(picture))
            }
            Source::Stream(name) => {
                let stream = streams.open(name).map_err(|reason| of_stream(channel, name, &reason))?;
                let mut picture = picture(Extent::new(1, 1), true, Motion::Stream { stream, channel, seen: 0 })?;
                picture.follow(driver)?;
                Ok(Some(picture))
            }
        }
    }

    pub fn fill(&mut self, driver: &Driver, size: Extent, pixels: &[u8]) -> Result<(), PlayError> {
        driver.fill(&mut self.image, size, pixels, self.is_turned)?;
        driver.make_copy(&mut self.image, self.sampling)
    }

    /// Advances to the frame for a time, or the newest of a stream.
    ///
    /// # Errors
    /// [`PlayError::Channel`] for a damaged video, and errors of the driver.
    pub fn go_to(&mut self, time: f32, driver: &Driver) -> Result<(), PlayError> {
        let Motion::Film(film) = &mut self.motion else { return self.follow(driver) };
        let Some(frame) = film.go_to(time)? else { return Ok(()) };
        // A video may change its size.
        fits(frame.extent()).map_err(|reason| film.failed(&reason))?;
        self.fill(driver, frame.extent(), &frame.rgba())
    }

    /// Copies a stream's newest frame.
    fn follow(&mut self, driver: &Driver) -> Result<(), PlayError> {
        let Motion::Stream { stream, seen, .. } = &self.motion else { return Ok(()) };
        let (stream, seen) = (Rc::clone(stream), *seen);
        stream.look();
        stream.show(seen, |number, frame| {
            self.fill(driver, frame.size, bytemuck::cast_slice(&frame.pixels))?;
            if let Motion::Stream { seen, .. } = &mut self.motion {
                *seen = number;
            }
            Ok(())
        })
    }

    /// Waits up to `limit` for a stream's first frame.
    ///
    /// # Errors
    /// [`PlayError::Channel`] with the reason if no frame arrives in time.
    pub fn wait(&self, limit: Duration) -> Result<(), PlayError> {
        let Motion::Stream { stream, channel, .. } = &self.motion else { return Ok(()) };
        stream.wait(limit).map_err(|reason| of_stream(*channel, stream.name(), &reason))
    }

    /// Returns the stream, if the source is one.
    pub fn stream(&self) -> Option<&Stream> {
        if let Motion::Stream { stream, .. } = &self.motion { Some(stream) } else { None }
    }
}

impl Reel {
    /// Returns the frame for a time, counted from the first request, if it differs from the previous one. After a jump,
    /// the video continues with its next frame, because reaching another one would mean decoding all in between.
    fn go_to(&mut self, time: f32) -> Result<Option<Frame>, PlayError> {
        let (time, period) = (f64::from(time), self.video.period().as_secs_f64());
        let mut begun = self.begun.filter(|begun| *begun <= time).unwrap_or(time);
        if (time - begun) / period > (self.read + MOST_AT_ONCE) as f64 {
            begun = time - self.read as f64 * period;
        }
        self.begun = Some(begun);
        // Sums of steps may be slightly too small.
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
                // Restart, unless the video turned out to have no frames.
                Ok(None) if !is_fresh => {
                    self.video = open(&self.file, self.channel)?;
                    is_fresh = true;
                }
                Ok(None) => return Err(self.failed(&"the video has no more frames")),
                Err(error) => return Err(self.failed(&error)),
            }
        }
        Ok(newest)
    }

    fn failed(&self, why: &dyn std::fmt::Display) -> PlayError {
        failed(self.channel, &self.file, why)
    }
}

fn open(file: &Path, channel: usize) -> Result<Video, PlayError> {
    Video::video(file).map_err(|error| failed(channel, file, &error))
}

fn of_stream(channel: usize, name: &str, reason: &str) -> PlayError {
    failed(channel, format!("{STREAM}{name}").as_ref(), &reason)
}

fn failed(channel: usize, file: &Path, why: &dyn std::fmt::Display) -> PlayError {
    PlayError::Channel { channel, file: file.to_owned(), reason: why.to_string() }
}

/// Checks whether a channel accepts this size.
fn fits(size: Extent) -> Result<(), String> {
    if u64::from(size.width) * u64::from(size.height) > MOST || size.width.max(size.height) > MOST_SIDE {
        return Err(format!("size {size} is too large: a channel has at most {MOST} pixels, and {MOST_SIDE} per side"));
    }
    Ok(())
}
