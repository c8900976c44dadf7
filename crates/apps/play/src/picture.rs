//! Pictures for channels, from files, videos and streams: four floats per pixel, top row first.

use crate::error::PlayError;
use crate::pass::{STREAM, Source};
use crate::stream::Stream;
use pixelferry::{ComputeBackend, ComputeMemory, Extent};
use pixelferry_media::film::{Frame, Source as Video};
use pixelferry_view::decode_picture;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::time::Duration;

/// Bytes of a pixel.
pub const PIXEL: usize = size_of::<[f32; 4]>();
/// Pixel limit: four times the pixels of an 8K screen would fill a GPU's memory.
const MOST: u64 = 1 << 25;
/// Longest side: a size is packed in one word of a kernel's arguments.
const MOST_SIDE: u32 = 0xffff;

/// Maximum number of frames to decode for one picture.
const MOST_AT_ONCE: u64 = 64;

/// A picture in memory of a backend.
pub struct Picture {
    pub memory: Box<dyn ComputeMemory>,
    pub size: Extent,
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
    /// [`PlayError::Channel`] for the file or the stream's name, and errors of the backend.
    pub fn open(
        source: &Source,
        channel: usize,
        backend: &dyn ComputeBackend,
        streams: &mut Streams,
    ) -> Result<Option<Self>, PlayError> {
        match source {
            Source::Buffer(_) => Ok(None),
            Source::Picture(file) => {
                let failed = |reason: String| PlayError::Channel { channel, file: file.clone(), reason };
                let bytes = std::fs::read(file).map_err(|error| failed(error.to_string()))?;
                let picture = decode_picture(&bytes, PIXEL as u64 + 4).map_err(|error| failed(error.to_string()))?;
                let picture = picture.into_rgba8();
                let size = Extent::new(picture.width(), picture.height());
                fits(size).map_err(failed)?;
                let memory = allocated(backend, size, picture.pixels().map(|pixel| float(pixel.0)))?;
                Ok(Some(Self { memory, size, motion: Motion::None }))
            }
            Source::Film(file) => {
                let mut film = Reel { file: file.clone(), channel, video: open(file, channel)?, read: 0, begun: None };
                let frame = film.video.next_frame().map_err(|error| film.failed(&error))?;
                let frame = frame.ok_or_else(|| film.failed(&"it has no frame"))?;
                film.read = 1;
                let size = frame.extent();
                fits(size).map_err(|reason| film.failed(&reason))?;
                let memory = allocated(backend, size, of_frame(&frame).into_iter())?;
                Ok(Some(Self { memory, size, motion: Motion::Film(film) }))
            }
            Source::Stream(name) => {
                let failed = |reason| of_stream(channel, name, reason);
                let stream = streams.open(name).map_err(failed)?;
                let size = Extent::new(1, 1);
                let memory = allocated(backend, size, [[0.0; 4]].into_iter())?;
                let mut picture = Self { memory, size, motion: Motion::Stream { stream, channel, seen: 0 } };
                picture.follow(backend)?;
                Ok(Some(picture))
            }
        }
    }

    /// Advances to the frame for a time, or the newest of a stream.
    ///
    /// # Errors
    /// [`PlayError::Channel`] for a damaged video, and errors of the backend.
    pub fn go_to(&mut self, time: f32, backend: &dyn ComputeBackend) -> Result<(), PlayError> {
        let Self { memory, size, motion } = self;
        match motion {
            Motion::None => Ok(()),
            Motion::Film(film) => {
                let Some(frame) = film.go_to(time)? else { return Ok(()) };
                // A video may change its size.
                fits(frame.extent()).map_err(|reason| film.failed(&reason))?;
                Ok(hold(memory, size, backend, (frame.extent(), &of_frame(&frame)))?)
            }
            Motion::Stream { .. } => self.follow(backend),
        }
    }

    /// Copies a stream's newest frame.
    fn follow(&mut self, backend: &dyn ComputeBackend) -> Result<(), PlayError> {
        let Self { memory, size, motion: Motion::Stream { stream, seen, .. } } = self else { return Ok(()) };
        stream.look();
        stream.show(*seen, |number, frame| {
            hold(memory, size, backend, (frame.size, &frame.pixels))?;
            *seen = number;
            Ok(())
        })
    }

    /// Waits up to `limit` for a stream's first frame.
    ///
    /// # Errors
    /// [`PlayError::Channel`] with the reason if no frame arrives in time.
    pub fn wait(&self, limit: Duration) -> Result<(), PlayError> {
        let Motion::Stream { stream, channel, .. } = &self.motion else { return Ok(()) };
        stream.wait(limit).map_err(|reason| of_stream(*channel, stream.name(), reason))
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
        PlayError::Channel { channel: self.channel, file: self.file.clone(), reason: why.to_string() }
    }
}

fn open(file: &Path, channel: usize) -> Result<Video, PlayError> {
    Video::video(file).map_err(|error| PlayError::Channel { channel, file: file.to_owned(), reason: error.to_string() })
}

fn of_stream(channel: usize, name: &str, reason: String) -> PlayError {
    PlayError::Channel { channel, file: format!("{STREAM}{name}").into(), reason }
}

fn of_frame(frame: &Frame) -> Vec<[f32; 4]> {
    frame.rgba().chunks_exact(4).map(|pixel| float([pixel[0], pixel[1], pixel[2], pixel[3]])).collect()
}

fn float(pixel: [u8; 4]) -> [f32; 4] {
    pixel.map(|part| f32::from(part) / 255.0)
}

/// Checks whether a channel accepts this size.
fn fits(size: Extent) -> Result<(), String> {
    if u64::from(size.width) * u64::from(size.height) > MOST || size.width.max(size.height) > MOST_SIDE {
        return Err(format!("size {size} is too large: a channel has at most {MOST} pixels, and {MOST_SIDE} per side"));
    }
    Ok(())
}

/// Writes a frame to the memory, or to new memory if the size has changed.
fn hold(
    memory: &mut Box<dyn ComputeMemory>,
    size: &mut Extent,
    backend: &dyn ComputeBackend,
    (of, pixels): (Extent, &[[f32; 4]]),
) -> pixelferry::Result<()> {
    if of == *size {
        return memory.write(0, bytemuck::cast_slice(pixels));
    }
    *memory = allocated(backend, of, pixels.iter().copied())?;
    *size = of;
    Ok(())
}

/// Allocates memory and writes it in parts: a copy with all pixels as floats would double the memory of a large
/// picture.
fn allocated(
    backend: &dyn ComputeBackend,
    size: Extent,
    mut pixels: impl Iterator<Item = [f32; 4]>,
) -> pixelferry::Result<Box<dyn ComputeMemory>> {
    const TOGETHER: usize = 1 << 16;
    let mut memory = backend.allocate(size.pixels() as usize * PIXEL)?;
    let (mut some, mut at) = (Vec::new(), 0);
    loop {
        some.clear();
        some.extend(pixels.by_ref().take(TOGETHER));
        if some.is_empty() {
            return Ok(memory);
        }
        memory.write(at, bytemuck::cast_slice(&some))?;
        at += some.len() * PIXEL;
    }
}
