//! Memory made of OpenGL's objects (`cl_khr_gl_sharing`).

use super::{Buffer, Context, Device, Event, Image, MemFlags, Platform, Queue};
use crate::ffi::{self, GlObject, GlShare, Mem, current_device_of, devices_of};
use crate::gl_listed::check_current;
use interop_core::{Error, GlContext, Result};
use std::sync::Arc;

/// Memory made of an object of OpenGL's, for [`Queue::acquire_gl`] and [`Queue::release_gl`] (`mem_objects` of
/// `clEnqueueAcquireGLObjects`).
#[derive(Debug, Clone, Copy)]
pub enum GlMemory<'a> {
    /// A buffer of [`Buffer::from_gl`]: a `cl_mem`.
    Buffer(&'a Buffer),
    /// An image of [`Image::from_gl`]: a `cl_mem`.
    Image(&'a Image),
}

impl<'a> From<&'a Buffer> for GlMemory<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Self::Buffer(buffer)
    }
}

impl<'a> From<&'a Image> for GlMemory<'a> {
    fn from(image: &'a Image) -> Self {
        Self::Image(image)
    }
}

impl<'a> GlMemory<'a> {
    fn parts(self) -> (&'a Context, &'a Mem) {
        match self {
            Self::Buffer(buffer) => (buffer.context(), &buffer.raw),
            Self::Image(image) => (image.context(), &image.raw),
        }
    }

    /// True from [`Queue::acquire_gl`] to [`Queue::release_gl`], and of memory that is no object of OpenGL's; no OpenCL call.
    pub fn is_acquired(self) -> bool {
        !self.parts().1.tracker().is_away()
    }

    /// `CL_GL_OBJECT_*` and the GL name, as the driver says (`clGetGLObjectInfo`).
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the context shares with no OpenGL; [`Error::InvalidInput`] where the memory is no object of
    /// OpenGL's.
    pub fn object(self) -> Result<(u32, u32)> {
        let (context, mem) = self.parts();
        context.gl("clGetGLObjectInfo")?.object_of(mem).map_err(|f| context.error(f))
    }
}

impl Device {
    /// Asks each platform with a device that lists the extension, in the loader's order.
    fn of_gl(
        gl: &dyn GlContext,
        operation: &'static str,
        ask: impl Fn(ffi::PlatformId) -> Result<Vec<ffi::DeviceId>, ffi::Failure>,
    ) -> Result<Vec<Self>> {
        check_current(gl).map_err(|error| error.of(operation))?;
        let mut found = Vec::new();
        for platform in Platform::all()? {
            let mut all = platform.devices()?;
            all.retain(Self::lists_gl_sharing);
            if all.is_empty() {
                continue;
            }
            match ask(platform.0) {
                Ok(ids) => found.extend(ids.iter().filter_map(|id| all.iter().find(|d| d.ids().1 == *id).cloned())),
                Err(failure) => tracing::debug!("a platform cannot share: {}", failure.on(operation)),
            }
        }
        Ok(found)
    }

    /// The devices that share with an OpenGL context, which must be current (`clGetGLContextInfoKHR`,
    /// `CL_DEVICES_FOR_GL_CONTEXT_KHR`). Drivers none of whose devices list `cl_khr_gl_sharing` are not asked.
    ///
    /// # Errors
    /// [`Error::WrongContext`] where the context is not current; those of [`Platform::all`]. No device is an empty list.
    pub fn all_sharing_gl(gl: &dyn GlContext) -> Result<Vec<Self>> {
        Self::of_gl(gl, "clGetGLContextInfoKHR", |platform| devices_of(platform, gl))
    }

    /// The device that an OpenGL context draws with (`clGetGLContextInfoKHR`, `CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR`).
    /// The context must be current. `None` where no driver says that the device is one of its own.
    ///
    /// # Errors
    /// Those of [`Device::all_sharing_gl`].
    pub fn drawing_gl(gl: &dyn GlContext) -> Result<Option<Self>> {
        let ask = |platform| current_device_of(platform, gl).map(|device| device.into_iter().collect());
        Ok(Self::of_gl(gl, "clGetGLContextInfoKHR", ask)?.into_iter().next())
    }
}

impl Context {
    /// True where it was made with [`super::ContextOptions::share_gl`] (`CL_GL_CONTEXT_KHR`).
    pub fn shares_gl(&self) -> bool {
        self.gl_share().is_some()
    }

    fn gl(&self, operation: &'static str) -> Result<&Arc<GlShare>> {
        self.gl_share().ok_or_else(|| Error::Unsupported {
            operation,
            device: self.name().to_owned(),
            reason: "the context was made without OpenGL; use ContextOptions::share_gl".into(),
        })
    }

    /// An event that is complete when OpenGL has done what it was told so far, for wait lists
    /// (`clCreateEventFromGLsyncKHR` of a new fence). The GL context must be current.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where a device lists no `cl_khr_gl_event`; [`Error::WrongContext`].
    pub fn gl_fence(&self) -> Result<Event> {
        const OP: &str = "clCreateEventFromGLsyncKHR";
        let share = self.gl(OP)?;
        for device in self.devices() {
            device.require_extension("cl_khr_gl_event", OP)?;
        }
        share.fence(self)
    }

    /// Lets OpenGL wait for an event: what it is told from now on comes after it (`glCreateSyncFromCLeventARB`). The GL
    /// context must be current. Where it lists no `GL_ARB_cl_event`, this blocks until the command is done.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the context shares with no OpenGL; [`Error::WrongContext`].
    pub fn gl_wait(&self, event: &Event) -> Result<()> {
        const OP: &str = "glCreateSyncFromCLeventARB";
        self.check_same(event.context(), OP, "event")?;
        self.gl(OP)?.wait_for(self, event)
    }

    fn open_gl(&self, object: GlObject, flags: MemFlags, operation: &'static str) -> Result<Arc<Mem>> {
        const MULTISAMPLE: [u32; 2] = [0x9100, 0x9102];
        if let GlObject::Texture { target, .. } = object
            && MULTISAMPLE.contains(&target)
        {
            for device in self.devices() {
                device.require_extension("cl_khr_gl_msaa_sharing", operation)?;
            }
        }
        let share = self.gl(operation)?;
        share.open(self, object, flags.bits()).map(Arc::new)
    }
}

impl Buffer {
    /// An OpenGL buffer with storage as a buffer (`clCreateFromGLBuffer`): the same memory. `flags` are
    /// [`MemFlags::READ_ONLY`], [`MemFlags::WRITE_ONLY`] or [`MemFlags::READ_WRITE`].
    ///
    /// It is OpenGL's until [`Queue::acquire_gl`], and again from [`Queue::release_gl`] on: commands with it are refused
    /// meanwhile. The GL context must be current. The GL object must live as long as this, and keep its storage.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the context shares with no OpenGL; [`Error::WrongContext`]; [`Error::Driver`] for what is
    /// no buffer of the GL context.
    pub fn from_gl(context: &Context, flags: MemFlags, name: u32) -> Result<Self> {
        let raw = context.open_gl(GlObject::Buffer { name }, flags, "clCreateFromGLBuffer")?;
        Self::of_mem(raw, context)
    }
}

impl Image {
    /// A level of an OpenGL texture, or a renderbuffer, as an image (`clCreateFromGLTexture`, `clCreateFromGLRenderbuffer`):
    /// the same memory. For the rest, [`Buffer::from_gl`] says what holds here, too.
    ///
    /// # Errors
    /// Those of [`Buffer::from_gl`]; [`Error::InvalidInput`] for a GL buffer, and for a format that [`super::ImageFormat`] has
    /// no name for.
    pub fn from_gl(context: &Context, flags: MemFlags, object: GlObject) -> Result<Self> {
        let raw = context.open_gl(object, flags, "clCreateFromGLTexture")?;
        Self::of_mem(raw, context)
    }
}

impl Queue {
    fn gl_objects<'a>(
        &self,
        objects: &[GlMemory<'a>],
        operation: &'static str,
    ) -> Result<(Vec<&'a Mem>, &Arc<GlShare>)> {
        let share = self.context().gl(operation)?;
        if objects.is_empty() {
            return Err(Error::invalid(operation, "no object was given"));
        }
        let mem = |object: &GlMemory<'a>| {
            let (context, mem) = object.parts();
            self.context().check_same(context, operation, "memory").map(|()| mem)
        };
        Ok((objects.iter().map(mem).collect::<Result<_>>()?, share))
    }

    /// Begins OpenCL's turn with these objects, all at once (`clEnqueueAcquireGLObjects`), after all that OpenGL was
    /// told before. Where the devices list no `cl_khr_gl_event`, this waits for OpenGL (`glFinish`). What is enqueued
    /// later with them waits for it, on every queue. The GL context must be current.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for no object, one that is acquired already or given twice, and memory that is no object of
    /// OpenGL's; [`Error::WrongContext`]; [`Error::Foreign`]; [`Error::Driver`]. Then none is acquired.
    pub fn acquire_gl(&self, objects: &[GlMemory<'_>], wait: &[Event]) -> Result<Event> {
        const OP: &str = "clEnqueueAcquireGLObjects";
        let (mems, share) = self.gl_objects(objects, OP)?;
        share.acquire(self, &mems, wait)
    }

    /// Ends OpenCL's turn with these objects, all at once (`clEnqueueReleaseGLObjects`), after all commands that use them, of
    /// every queue. Does not block. The GL context must be current.
    ///
    /// Where the devices list `cl_khr_gl_event`, what OpenGL is told afterwards waits on its own; elsewhere wait for the event
    /// ([`Event::wait`]) before OpenGL uses the objects.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for no object, one that is not acquired, given twice or mapped; else those of
    /// [`Queue::acquire_gl`]. Then none is released.
    pub fn release_gl(&self, objects: &[GlMemory<'_>], wait: &[Event]) -> Result<Event> {
        const OP: &str = "clEnqueueReleaseGLObjects";
        let (mems, share) = self.gl_objects(objects, OP)?;
        share.release(self, &mems, wait)
    }
}
