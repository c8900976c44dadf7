//! Rows of pixels in host memory, between OpenGL and OpenCL.

use super::functions::Gl;
use crate::format::Format;

/// Shape of an object's storage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// For a buffer its bytes.
    pub size: [usize; 3],
    pub internal: u32,
    /// For a buffer's texels: the buffer's name, and their offset.
    pub buffer: (u32, usize),
}

/// Pixels of a whole level, from the first byte to the last.
pub struct PixelRows<'a> {
    pub bytes: &'a mut [u8],
    pub format: &'static Format,
    pub shape: Shape,
    /// Bytes from row to row, and from slice to slice.
    pub row: usize,
    pub slice: usize,
}

const PACK_ROW_LENGTH: u32 = 0x0D02;
const PACK_IMAGE_HEIGHT: u32 = 0x806C;
const PACK_ALIGNMENT: u32 = 0x0D05;
const UNPACK_ROW_LENGTH: u32 = 0x0CF2;
const UNPACK_IMAGE_HEIGHT: u32 = 0x806E;
const UNPACK_ALIGNMENT: u32 = 0x0CF5;

impl PixelRows<'_> {
    /// Describes their layout to OpenGL; `false` if OpenGL cannot express it.
    pub fn describe(&self, gl: &Gl) -> bool {
        let pixel = self.format.bytes;
        let whole = self.row.is_multiple_of(pixel) && self.slice.is_multiple_of(self.row);
        if !whole || self.bytes.len() < self.needed() {
            return false;
        }
        let length = (self.row / pixel) as i32;
        // Mesa treats the lines of an array of 1D textures as slices of this height.
        let height = if self.shape.size[2] > 1 { (self.slice / self.row) as i32 } else { 0 };
        // SAFETY: numbers of the layer's own context.
        unsafe {
            for (row_length, image_height, alignment) in [
                (PACK_ROW_LENGTH, PACK_IMAGE_HEIGHT, PACK_ALIGNMENT),
                (UNPACK_ROW_LENGTH, UNPACK_IMAGE_HEIGHT, UNPACK_ALIGNMENT),
            ] {
                (gl.pixel_store)(row_length, length);
                (gl.pixel_store)(image_height, height);
                (gl.pixel_store)(alignment, 1);
            }
        }
        true
    }

    /// Number of bytes that OpenGL accesses.
    fn needed(&self) -> usize {
        let [width, height, depth] = self.shape.size;
        (depth - 1) * self.slice + (height - 1) * self.row + width * self.format.bytes
    }
}
