//! Memory created from OpenGL objects (`cl_khr_gl_sharing`).

use super::{Buffer, Context, Device, Event, Image, MemFlags, Platform, Queue};
use crate::ffi::{self, GlObject, GlShare, Mem, current_device_of, devices_of};
use crate::gl_support::check_current;
use interop_core::{Error, GlContext, Result};
use std::sync::Arc;

/// Memory created from an OpenGL object, for [`Queue::acquire_gl`] and [`Queue::release_gl`] (`mem_objects` of
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

    /// Returns true between [`Queue::acquire_gl`] and [`Queue::release_gl`], and for memory that is not an OpenGL
    /// object, without an OpenCL call.
    pub fn is_acquired(self) -> bool {
        !self.parts().1.tracker().is_away()
    }

    /// Returns `CL_GL_OBJECT_*` and the GL name, as the driver reports them (`clGetGLObjectInfo`).
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the context does not share with OpenGL; [`Error::InvalidInput`] where the memory is
    /// not an OpenGL object.
    pub fn object(self) -> Result<(u32, u32)> {
        let (context, mem) = self.parts();
        context.gl("clGetGLObjectInfo")?.object_of(mem).map_err(|f| context.error(f))
    }
}

impl Device {
    /// Queries each platform with a device that lists the extension, in the loader's order.
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

    /// Returns the devices that can share with an OpenGL context, which must be current (`clGetGLContextInfoKHR`,
    /// `CL_DEVICES_FOR_GL_CONTEXT_KHR`). Drivers without a device that lists `cl_khr_gl_sharing` are not queried.
    ///
    /// # Errors
    /// [`Error::WrongContext`] where the context is not current; those of [`Platform::all`]. Without such devices the
    /// list is empty.
    pub fn all_sharing_gl(gl: &dyn GlContext) -> Result<Vec<Self>> {
        Self::of_gl(gl, "clGetGLContextInfoKHR", |platform| devices_of(platform, gl))
    }

    /// Returns the device that an OpenGL context draws with (`clGetGLContextInfoKHR`,
    /// `CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR`). The context must be current. `None` where no driver reports that the
    /// device is one of its own.
    ///
    /// # Errors
    /// Those of [`Device::all_sharing_gl`].
    pub fn drawing_gl(gl: &dyn GlContext) -> Result<Option<Self>> {
        let ask = |platform| current_device_of(platform, gl).map(|device| device.into_iter().collect());
        Ok(Self::of_gl(gl, "clGetGLContextInfoKHR", ask)?.into_iter().next())
    }
}

impl Context {
    /// Returns true where it was created with [`super::ContextOptions::share_gl`] (`CL_GL_CONTEXT_KHR`).
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

    /// Returns an event that completes when OpenGL has executed all earlier GL commands, for wait lists
    /// (`clCreateEventFromGLsyncKHR` of a new fence). The GL context must be current.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where a device does not list `cl_khr_gl_event`; [`Error::WrongContext`].
    pub fn gl_fence(&self) -> Result<Event> {
        const OP: &str = "clCreateEventFromGLsyncKHR";
        let share = self.gl(OP)?;
        for device in self.devices() {
            device.require_extension("cl_khr_gl_event", OP)?;
        }
        share.fence(self)
    }

    /// Makes later GL commands wait for an event (`glCreateSyncFromCLeventARB`). The GL context must be current. If it
    /// does not list `GL_ARB_cl_event`, this blocks until the command has completed.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the context does not share with OpenGL; [`Error::WrongContext`].
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
    /// Creates a buffer from an OpenGL buffer with storage (`clCreateFromGLBuffer`): both share the memory. `flags` are
    /// [`MemFlags::READ_ONLY`], [`MemFlags::WRITE_ONLY`] or [`MemFlags::READ_WRITE`].
    ///
    /// It belongs to OpenGL until [`Queue::acquire_gl`], and again after [`Queue::release_gl`]: meanwhile commands that
    /// use it return an error. The GL context must be current. The GL object must live as long as this, and keep its
    /// storage.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the context does not share with OpenGL; [`Error::WrongContext`]; [`Error::Driver`]
    /// for a name that is not a buffer of the GL context.
    pub fn from_gl(context: &Context, flags: MemFlags, name: u32) -> Result<Self> {
        let raw = context.open_gl(GlObject::Buffer { name }, flags, "clCreateFromGLBuffer")?;
        Self::of_mem(raw, context)
    }
}

impl Image {
    /// Creates an image from a level of an OpenGL texture, or from a renderbuffer (`clCreateFromGLTexture`,
    /// `clCreateFromGLRenderbuffer`): both share the memory. The conditions of [`Buffer::from_gl`] apply.
    ///
    /// # Errors
    /// Those of [`Buffer::from_gl`]; [`Error::InvalidInput`] for a GL buffer, and for a format that
    /// [`super::ImageFormat`] does not support.
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

    /// Acquires these objects for OpenCL, all at once (`clEnqueueAcquireGLObjects`), after all earlier GL commands. If
    /// the devices do not list `cl_khr_gl_event`, this waits for OpenGL (`glFinish`). Later commands with them wait for
    /// it, on every queue. The GL context must be current.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an empty list, an object that is already acquired or given twice, and memory that is
    /// not an OpenGL object; [`Error::WrongContext`]; [`Error::Foreign`]; [`Error::Driver`]. After an error, none is
    /// acquired.
    pub fn acquire_gl(&self, objects: &[GlMemory<'_>], wait: &[Event]) -> Result<Event> {
        const OP: &str = "clEnqueueAcquireGLObjects";
        let (mems, share) = self.gl_objects(objects, OP)?;
        share.acquire(self, &mems, wait)
    }

    /// Releases these objects to OpenGL, all at once (`clEnqueueReleaseGLObjects`), after all commands that use them,
    /// on every queue. Does not block. The GL context must be current.
    ///
    /// If the devices list `cl_khr_gl_event`, later GL commands wait automatically; otherwise wait for the event
    /// ([`Event::wait`]) before OpenGL uses the objects.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an empty list, and an object that is not acquired, given twice or mapped; otherwise
    /// those of [`Queue::acquire_gl`]. After an error, none is released.
    pub fn release_gl(&self, objects: &[GlMemory<'_>], wait: &[Event]) -> Result<Event> {
        const OP: &str = "clEnqueueReleaseGLObjects";
        let (mems, share) = self.gl_objects(objects, OP)?;
        share.release(self, &mems, wait)
    }
}
