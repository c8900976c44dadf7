//! Buffer objects of the program.

use super::pixels::{PixelRows, Shape};
use super::storage::GlStorage;
use super::work::WorkContext;
use crate::codes::INVALID_GL_OBJECT;
use crate::explain::refuse;

const ELEMENT_ARRAY_BUFFER: u32 = 0x8893;
const BUFFER_SIZE: u32 = 0x8764;

/// A buffer that is shared as an OpenCL object. A vertex array of the layer's own references it, so that its storage
/// survives when the program deletes the name.
#[derive(Debug)]
pub struct SharedBuffer {
    array: u32,
}

impl SharedBuffer {
    /// Opens a buffer that has storage.
    pub fn open(work: &mut WorkContext, name: u32) -> Result<(Self, Shape), i32> {
        let none = || refuse(INVALID_GL_OBJECT, format_args!("buffer {name} does not exist or has no storage"));
        let (gl, mut array) = (&work.gl, 0);
        // SAFETY: names of the layer's own context; one is written.
        unsafe {
            if (gl.is_buffer)(name) == 0 {
                return Err(none());
            }
            (gl.gen_vertex_arrays)(1, &raw mut array);
            (gl.bind_vertex_array)(array);
            (gl.bind_buffer)(ELEMENT_ARRAY_BUFFER, name);
        }
        let buffer = Self { array };
        match buffer.size(work) {
            0 => {
                buffer.close(work);
                Err(none())
            }
            bytes => Ok((buffer, Shape { size: [bytes, 1, 1], internal: 0, buffer: (0, 0) })),
        }
    }

    /// Size of its storage in bytes; 0 without storage.
    pub fn size(&self, work: &WorkContext) -> usize {
        let mut size = 0;
        // SAFETY: a name of the layer's own context; one number is written.
        unsafe {
            (work.gl.bind_vertex_array)(self.array);
            (work.gl.get_buffer_parameter)(ELEMENT_ARRAY_BUFFER, BUFFER_SIZE, &raw mut size);
        }
        usize::try_from(size).unwrap_or(0)
    }
}

impl GlStorage for SharedBuffer {
    fn shape(&self, work: &WorkContext, before: Shape) -> Option<Shape> {
        Some(Shape { size: [self.size(work), 1, 1], ..before })
    }

    /// OpenGL refuses a range outside of the storage.
    fn copy(&self, work: &WorkContext, rows: &mut PixelRows<'_>, read: bool) -> Result<(), i32> {
        let (gl, offset, len) = (&work.gl, rows.shape.buffer.1 as isize, rows.bytes.len() as isize);
        // SAFETY: a name of the layer's own context; as many bytes are written or read as there are.
        unsafe {
            (gl.bind_vertex_array)(self.array);
            if read {
                (gl.get_buffer_sub_data)(ELEMENT_ARRAY_BUFFER, offset, len, rows.bytes.as_mut_ptr().cast());
            } else {
                (gl.buffer_sub_data)(ELEMENT_ARRAY_BUFFER, offset, len, rows.bytes.as_ptr().cast());
            }
        }
        work.check("reading or writing a buffer")
    }

    fn close(&self, work: &mut WorkContext) {
        // SAFETY: the layer's own vertex array.
        unsafe { (work.gl.delete_vertex_arrays)(1, &raw const self.array) };
    }
}
