//! Pictures that channels read: files, videos and streams, as four floats a pixel, rows from the top.

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
/// Most pixels: four times as many as a screen of 8K has would fill a GPU's memory.
const MOST: u64 = 1 << 25;
/// Longest side: a size is one word of a kernel's arguments.
const MOST_SIDE: u32 = 0xffff;

/// Most frames that are decoded for one picture.
const MOST_AT_ONCE: u64 = 64;

/// A picture in memory of a backend.
pub struct Picture {
    pub memory: Box<dyn ComputeMemory>,
    pub size: Extent,
    motion: Motion,
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
    /// [`PlayError::Channel`] for the file or the stream's name, and what the backend reports.
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

    /// Goes to the frame of a time, or to the newest of a stream.
    ///
    /// # Errors
    /// [`PlayError::Channel`] for a video that is damaged, and what the backend reports.
    pub fn go_to(&mut self, time: f32, backend: &dyn ComputeBackend) -> Result<(), PlayError> {
        let Self { memory, size, motion } = self;
        match motion {
            Motion::None => Ok(()),
            Motion::Film(film) => {
                let Some(frame) = film.go_to(time)? else { return Ok(()) };
                // Films may change their size.
                fits(frame.extent()).map_err(|reason| film.failed(&reason))?;
                Ok(hold(memory, size, backend, (frame.extent(), &of_frame(&frame)))?)
            }
            Motion::Stream { .. } => self.follow(backend),
        }
    }

    /// Takes over a stream's newest frame.
    fn follow(&mut self, backend: &dyn ComputeBackend) -> Result<(), PlayError> {
        let Self { memory, size, motion: Motion::Stream { stream, seen, .. } } = self else { return Ok(()) };
        stream.look();
        stream.show(*seen, |number, frame| {
            hold(memory, size, backend, (frame.size, &frame.pixels))?;
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

fn of_frame(frame: &Frame) -> Vec<[f32; 4]> {
    frame.rgba().chunks_exact(4).map(|pixel| float([pixel[0], pixel[1], pixel[2], pixel[3]])).collect()
}

fn float(pixel: [u8; 4]) -> [f32; 4] {
    pixel.map(|part| f32::from(part) / 255.0)
}

/// Finds out whether a channel takes so many pixels.
fn fits(size: Extent) -> Result<(), String> {
    if u64::from(size.width) * u64::from(size.height) > MOST || size.width.max(size.height) > MOST_SIDE {
        return Err(format!("it has {size} pixels; a channel takes at most {MOST}, and {MOST_SIDE} a side"));
    }
    Ok(())
}

/// Puts a frame into the memory, or into another where it has another size.
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

/// Memory of so many pixels, which are written some at a time: all as floats would be another copy of a large picture.
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
