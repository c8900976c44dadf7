//! Uncompressed video from Y4M files, as planes that a kernel converts.

use crate::scene::SceneError;
use pixelferry::Extent;
use pixelferry_media::film::{Frame, Layout, Source};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// A file that is read frame by frame.
pub struct Video {
    source: Source,
    path: PathBuf,
    extent: Extent,
    frames: u64,
    position: u64,
}

impl Video {
    /// Opens a file and reads its first frame.
    pub fn open(path: &Path) -> Result<Self, SceneError> {
        let wrong = |reason: String| SceneError::Video { path: path.to_owned(), reason };
        let file = File::open(path).map_err(|e| wrong(e.to_string()))?;
        let file_bytes = file.metadata().map_err(|e| wrong(e.to_string()))?.len();
        let mut source = Source::y4m(BufReader::new(file)).map_err(|e| wrong(e.to_string()))?;
        let first = source.peek().map_err(|e| wrong(e.to_string()))?;
        let first = first.ok_or_else(|| wrong("the video has no frames".into()))?;
        if first.planes().layout() == Layout::Grey {
            return Err(wrong("the video has no colours; 4:2:0, 4:2:2 and 4:4:4 are supported".into()));
        }
        // A frame consists of a marker line and the planes. Parameters in the marker, which are rare, make this an
        // overestimate.
        let frames = file_bytes / (first.bytes().len() as u64 + 6);
        let extent = first.extent();
        Ok(Self { source, path: path.to_owned(), extent, frames, position: 0 })
    }

    /// Size of a frame.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Number of frames, estimated from the size of the file.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Number of frames read so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Reads the next frame; `None` at the end.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, SceneError> {
        let next = self.source.next_frame().map_err(|error| {
            let reason = format!("frame {}: {error}", self.position);
            SceneError::Video { path: self.path.clone(), reason }
        })?;
        self.position += u64::from(next.is_some());
        Ok(next)
    }
}
