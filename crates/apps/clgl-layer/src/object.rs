//! An OpenGL object, and the OpenCL memory object that represents it.

use crate::cl::handles::{Handle, OwnHandle};
use crate::cl::memory;
use crate::codes::{INVALID_GL_OBJECT, INVALID_IMAGE_FORMAT_DESCRIPTOR, INVALID_VALUE, OUT_OF_HOST_MEMORY};
use crate::context::SharedContext;
use crate::explain::refuse;
use crate::format::{self, Format};
use crate::gl::buffer::SharedBuffer;
use crate::gl::pixels::Shape;
use crate::gl::renderbuffer::SharedRenderbuffer;
use crate::gl::storage::GlStorage;
use crate::gl::texture::SharedTexture;
use crate::gl::work::WorkContext;
use crate::target::{self, Layout, Target};
use crate::trial::Trial;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

pub struct SharedObject {
    pub context: Arc<SharedContext>,
    pub memory: Handle,
    pub name: GlName,
    pub storage: Arc<dyn GlStorage>,
    /// When the object was made.
    pub shape: Shape,
    pub format: &'static Format,
    pub layout: Layout,
    /// The memory object; for an image of texels the buffer under it, which the image keeps alive.
    pub transferred: Handle,
    /// Kernels only read it, so it need not be copied back.
    pub read_only: bool,
    /// Whether OpenCL has acquired it.
    pub acquired: AtomicBool,
    /// Methods to release and to acquire it.
    trials: [Mutex<Trial>; 2],
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
        let (storage, shape, format, layout) = context.thread().ask(move |work| {
            begun.finish(work);
            open(work, name, target)
        })?;
        let made = create_memory(&context, flags, (shape, format, layout), target);
        let (memory, transferred) = made.inspect_err(|_| {
            // If the thread has ended, so has its context.
            let storage = Arc::clone(&storage);
            let _ = context.thread().post(move |work| storage.close(work));
        })?;
        let object = Self {
            context,
            memory: memory.handle,
            name,
            storage,
            shape,
            format,
            layout,
            transferred,
            read_only: flags == READ_ONLY,
            acquired: AtomicBool::new(false),
            trials: Default::default(),
        };
        Ok((memory, object))
    }

    pub fn trial(&self, acquire: bool) -> MutexGuard<'_, Trial> {
        self.trials[usize::from(acquire)].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses storage that has changed since the memory object was made.
    pub fn check(&self, work: &WorkContext) -> Result<(), i32> {
        if self.storage.shape(work, self.shape) == Some(self.shape) {
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
            storage.close(work);
            drop(context);
        };
        // If the thread has ended, so has its context.
        let _ = self.context.thread().post(end);
    }
}

type StorageAndShape = (Arc<dyn GlStorage>, Shape, &'static Format, Layout);

fn open(work: &mut WorkContext, name: GlName, target: &'static Target) -> Result<StorageAndShape, i32> {
    let (storage, shape, layout): (Arc<dyn GlStorage>, _, _) = match name {
        GlName::Buffer(name) => {
            let (buffer, shape) = SharedBuffer::open(work, name)?;
            return Ok((Arc::new(buffer), shape, &format::BYTES, Layout::Bytes));
        }
        GlName::Texture { level, name, .. } => {
            let (texture, shape) = SharedTexture::open(work, target, level, name)?;
            (Arc::new(texture), shape, target.layout)
        }
        GlName::Renderbuffer(name) => {
            let (renderbuffer, shape) = SharedRenderbuffer::open(work, name)?;
            (Arc::new(renderbuffer), shape, Layout::Plane)
        }
    };
    let Some(format) = format::of(shape.internal) else {
        storage.close(work);
        let why = format_args!("the internal format {:#x} has no equivalent in OpenCL", shape.internal);
        return Err(refuse(INVALID_IMAGE_FORMAT_DESCRIPTOR, why));
    };
    Ok((storage, shape, format, layout))
}

/// Makes the memory object. Returns also the one whose bytes are transferred.
fn create_memory(
    context: &SharedContext,
    flags: u64,
    (shape, format, layout): (Shape, &Format, Layout),
    target: &Target,
) -> Result<(OwnHandle, Handle), i32> {
    let bytes = || memory::create_buffer(context.handle, flags, shape.size[0] * format.bytes).map(OwnHandle::memory);
    if layout == Layout::Bytes {
        let buffer = bytes()?;
        let handle = buffer.handle;
        return Ok((buffer, handle));
    }
    let texels = if layout == Layout::BufferTexels { Some(bytes()?) } else { None };
    let under = texels.as_ref().map(|texels| texels.handle);
    let image = memory::create_image(context.handle, flags, format, target, shape.size, under);
    let image = image.map_err(|code| {
        let why = format_args!("the driver cannot make an image of {shape:?}: {code}");
        let memory = [OUT_OF_HOST_MEMORY, -4, -5].contains(&code);
        refuse(if memory { code } else { INVALID_IMAGE_FORMAT_DESCRIPTOR }, why)
    })?;
    Ok((OwnHandle::memory(image), under.unwrap_or(image)))
}
