//! A frame of a video.

use super::error::SourceError;
use crate::yuv::{Layout, Planes};
use interop_core::Extent;

/// A frame of a video, in the planes that it was decoded to.
#[derive(Clone)]
pub struct Frame {
    planes: Planes,
    bytes: Vec<u8>,
}

impl Frame {
    pub(super) fn new(planes: Planes, bytes: Vec<u8>) -> Result<Self, SourceError> {
        let (needed, there) = (planes.bytes(), bytes.len());
        if needed == there { Ok(Self { planes, bytes }) } else { Err(SourceError::Decoded { needed, there }) }
    }

    /// Columns and rows.
    pub const fn extent(&self) -> Extent {
        self.planes.extent()
    }

    /// Order, depth and places of its planes.
    pub const fn planes(&self) -> &Planes {
        &self.planes
    }

    /// Its bytes, plane by plane.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// True where it has no colours.
    pub fn is_grey(&self) -> bool {
        self.planes.layout() == Layout::Grey
    }

    /// Red, green and blue of all pixels in tight rows from the top, 8 bits each, with the curve that the video has: mostly close
    /// to sRGB's.
    pub fn rgb(&self) -> Vec<u8> {
        // It has the bytes of one picture.
        self.planes.rgb(&self.bytes).unwrap_or_default()
    }

    /// The same with a fourth number, 255: pixels of [`interop_core::PixelFormat::Rgba8`].
    pub fn rgba(&self) -> Vec<u8> {
        self.planes.rgba(&self.bytes).unwrap_or_default()
    }

    /// Grey of all pixels, of a frame without colours; else empty.
    pub fn grey(&self) -> Vec<u8> {
        self.planes.grey(&self.bytes).unwrap_or_default()
    }
}
