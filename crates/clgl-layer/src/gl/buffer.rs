//! Buffer objects of the program's.

use super::work::WorkContext;

const ELEMENT_ARRAY_BUFFER: u32 = 0x8893;
const BUFFER_SIZE: u32 = 0x8764;

/// A buffer that an OpenCL object stands for. A vertex array of the layer's own holds it, so that its storage stays when the
/// program deletes the name.
#[derive(Debug)]
pub struct SharedBuffer {
    array: u32,
}

impl SharedBuffer {
    /// `None`: there is no such buffer.
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

    /// Bytes of its storage; 0 where it has none.
    pub fn size(&self, work: &WorkContext) -> usize {
        let mut size = 0;
        self.bind(work);
        // SAFETY: one number is written.
        unsafe { (work.gl.get_buffer_parameter)(ELEMENT_ARRAY_BUFFER, BUFFER_SIZE, &raw mut size) };
        usize::try_from(size).unwrap_or(0)
    }

    /// Reads from an offset on. OpenGL refuses what lies outside the storage.
    pub fn read(&self, work: &WorkContext, offset: usize, bytes: &mut [u8]) -> Result<(), i32> {
        self.bind(work);
        let (offset, len) = (offset as isize, bytes.len() as isize);
        // SAFETY: as many bytes are written as there are.
        unsafe { (work.gl.get_buffer_sub_data)(ELEMENT_ARRAY_BUFFER, offset, len, bytes.as_mut_ptr().cast()) };
        work.check("a buffer is read")
    }

    /// Writes from an offset on. OpenGL refuses what lies outside the storage.
    pub fn write(&self, work: &WorkContext, offset: usize, bytes: &[u8]) -> Result<(), i32> {
        self.bind(work);
        let (offset, len) = (offset as isize, bytes.len() as isize);
        // SAFETY: as many bytes are read as there are.
        unsafe { (work.gl.buffer_sub_data)(ELEMENT_ARRAY_BUFFER, offset, len, bytes.as_ptr().cast()) };
        work.check("a buffer is written")
    }

    pub fn close(&self, work: &WorkContext) {
        // SAFETY: the layer's own vertex array.
        unsafe { (work.gl.delete_vertex_arrays)(1, &raw const self.array) };
    }
}
