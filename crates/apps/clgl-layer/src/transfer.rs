//! Copies between OpenGL's storage and the driver's: a single copy directly into or out of the driver's mapped memory.

use crate::cl::handles::Handle;
use crate::cl::memory::{MappedBytes, with_buffer, with_image};
use crate::codes::INVALID_GL_OBJECT;
use crate::format::Format;
use crate::gl::pixels::PixelRows;
use crate::gl::texture::LevelShape;
use crate::gl::work::WorkContext;
use crate::object::{GlStorage, SharedObject, StorageShape};
use crate::target::Layout;

/// Copies an object to OpenCL's side, or back; `queue` is one of the layer's own.
pub fn copy(work: &WorkContext, object: &SharedObject, queue: Handle, acquire: bool) -> Result<(), i32> {
    if !acquire && object.read_only {
        return Ok(());
    }
    match object.shape {
        StorageShape::Bytes(bytes) => {
            with_buffer(queue, object.memory, bytes, acquire, |mapped| match &*object.storage {
                GlStorage::Buffer(buffer) if acquire => buffer.read(work, 0, mapped.bytes),
                GlStorage::Buffer(buffer) => buffer.write(work, 0, mapped.bytes),
                _ => Err(INVALID_GL_OBJECT),
            })
        }
        StorageShape::Level(shape, format, Layout::BufferTexels) => {
            let GlStorage::Texture(texture) = &*object.storage else { return Err(INVALID_GL_OBJECT) };
            let (buffer, texels) = texture.buffer().zip(object.texels).ok_or(INVALID_GL_OBJECT)?;
            let (offset, bytes) = (shape.buffer.1, shape.size[0] * format.bytes);
            with_buffer(queue, texels, bytes, acquire, |mapped| {
                if acquire { buffer.read(work, offset, mapped.bytes) } else { buffer.write(work, offset, mapped.bytes) }
            })
        }
        StorageShape::Level(shape, format, layout) => {
            with_image(queue, object.memory, (layout, shape.size, format.bytes), acquire, |mapped| {
                copy_level(work, &object.storage, (shape, format), mapped, acquire)
            })
        }
    }
}

fn copy_level(
    work: &WorkContext,
    storage: &GlStorage,
    (shape, format): (LevelShape, &'static Format),
    mapped: MappedBytes<'_>,
    acquire: bool,
) -> Result<(), i32> {
    let MappedBytes { bytes, row, slice } = mapped;
    let mut rows = PixelRows { bytes, format, size: shape.size, row, slice };
    match storage {
        GlStorage::Texture(texture) if acquire => texture.read(work, &mut rows),
        GlStorage::Texture(texture) => texture.write(work, &rows),
        GlStorage::Renderbuffer(renderbuffer) if acquire => renderbuffer.read(work, &mut rows),
        GlStorage::Renderbuffer(renderbuffer) => renderbuffer.write(work, shape.internal, &rows),
        GlStorage::Buffer(_) => Err(INVALID_GL_OBJECT),
    }
}
