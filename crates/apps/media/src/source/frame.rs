//! A frame of a video.

use super::error::SourceError;
use crate::yuv::{Layout, Planes};
use interop_core::Extent;

/// A frame of a video, in the planes that the decoder produced.
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

    /// Width and height in pixels.
    pub const fn extent(&self) -> Extent {
        self.planes.extent()
    }

    /// Layout, depth and colours of its planes.
    pub const fn planes(&self) -> &Planes {
        &self.planes
    }

    /// Its bytes, plane by plane.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns whether the frame has no colours.
    pub fn is_grey(&self) -> bool {
        self.planes.layout() == Layout::Grey
    }

    /// Converts to red, green and blue, 8 bits each, in tight rows, top row first. The video's transfer curve is kept,
    /// which is usually close to sRGB's.
    pub fn rgb(&self) -> Vec<u8> {
        // The bytes have exactly the picture's size.
        self.planes.rgb(&self.bytes).unwrap_or_default()
    }

    /// Like [`Frame::rgb`] with alpha 255: pixels of [`interop_core::PixelFormat::Rgba8`].
    pub fn rgba(&self) -> Vec<u8> {
        self.planes.rgba(&self.bytes).unwrap_or_default()
    }

    /// Grey of all pixels if the frame has no colours; empty otherwise.
    pub fn grey(&self) -> Vec<u8> {
        self.planes.grey(&self.bytes).unwrap_or_default()
    }
}
