//! An OpenGL object, and the OpenCL memory object that represents it.

use crate::cl::handles::{Handle, OwnHandle};
use crate::cl::memory;
use crate::codes::{INVALID_GL_OBJECT, INVALID_IMAGE_FORMAT_DESCRIPTOR, INVALID_VALUE, OUT_OF_HOST_MEMORY};
use crate::context::SharedContext;
use crate::explain::refuse;
use crate::format::{self, Format};
use crate::gl::buffer::SharedBuffer;
use crate::gl::renderbuffer::SharedRenderbuffer;
use crate::gl::texture::{LevelShape, SharedTexture};
use crate::gl::work::WorkContext;
use crate::target::{self, Layout, Target};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// `CL_MEM_READ_WRITE`, `CL_MEM_WRITE_ONLY`, `CL_MEM_READ_ONLY`.
const ACCESS: [u64; 3] = [1, 2, 4];
const READ_ONLY: u64 = 4;

/// What the program names.
#[derive(Clone, Copy, Debug)]
pub enum GlName {
    Buffer(u32),
    Texture { target: u32, level: i32, name: u32 },
    Renderbuffer(u32),
}

/// OpenGL's side of an object; only for the thread that has the layer's context.
pub enum GlStorage {
    Buffer(SharedBuffer),
    Texture(SharedTexture),
    Renderbuffer(SharedRenderbuffer),
}

/// Size and kind of storage when the object was made.
#[derive(Clone, Copy)]
pub enum StorageShape {
    Bytes(usize),
    Level(LevelShape, &'static Format, Layout),
}

pub struct SharedObject {
    pub context: Arc<SharedContext>,
    pub memory: Handle,
    pub name: GlName,
    pub storage: Arc<GlStorage>,
    pub shape: StorageShape,
    /// The buffer of an image of texels; the image keeps it alive.
    pub texels: Option<Handle>,
    /// Kernels only read it, so it need not be copied back.
    pub read_only: bool,
    /// Whether OpenCL has acquired it.
    pub acquired: AtomicBool,
}

impl SharedObject {
    /// Makes a memory object of the driver for an OpenGL object.
    pub fn create(context: Arc<SharedContext>, flags: u64, name: GlName) -> Result<(OwnHandle, Self), i32> {
        if flags != 0 && !ACCESS.contains(&flags) {
            return Err(refuse(INVALID_VALUE, format_args!("invalid flags {flags:#x} for an OpenGL object")));
        }
        let target = match name {
            GlName::Texture { target: name, .. } => {
                target::of(name).ok_or_else(|| refuse(INVALID_VALUE, format_args!("unsupported target {name:#x}")))?
            }
            _ => &Target::RENDERBUFFER,
        };
        // The calling thread's submitted work may include creating the storage.
        let begun = context.program_work();
        let (storage, shape) = context.thread().ask(move |work| {
            begun.finish(work);
            open(work, name, target)
        })?;
        let made = create_memory(&context, flags, shape, target);
        let (memory, texels) = match made {
            Ok(made) => made,
            Err(code) => {
                // If the thread has ended, so has its context.
                let _ = context.thread().post(move |work| close(work, &storage));
                return Err(code);
            }
        };
        let object = Self {
            context,
            memory: memory.handle,
            name,
            storage: Arc::new(storage),
            shape,
            texels,
            read_only: flags == READ_ONLY,
            acquired: AtomicBool::new(false),
        };
        Ok((memory, object))
    }

    /// Refuses storage that has changed since the memory object was made.
    pub fn check(&self, work: &WorkContext) -> Result<(), i32> {
        let same = match (&*self.storage, self.shape) {
            (GlStorage::Buffer(buffer), StorageShape::Bytes(bytes)) => buffer.size(work) == bytes,
            (GlStorage::Texture(texture), StorageShape::Level(shape, ..)) => {
                let inside = texture.buffer().is_none_or(|buffer| buffer.size(work) >= bytes_to(self.shape));
                inside && texture.shape(work) == Some(shape)
            }
            (GlStorage::Renderbuffer(renderbuffer), StorageShape::Level(shape, ..)) => {
                renderbuffer.shape(work, shape) == Some(shape)
            }
            _ => false,
        };
        if same {
            return Ok(());
        }
        let why = "is gone, or has other storage than when it was opened";
        Err(refuse(INVALID_GL_OBJECT, format_args!("{:?} {why}", self.name)))
    }
}

impl Drop for SharedObject {
    fn drop(&mut self) {
        let (storage, context) = (Arc::clone(&self.storage), Arc::clone(&self.context));
        // The driver's callback thread must not destroy a context; this may be the layer's worker's job.
        let end = move |work: &mut WorkContext| {
            close(work, &storage);
            drop(context);
        };
        // If the thread has ended, so has its context.
        let _ = self.context.thread().post(end);
    }
}

fn open(work: &mut WorkContext, name: GlName, target: &'static Target) -> Result<(GlStorage, StorageShape), i32> {
    let (storage, level, layout) = match name {
        GlName::Buffer(name) => {
            let none = || refuse(INVALID_GL_OBJECT, format_args!("buffer {name} does not exist or has no storage"));
            let buffer = SharedBuffer::open(work, name).ok_or_else(none)?;
            let bytes = buffer.size(work);
            if bytes == 0 {
                buffer.close(work);
                return Err(none());
            }
            return Ok((GlStorage::Buffer(buffer), StorageShape::Bytes(bytes)));
        }
        GlName::Texture { level, name, .. } => {
            let (texture, shape) = SharedTexture::open(work, target, level, name)?;
            (GlStorage::Texture(texture), shape, target.layout)
        }
        GlName::Renderbuffer(name) => {
            let (renderbuffer, shape) = SharedRenderbuffer::open(work, name)?;
            (GlStorage::Renderbuffer(renderbuffer), shape, Layout::Plane)
        }
    };
    let Some(format) = format::of(level.internal) else {
        close(work, &storage);
        let why = "has no equivalent in OpenCL";
        return Err(refuse(
            INVALID_IMAGE_FORMAT_DESCRIPTOR,
            format_args!("the internal format {:#x} {why}", level.internal),
        ));
    };
    Ok((storage, StorageShape::Level(level, format, layout)))
}

fn close(work: &mut WorkContext, storage: &GlStorage) {
    match storage {
        GlStorage::Buffer(buffer) => buffer.close(work),
        GlStorage::Texture(texture) => texture.close(work),
        GlStorage::Renderbuffer(renderbuffer) => renderbuffer.close(work),
    }
}

/// Bytes of a buffer up to the last one that belongs to the object.
fn bytes_to(shape: StorageShape) -> usize {
    match shape {
        StorageShape::Bytes(bytes) => bytes,
        StorageShape::Level(level, format, _) => level.buffer.1 + level.size[0] * format.bytes,
    }
}

/// Makes the memory object, and for an image of texels the buffer under it.
fn create_memory(
    context: &SharedContext,
    flags: u64,
    shape: StorageShape,
    target: &Target,
) -> Result<(OwnHandle, Option<Handle>), i32> {
    let (level, format, layout) = match shape {
        StorageShape::Bytes(bytes) => {
            return Ok((OwnHandle::memory(memory::create_buffer(context.handle, flags, bytes)?), None));
        }
        StorageShape::Level(level, format, layout) => (level, format, layout),
    };
    let texels = if layout == Layout::BufferTexels {
        let bytes = level.size[0] * format.bytes;
        Some(OwnHandle::memory(memory::create_buffer(context.handle, flags, bytes)?))
    } else {
        None
    };
    let under = texels.as_ref().map(|texels| texels.handle);
    let image = memory::create_image(context.handle, flags, format, target, level.size, under);
    let image = image.map_err(|code| {
        let why = format_args!("the driver cannot make an image of {level:?}: {code}");
        let memory = [OUT_OF_HOST_MEMORY, -4, -5].contains(&code);
        refuse(if memory { code } else { INVALID_IMAGE_FORMAT_DESCRIPTOR }, why)
    })?;
    // The image keeps the buffer alive.
    Ok((OwnHandle::memory(image), under))
}
