//! Writes the files of films, frame by frame.

use super::error::RecordError;
use super::output::{Output, made, numbered};
use crate::video::{Container, VideoFile};
use crate::yuv::Frames;
use image::ImageBuffer;
use interop_core::Extent;
use pixelferry::save_rgba8;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A created file, before its first frame.
pub(super) struct StartedFile {
    output: Output,
    rate: u32,
    kind: Kinds,
}

enum Kinds {
    Raw(Box<dyn Write + Send>),
    Pictures(PathBuf),
    Video(File, Container),
}

impl StartedFile {
    /// Creates the file, so that an invalid name fails at once.
    pub(super) fn new(output: Output, rate: u32) -> Result<Self, RecordError> {
        let failed = output.failed();
        let kind = match &output {
            Output::Standard | Output::Y4m(_) => Kinds::Raw(output.raw().map_err(failed)?),
            Output::Pictures(pattern) => Kinds::Pictures(pattern.clone()),
            Output::Video(path) => {
                let container = Container::of(path).ok_or_else(|| RecordError::Name(path.clone()))?;
                container.check()?;
                Kinds::Video(made(path).map_err(failed)?, container)
            }
        };
        Ok(Self { output, rate, kind })
    }

    /// Continues with the first frame, whose size applies to all others.
    pub(super) fn of(self, extent: Extent, pixels: &[u8]) -> Result<Sink, RecordError> {
        let failed = self.output.failed();
        self.output.empty().map_err(&failed)?;
        let into = match self.kind {
            Kinds::Raw(mut to) => {
                let frames = Frames::new(extent, self.rate);
                to.write_all(frames.header().as_bytes()).map_err(&failed)?;
                Into::Raw(to, frames)
            }
            Kinds::Pictures(pattern) => Into::Pictures(pattern),
            Kinds::Video(file, container) => Into::Video(VideoFile::start(file, container, self.rate, extent, pixels)?),
        };
        Ok(Sink { output: self.output, extent, into, frame: Vec::new(), saved: None, written: 0 })
    }
}

/// A film in progress.
pub(super) struct Sink {
    output: Output,
    extent: Extent,
    into: Into,
    /// The current frame, in the form in which it is written.
    frame: Vec<u8>,
    /// The current picture, where it is already a file.
    saved: Option<PathBuf>,
    pub(super) written: u64,
}

enum Into {
    Raw(Box<dyn Write + Send>, Frames),
    Pictures(PathBuf),
    Video(VideoFile),
}

impl Sink {
    pub(super) fn extent(&self) -> Extent {
        self.extent
    }

    /// Sets the current frame: tight rows of RGBA8 in the film's size, the top row first. The vector's memory may be
    /// taken.
    pub(super) fn set(&mut self, pixels: &mut Vec<u8>) {
        self.saved = None;
        match &self.into {
            Into::Raw(_, frames) => {
                self.frame.clear();
                frames.put(pixels, &mut self.frame);
            }
            Into::Pictures(_) => std::mem::swap(&mut self.frame, pixels),
            Into::Video(file) => file.frame(pixels, &mut self.frame),
        }
    }

    /// Repeats the current frame until the film has this many.
    pub(super) fn until(&mut self, frames: u64) -> Result<(), RecordError> {
        while self.written < frames {
            match &mut self.into {
                Into::Raw(to, _) => to.write_all(&self.frame).map_err(self.output.failed())?,
                Into::Pictures(pattern) => {
                    let path = numbered(pattern, self.written).ok_or_else(|| RecordError::Pattern(pattern.clone()))?;
                    match &self.saved {
                        Some(same) => drop(std::fs::copy(same, &path).map_err(self.output.failed())?),
                        None => save(&path, self.extent, &self.frame)?,
                    }
                    self.saved = Some(path);
                }
                Into::Video(file) => file.put(&self.frame)?,
            }
            self.written += 1;
        }
        Ok(())
    }

    /// Ends the film; returns its number of frames and their size.
    pub(super) fn finish(self) -> Result<(u64, Extent), RecordError> {
        let extent = match &self.into {
            Into::Video(file) => file.extent(),
            Into::Raw(..) | Into::Pictures(_) => self.extent,
        };
        match self.into {
            Into::Raw(mut to, _) => to.flush().map_err(self.output.failed())?,
            Into::Pictures(_) => {}
            Into::Video(file) => file.finish()?,
        }
        Ok((self.written, extent))
    }
}

fn save(path: &Path, extent: Extent, pixels: &[u8]) -> Result<(), RecordError> {
    let picture = ImageBuffer::from_raw(extent.width, extent.height, pixels.to_vec());
    // The pixels have the film's size.
    picture.map_or(Ok(()), |picture| Ok(save_rgba8(picture, path)?))
}
