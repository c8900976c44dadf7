//! Sharing with OpenGL: opens a device for it, and GL objects of every kind.

use crate::backend_state::BackendState;
use crate::cl::{self, GlMemory, ImageBox, ImageType, MemFlags};
use crate::device::OpenClDevice;
use crate::memory::OpenClMemory;
use crate::sharing::gl_sync::gl_sync;
use crate::sharing::handle_memory::raw;
use crate::sharing::image::OpenClImage;
use crate::sharing::turns::Turns;
use interop_core::describe::error::call;
use interop_core::{ComputeMemory, Error, GlContext, Result, SharedHandle, SurfaceDesc, SyncKind};
use pixelferry_opencl::GlObject;
use std::sync::Arc;

/// Lists the devices that share with an OpenGL context ([`interop_core::Display::hold_gl`]), the context's own device
/// first (`clGetGLContextInfoKHR`, `CL_DEVICES_FOR_GL_CONTEXT_KHR`). The context must be current on this thread.
///
/// Devices that do not list `cl_khr_gl_sharing` are skipped without a call to their driver.
///
/// # Errors
/// [`Error::WrongContext`] where the context is not current; those of [`cl::Platform::all`]. Without such a device the
/// list is empty.
pub fn devices_sharing_gl(gl: &dyn GlContext) -> Result<Vec<OpenClDevice>> {
    call("devices_sharing_gl", || {
        let sharing = cl::Device::all_sharing_gl(gl)?;
        Ok(sharing.iter().filter_map(|device| OpenClDevice::try_from(device).ok()).collect())
    })
}

/// Implements [`interop_core::ComputeBackend::import_surface`]; the caller has checked the capabilities.
pub fn import(shared: &Arc<BackendState>, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
    let len = desc.byte_len()?;
    check_shared(shared)?;
    // The object must match its description.
    let other = |found: [usize; 3], element: usize| {
        let problem =
            format!("the GL object has {found:?} elements of {element} bytes, but its description says {desc}");
        Err(Error::refused(problem))
    };
    match (handle, desc) {
        (SharedHandle::GlBuffer { name }, SurfaceDesc::Buffer(_)) => {
            let buffer = cl::Buffer::from_gl(shared.context(), MemFlags::READ_WRITE, *name)?;
            if buffer.len() < len {
                return other([buffer.len(), 1, 1], 1);
            }
            Ok(Box::new(OpenClMemory::with_turns(shared, buffer, len, Turns::of_gl(shared))))
        }
        (SharedHandle::GlTexture { name, target }, SurfaceDesc::Image(image)) => {
            let object = GlObject::Texture { target: *target, level: 0, name: *name };
            let opened = cl::Image::from_gl(shared.context(), MemFlags::READ_WRITE, object)?;
            let (found, element) = (opened.region(), opened.pixel_size());
            let sides = [image.extent.width as usize, image.extent.height as usize, 1];
            if (found, element) != (sides, image.format.bytes_per_pixel()) {
                return other(found, element);
            }
            Ok(Box::new(OpenClImage::new(shared, opened, Turns::of_gl(shared), *image)?))
        }
        _ => Err(handle.names_no(desc)),
    }
}

fn check_shared(shared: &BackendState) -> Result<()> {
    let reason = "it was not opened in a display's OpenGL context (ComputeBackend::open_in)";
    if shared.gl.is_some() { Ok(()) } else { Err(shared.unsupported(reason.into())) }
}

/// OpenCL's access to a GL object (`cl_mem_flags` of `clCreateFromGLTexture` and similar functions).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GlAccess {
    /// Kernels only read it: `CL_MEM_READ_ONLY`.
    Read,
    /// Kernels only write it: `CL_MEM_WRITE_ONLY`.
    Write,
    /// Kernels read and write it: `CL_MEM_READ_WRITE`.
    #[default]
    ReadWrite,
}

/// A GL object of any kind that one backend opened (`cl_khr_gl_sharing`): a buffer, a renderbuffer, or a level of a
/// texture. Textures may be `GL_TEXTURE_1D`, `_2D`, `_3D`, arrays, faces of cube maps, rectangles and buffer textures.
/// `cl_khr_gl_depth_images` adds depth formats, and `cl_khr_gl_msaa_sharing` multisampled textures.
///
/// OpenCL has the object between [`SharedGlObject::acquire`] and [`SharedGlObject::release`], and OpenGL has it
/// otherwise. Dropping this value releases it; the GL object must live until then. Every call requires the GL context
/// to be current on the thread.
pub struct SharedGlObject {
    memory: Memory,
    turns: Turns,
    shared: Arc<BackendState>,
}

enum Memory {
    Buffer(cl::Buffer),
    Image(cl::Image),
}

impl SharedGlObject {
    /// Opens the object; see [`crate::OpenClBackend::share_gl`].
    pub(crate) fn open(shared: &Arc<BackendState>, object: GlObject, access: GlAccess) -> Result<Self> {
        call("OpenClBackend::share_gl", || {
            check_shared(shared)?;
            let flags = match access {
                GlAccess::Read => MemFlags::READ_ONLY,
                GlAccess::Write => MemFlags::WRITE_ONLY,
                GlAccess::ReadWrite => MemFlags::READ_WRITE,
            };
            let memory = match object {
                GlObject::Buffer { name } => Memory::Buffer(cl::Buffer::from_gl(shared.context(), flags, name)?),
                _ => Memory::Image(cl::Image::from_gl(shared.context(), flags, object)?),
            };
            Ok(Self { memory, turns: Turns::of_gl(shared), shared: shared.clone() })
        })
    }

    fn memory(&self) -> GlMemory<'_> {
        match &self.memory {
            Memory::Buffer(buffer) => buffer.into(),
            Memory::Image(image) => image.into(),
        }
    }

    /// Returns the object as a buffer of [`crate::OpenClBackend::context`], if it is a buffer (`clCreateFromGLBuffer`).
    /// Kernels and all other commands of [`cl::Queue`] accept it between [`SharedGlObject::acquire`] and
    /// [`SharedGlObject::release`], and reject it otherwise.
    pub fn buffer(&self) -> Option<&cl::Buffer> {
        match &self.memory {
            Memory::Buffer(buffer) => Some(buffer),
            Memory::Image(_) => None,
        }
    }

    /// Returns the object as an image of [`crate::OpenClBackend::context`] (`clCreateFromGLTexture`,
    /// `clCreateFromGLRenderbuffer`), for commands between [`SharedGlObject::acquire`] and [`SharedGlObject::release`].
    /// `None` for a buffer.
    pub fn image(&self) -> Option<&cl::Image> {
        match &self.memory {
            Memory::Image(image) => Some(image),
            Memory::Buffer(_) => None,
        }
    }

    /// Returns width, height, and depth or layers in elements (`clGetImageInfo`), or a buffer's bytes (`CL_MEM_SIZE`).
    /// Missing dimensions are 1.
    pub fn size(&self) -> [usize; 3] {
        match &self.memory {
            Memory::Buffer(buffer) => [buffer.len(), 1, 1],
            Memory::Image(image) => match (image.region(), image.image_type()) {
                ([width, layers, _], ImageType::D1Array) => [width, 1, layers],
                (sides, _) => sides,
            },
        }
    }

    /// Returns the bytes of one element: of a pixel in OpenCL's format (`CL_IMAGE_ELEMENT_SIZE`), or 1 for a buffer.
    pub fn element_bytes(&self) -> usize {
        self.image().map_or(1, cl::Image::pixel_size)
    }

    /// Returns `CL_GL_OBJECT_*` and the GL name, as the driver reports them (`clGetGLObjectInfo`).
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn named(&self) -> Result<(u32, u32)> {
        self.memory().object()
    }

    /// Returns the `cl_mem`, for calls of the user's own; it lives as long as this value.
    pub fn raw(&self) -> *mut std::ffi::c_void {
        raw(self.memory())
    }

    /// Sets the synchronisation of the two sides from now on. [`SyncKind::Implicit`] is the default; where the device
    /// does not list `cl_khr_gl_event`, the host waits then, too. [`SyncKind::SharedEvent`] uses events of GL fences,
    /// and [`SyncKind::Finish`] waits on the host.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for other kinds, and for events where the device does not list `cl_khr_gl_event`.
    pub fn set_sync(&mut self, kind: SyncKind) -> Result<()> {
        let sync = gl_sync(&self.shared, kind)?;
        self.turns.set_gl_sync(sync);
        Ok(())
    }

    /// Begins OpenCL's turn, after all earlier OpenGL work (`clEnqueueAcquireGLObjects`). Does nothing during a turn.
    ///
    /// # Errors
    /// [`Error::WrongContext`]; [`Error::Driver`].
    pub fn acquire(&mut self) -> Result<()> {
        self.turns.acquire(&self.shared, self.memory())
    }

    /// Ends OpenCL's turn (`clEnqueueReleaseGLObjects`): OpenGL sees everything written before. Does nothing outside a
    /// turn.
    ///
    /// # Errors
    /// The errors of [`SharedGlObject::acquire`].
    pub fn release(&mut self) -> Result<()> {
        self.turns.release(&self.shared, self.memory())?;
        self.turns.wait(&self.shared)
    }

    /// True from [`SharedGlObject::acquire`] to [`SharedGlObject::release`]; makes no OpenCL call.
    pub fn is_acquired(&self) -> bool {
        self.memory().is_acquired()
    }

    /// Copies a box of `size` elements, starting at `origin`, into tight rows (`clEnqueueReadImage`; for a buffer
    /// `clEnqueueReadBuffer`). Blocks. Multisampled objects are not supported.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] outside a turn, for a box that reaches outside, and for a wrong number of bytes.
    pub fn read(&mut self, origin: [usize; 3], size: [usize; 3], into: &mut [u8]) -> Result<()> {
        self.check(origin, size, into.len())?;
        let queue = self.shared.queue();
        match &self.memory {
            Memory::Buffer(buffer) => queue.read_into(buffer, origin[0], into, &[]),
            Memory::Image(image) => queue.read_image_into(image, &ImageBox { origin, region: size }, into, &[]),
        }
    }

    /// Copies tight rows into a box of `size` elements, starting at `origin` (`clEnqueueWriteImage`; for a buffer
    /// `clEnqueueWriteBuffer`). Blocks. Multisampled objects are not supported.
    ///
    /// # Errors
    /// The errors of [`SharedGlObject::read`].
    pub fn write(&mut self, origin: [usize; 3], size: [usize; 3], from: &[u8]) -> Result<()> {
        self.check(origin, size, from.len())?;
        let queue = self.shared.queue();
        match &self.memory {
            Memory::Buffer(buffer) => queue.write_from(buffer, origin[0], from, &[]),
            Memory::Image(image) => queue.write_image_from(image, &ImageBox { origin, region: size }, from, &[]),
        }
    }

    fn check(&self, origin: [usize; 3], size: [usize; 3], len: usize) -> Result<()> {
        let whole = self.size();
        let inside = (0..3).all(|i| size[i] > 0 && origin[i].checked_add(size[i]).is_some_and(|end| end <= whole[i]));
        if !inside {
            return Err(Error::refused(format!("{size:?} at {origin:?} reaches outside {whole:?}")));
        }
        let bytes = size.iter().product::<usize>() * self.element_bytes();
        if bytes != len {
            return Err(Error::refused(format!("{size:?} has {bytes} bytes, but {len} were given")));
        }
        Ok(())
    }
}

impl Drop for SharedGlObject {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        if let Err(error) = self.release() {
            tracing::warn!(%error, "cannot release a GL object");
        }
    }
}
