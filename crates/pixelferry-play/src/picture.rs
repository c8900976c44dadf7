//! Pictures that channels read: files and videos, as four floats a pixel, rows from the top.

use crate::error::PlayError;
use crate::pass::Source;
use pixelferry::{ComputeBackend, ComputeMemory, Extent};
use pixelferry_view::{Frames, open_video};
use std::path::{Path, PathBuf};

/// Bytes of a pixel.
pub const PIXEL: usize = size_of::<[f32; 4]>();
/// Most pixels: four times as many as a screen of 8K has would fill a GPU's memory.
const MOST: u64 = 1 << 25;

/// Most frames that are decoded for one picture.
const MOST_AT_ONCE: u64 = 64;

/// A picture in memory of a backend.
pub struct Picture {
    pub memory: Box<dyn ComputeMemory>,
    pub size: Extent,
    film: Option<Reel>,
}

/// A video, of which a frame is in that memory.
struct Reel {
    file: PathBuf,
    channel: usize,
    video: Box<dyn Frames + Send>,
    /// Frames that were read, also in rounds before.
    read: u64,
    /// Time of its first frame.
    begun: Option<f64>,
}

impl Picture {
    /// Reads a file.
    ///
    /// # Errors
    /// [`PlayError::Channel`] for the file, and what the backend reports.
    pub fn open(source: &Source, channel: usize, backend: &dyn ComputeBackend) -> Result<Option<Self>, PlayError> {
        match source {
            Source::Buffer(_) => Ok(None),
            Source::Picture(file) => {
                let failed = |reason: String| PlayError::Channel { channel, file: file.clone(), reason };
                let picture = image::open(file).map_err(|error| failed(error.to_string()))?.into_rgba8();
                let size = Extent::new(picture.width(), picture.height());
                let memory = filled(backend, size, picture.pixels().map(|pixel| pixel.0), &failed)?;
                Ok(Some(Self { memory, size, film: None }))
            }
            Source::Film(file) => {
                let mut film = Reel { file: file.clone(), channel, video: open(file, channel)?, read: 0, begun: None };
                let frame = film.video.next_frame().map_err(|error| film.failed(&error))?;
                let frame = frame.ok_or_else(|| film.failed(&"it has no frame"))?;
                film.read = 1;
                let [width, height] = frame.size();
                let size = Extent::new(width, height);
                let memory = filled(backend, size, frame.rgba(), &|reason| film.failed(&reason))?;
                Ok(Some(Self { memory, size, film: Some(film) }))
            }
        }
    }

    /// Goes to the frame of a time, counted from the first that was asked for. After a leap the video goes on with its next frame: to get
    /// to another, all between would have to be decoded.
    ///
    /// # Errors
    /// [`PlayError::Channel`] for a video that is damaged, and what the backend reports.
    pub fn go_to(&mut self, time: f32) -> Result<(), PlayError> {
        let Some(film) = &mut self.film else { return Ok(()) };
        let (time, period) = (f64::from(time), film.video.period().as_secs_f64());
        let mut begun = film.begun.filter(|begun| *begun <= time).unwrap_or(time);
        if (time - begun) / period > (film.read + MOST_AT_ONCE) as f64 {
            begun = time - film.read as f64 * period;
        }
        film.begun = Some(begun);
        // Sums of steps end a little below.
        let wanted = ((time - begun) / period + 1e-3) as u64;
        if wanted.saturating_add(1) < film.read {
            film.video = open(&film.file, film.channel)?;
            film.read = 0;
        }
        let (mut newest, mut is_fresh) = (None, false);
        while film.read <= wanted {
            match film.video.next_frame() {
                Ok(Some(frame)) => {
                    newest = Some(frame);
                    film.read += 1;
                    is_fresh = false;
                }
                // It begins again, but only one that has a frame.
                Ok(None) if !is_fresh => {
                    film.video = open(&film.file, film.channel)?;
                    is_fresh = true;
                }
                Ok(None) => return Err(film.failed(&"it has no frame any more")),
                Err(error) => return Err(film.failed(&error)),
            }
        }
        if let Some(frame) = newest {
            self.memory.write(0, bytemuck::cast_slice(&floats(frame.rgba())))?;
        }
        Ok(())
    }
}

impl Reel {
    fn failed(&self, why: &dyn std::fmt::Display) -> PlayError {
        PlayError::Channel { channel: self.channel, file: self.file.clone(), reason: why.to_string() }
    }
}

fn open(file: &Path, channel: usize) -> Result<Box<dyn Frames + Send>, PlayError> {
    open_video(file).map_err(|error| PlayError::Channel { channel, file: file.to_owned(), reason: error.to_string() })
}

fn floats(pixels: impl Iterator<Item = [u8; 4]>) -> Vec<[f32; 4]> {
    pixels.map(|pixel| pixel.map(|part| f32::from(part) / 255.0)).collect()
}

fn filled(
    backend: &dyn ComputeBackend,
    size: Extent,
    pixels: impl Iterator<Item = [u8; 4]>,
    failed: &dyn Fn(String) -> PlayError,
) -> Result<Box<dyn ComputeMemory>, PlayError> {
    if u64::from(size.width) * u64::from(size.height) > MOST || size.width.max(size.height) > 0xffff {
        return Err(failed(format!("it has {size} pixels; a channel takes at most {MOST}")));
    }
    let pixels = floats(pixels);
    let mut memory = backend.allocate(pixels.len() * PIXEL)?;
    memory.write(0, bytemuck::cast_slice(&pixels))?;
    Ok(memory)
}
