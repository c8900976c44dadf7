//! Files of films, made frame by frame.

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

/// A file that was made, before its first frame.
pub(super) struct Begun {
    output: Output,
    rate: u32,
    kind: Kinds,
}

enum Kinds {
    Raw(Box<dyn Write + Send>),
    Pictures(PathBuf),
    Video(File, Container),
}

impl Begun {
    /// Makes the file, so that an invalid name fails at once.
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

    /// Goes on with its first frame, whose size all others get.
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

/// A film under way.
pub(super) struct Sink {
    output: Output,
    extent: Extent,
    into: Into,
    /// The frame that is on show, as it is written.
    frame: Vec<u8>,
    /// The picture on show, where it is a file already.
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

    /// Sets the frame on show: tight rows of RGBA8 in the film's size, the top one first; their memory may be taken.
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

    /// Writes the frame on show until there are so many.
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

    /// Writes the end; the frames in it, and their size.
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
    // Pixels have the film's size.
    picture.map_or(Ok(()), |picture| Ok(save_rgba8(picture, path)?))
}
