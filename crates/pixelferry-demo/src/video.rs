//! Uncompressed video from Y4M files.

use crate::scene::SceneError;
use pixelferry::Extent;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use y4m::Colorspace;

/// A file that is read frame by frame.
pub struct Video {
    decoder: y4m::Decoder<BufReader<File>>,
    path: PathBuf,
    extent: Extent,
    chroma_shift: (i32, i32),
    frames: u64,
    position: u64,
    buffer: [Vec<u8>; 3],
}

/// One frame: 8-bit Y, U and V planes with tight rows.
pub struct YuvFrame<'a> {
    /// Y, U, V.
    pub planes: [&'a [u8]; 3],
    /// log2 of the chroma's subsampling across and down.
    pub chroma_shift: (i32, i32),
}

impl Video {
    /// Opens a file and reads its header.
    pub fn open(path: &Path) -> Result<Self, SceneError> {
        let wrong = |reason: String| SceneError::Video { path: path.to_owned(), reason };
        let file = File::open(path).map_err(|e| wrong(e.to_string()))?;
        let file_bytes = file.metadata().map_err(|e| wrong(e.to_string()))?.len();
        let decoder = y4m::decode(BufReader::new(file)).map_err(|e| wrong(format!("its header: {e}")))?;
        let chroma_shift = match decoder.get_colorspace() {
            Colorspace::C420 | Colorspace::C420jpeg | Colorspace::C420paldv | Colorspace::C420mpeg2 => (1, 1),
            Colorspace::C422 => (1, 0),
            Colorspace::C444 => (0, 0),
            other => return Err(wrong(format!("its colour format {other:?} is not 8-bit 4:2:0, 4:2:2 or 4:4:4"))),
        };
        let side = |n: usize| u32::try_from(n).ok().filter(|n| *n > 0);
        let extent = match (side(decoder.get_width()), side(decoder.get_height())) {
            (Some(width), Some(height)) => Extent::new(width, height),
            _ => return Err(wrong(format!("its size is {}x{}", decoder.get_width(), decoder.get_height()))),
        };
        // Every frame is a marker line and the planes; parameters in the marker, which hardly any file has, make
        // this an overestimate.
        let frames = file_bytes / (decoder.get_bytes_per_sample() as u64 * payload(extent, chroma_shift) + 6);
        let buffer = [Vec::new(), Vec::new(), Vec::new()];
        Ok(Self { decoder, path: path.to_owned(), extent, chroma_shift, frames, position: 0, buffer })
    }

    /// Size of a frame.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Number of frames, from the size of the file.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Frames read so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next frame; `None` at the end.
    pub fn next_frame(&mut self) -> Result<Option<YuvFrame<'_>>, SceneError> {
        match self.decoder.read_frame() {
            Ok(frame) => {
                for (to, from) in
                    self.buffer.iter_mut().zip([frame.get_y_plane(), frame.get_u_plane(), frame.get_v_plane()])
                {
                    to.clear();
                    to.extend_from_slice(from);
                }
            }
            Err(y4m::Error::EOF) => return Ok(None),
            Err(e) => {
                let reason = format!("frame {}: {e}", self.position);
                return Err(SceneError::Video { path: self.path.clone(), reason });
            }
        }
        self.position += 1;
        let [y, u, v] = &self.buffer;
        Ok(Some(YuvFrame { planes: [y, u, v], chroma_shift: self.chroma_shift }))
    }
}

fn payload(extent: Extent, (sx, sy): (i32, i32)) -> u64 {
    let chroma = Extent::new((extent.width + (1 << sx) - 1) >> sx, (extent.height + (1 << sy) - 1) >> sy);
    extent.pixels() + 2 * chroma.pixels()
}
