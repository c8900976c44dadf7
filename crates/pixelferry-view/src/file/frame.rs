//! Frames of a video, and what gives them.

use crate::array::Array;
use crate::error::ReadError;
use pixelferry::Extent;
use pixelferry_look::Number;
use std::time::Duration;

/// Source of a video's frames, one after the other.
pub trait Frames {
    /// Time of a frame; known from the first frame on.
    fn period(&self) -> Duration;

    /// The next frame; `None` at the end.
    ///
    /// # Errors
    /// [`ReadError`] of a video that is damaged, or not decoded.
    fn next_frame(&mut self) -> Result<Option<Frame>, ReadError>;
}

/// Numbers of a frame in C order: (height, width, 3), red, green and blue, or (height, width) of a grey one.
pub struct Frame {
    pub(super) bytes: Vec<u8>,
    pub(super) shape: Vec<i64>,
}

impl Frame {
    /// Red, green and blue of tight rows.
    pub(crate) fn rgb(bytes: Vec<u8>, extent: Extent) -> Self {
        Self { bytes, shape: vec![extent.height.into(), extent.width.into(), 3] }
    }

    /// Columns and rows.
    pub fn size(&self) -> [u32; 2] {
        let side = |at: usize| self.shape.get(at).and_then(|side| u32::try_from(*side).ok()).unwrap_or(0);
        [side(1), side(0)]
    }

    /// Its pixels, rows from the top.
    pub fn rgba(&self) -> impl Iterator<Item = [u8; 4]> + '_ {
        self.bytes.chunks_exact(if self.shape.len() == 3 { 3 } else { 1 }).map(|pixel| match *pixel {
            [red, green, blue] => [red, green, blue, 255],
            _ => [pixel[0], pixel[0], pixel[0], 255],
        })
    }

    pub(crate) fn array(&self, name: &str) -> Result<Array, ReadError> {
        Array::new(name, &self.bytes, self.shape.clone(), Number { code: 1, bits: 8, foreign: false })
    }
}
