//! Buffer objects of the program.

use super::work::WorkContext;

const ELEMENT_ARRAY_BUFFER: u32 = 0x8893;
const BUFFER_SIZE: u32 = 0x8764;

/// A buffer that is shared as an OpenCL object. A vertex array of the layer's own references it, so that its storage
/// survives when the program deletes the name.
#[derive(Debug)]
pub struct SharedBuffer {
    array: u32,
}

impl SharedBuffer {
    /// Returns `None` for an unknown buffer.
    pub fn open(work: &WorkContext, name: u32) -> Option<Self> {
        let gl = &work.gl;
        let mut array = 0;
        // SAFETY: names of the layer's own context; one is written.
        unsafe {
            if (gl.is_buffer)(name) == 0 {
                return None;
            }
            (gl.gen_vertex_arrays)(1, &raw mut array);
            (gl.bind_vertex_array)(array);
            (gl.bind_buffer)(ELEMENT_ARRAY_BUFFER, name);
        }
        Some(Self { array })
    }

    fn bind(&self, work: &WorkContext) {
        // SAFETY: a name of the layer's own context.
        unsafe { (work.gl.bind_vertex_array)(self.array) };
    }

    /// Size of its storage in bytes; 0 without storage.
    pub fn size(&self, work: &WorkContext) -> usize {
        let mut size = 0;
        self.bind(work);
        // SAFETY: one number is written.
        unsafe { (work.gl.get_buffer_parameter)(ELEMENT_ARRAY_BUFFER, BUFFER_SIZE, &raw mut size) };
        usize::try_from(size).unwrap_or(0)
    }

    /// Reads from an offset on. OpenGL refuses a range outside of the storage.
    pub fn read(&self, work: &WorkContext, offset: usize, bytes: &mut [u8]) -> Result<(), i32> {
        self.bind(work);
        let (offset, len) = (offset as isize, bytes.len() as isize);
        // SAFETY: as many bytes are written as there are.
        unsafe { (work.gl.get_buffer_sub_data)(ELEMENT_ARRAY_BUFFER, offset, len, bytes.as_mut_ptr().cast()) };
        work.check("reading a buffer")
    }

    /// Writes from an offset on. OpenGL refuses a range outside of the storage.
    pub fn write(&self, work: &WorkContext, offset: usize, bytes: &[u8]) -> Result<(), i32> {
        self.bind(work);
        let (offset, len) = (offset as isize, bytes.len() as isize);
        // SAFETY: as many bytes are read as there are.
        unsafe { (work.gl.buffer_sub_data)(ELEMENT_ARRAY_BUFFER, offset, len, bytes.as_ptr().cast()) };
        work.check("writing a buffer")
    }

    pub fn close(&self, work: &WorkContext) {
        // SAFETY: the layer's own vertex array.
        unsafe { (work.gl.delete_vertex_arrays)(1, &raw const self.array) };
    }
}
