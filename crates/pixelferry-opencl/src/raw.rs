//! The driver's own objects: given out, and taken from others. Getting one is safe; what is done with it is the caller's. Taking
//! one is `unsafe`, because nothing tells an object from any other address. Each value has a reference of its own
//! (`clRetain*`), which goes with it.

use super::{Buffer, Context, Device, Event, Image, ImageFormat, ImageType, Kernel, Platform, Program, Queue, Sampler};
use crate::QueueOptions;
use crate::ffi::adopt::adopt_in;
use crate::ffi::handle::{ContextKind, EventKind, Handle, QueueKind};
use crate::ffi::notify::Listening;
use crate::ffi::query::{array, sizes};
use crate::ffi::{self, Failure, Mem};
use crate::ffi::{DeviceId, PlatformId};
use cl3::command_queue as q;
use cl3::context::CL_CONTEXT_DEVICES;
use cl3::device as d;
use cl3::event as ev;
use cl3::memory as m;
use interop_core::{Error, Result};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

impl Platform {
    /// The `cl_platform_id`, for calls of the user's own.
    pub fn raw(self) -> *mut c_void {
        self.0.raw()
    }

    /// The platform of that `cl_platform_id`, looked for among all (`clGetPlatformIDs`).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where there is none; those of [`Platform::all`].
    pub fn from_raw(raw: *mut c_void) -> Result<Self> {
        let found = Self::all()?.into_iter().find(|platform| platform.raw() == raw);
        found.ok_or_else(|| Error::invalid("clGetPlatformIDs", format!("there is no platform at {raw:?}")))
    }
}

impl Device {
    /// The `cl_device_id`, for calls of the user's own; that of a part lives as long as this.
    pub fn raw(&self) -> *mut c_void {
        self.ids().1.raw()
    }

    /// The device of that `cl_device_id`, and the parents of a part (`clRetainDevice`, `CL_DEVICE_PARENT_DEVICE`).
    ///
    /// # Safety
    /// `raw` is a live `cl_device_id`.
    ///
    /// # Errors
    /// [`Error::Driver`] where the device does not answer.
    pub unsafe fn from_raw(raw: *mut c_void) -> Result<Self> {
        let error = |failure: Failure| failure.on("an OpenCL device");
        let address = |param| DeviceId(raw).array(param).map(usize::from_ne_bytes).map_err(error);
        let platform = PlatformId::from_property(address(d::CL_DEVICE_PLATFORM)?.cast_signed());
        let above = address(d::CL_DEVICE_PARENT_DEVICE)?;
        if above == 0 {
            return Self::root(platform, DeviceId(raw));
        }
        // SAFETY: the caller's promise.
        let owner = unsafe { Handle::adopt(raw) }.map_err(error)?;
        // SAFETY: a part keeps what it is a part of.
        let parent = unsafe { Self::from_raw(ptr::with_exposed_provenance_mut(above)) }?;
        Self::part(owner, &parent)
    }
}

impl Context {
    /// The `cl_context`, for calls of the user's own; it lives as long as this.
    pub fn raw(&self) -> *mut c_void {
        self.handle().raw()
    }

    /// References that the driver counts, its own among them (`CL_CONTEXT_REFERENCE_COUNT`): for a look at leaks, since it
    /// may be another a moment later.
    pub fn reference_count(&self) -> Result<u32> {
        self.handle().references().map_err(|f| self.error(f))
    }

    /// The error of a call of the program's own, made with [`Context::raw`] and its like: the name of the driver's code (a
    /// `cl_int`), and what to do.
    pub fn driver_error(&self, call: &'static str, code: i32) -> Error {
        self.error(Failure { operation: call, code })
    }

    /// The context of that `cl_context`, with a reference of its own (`clRetainContext`), and its devices
    /// (`CL_CONTEXT_DEVICES`). Objects of two values over one `cl_context` go together. What the driver reports of errors
    /// goes to whoever made the context.
    ///
    /// # Safety
    /// `raw` is a live `cl_context`.
    ///
    /// # Errors
    /// [`Error::Driver`] where the driver does not answer.
    pub unsafe fn from_raw(raw: *mut c_void) -> Result<Self> {
        let error = |failure: Failure| failure.on("an OpenCL context");
        // SAFETY: the caller's promise.
        let handle: Handle<ContextKind> = unsafe { Handle::adopt(raw) }.map_err(error)?;
        let devices = sizes(&handle.info(CL_CONTEXT_DEVICES).map_err(error)?).into_iter();
        // SAFETY: a context keeps its devices.
        let devices = devices.map(|device| unsafe { Device::from_raw(ptr::with_exposed_provenance_mut(device)) });
        Ok(Self::of(handle, Listening::new(None), devices.collect::<Result<_>>()?, None))
    }
}

impl Queue {
    /// The `cl_command_queue`, for calls of the user's own; it lives as long as this. What is enqueued there by others is
    /// not known to maps of memory that it uses.
    pub fn raw(&self) -> *mut c_void {
        self.handle().raw()
    }

    /// References that the driver counts (`CL_QUEUE_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.handle().references().map_err(|f| self.error(f))
    }

    /// The queue of that `cl_command_queue`, with a reference of its own (`clRetainCommandQueue`).
    ///
    /// # Safety
    /// `raw` is a live `cl_command_queue` on the host.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a queue of another context (`CL_QUEUE_CONTEXT`).
    pub unsafe fn from_raw(context: &Context, raw: *mut c_void) -> Result<Self> {
        let error = |failure| context.error(failure);
        // SAFETY: the caller's promise.
        let handle: Handle<QueueKind> = unsafe { adopt_in(context, raw) }.map_err(error)?;
        let device = handle.object(q::CL_QUEUE_DEVICE).map_err(error)?;
        let device = context.devices().iter().find(|own| own.raw() == device);
        let device = device.ok_or_else(|| context.foreign("clGetCommandQueueInfo", "device"))?;
        let bits = handle.info(q::CL_QUEUE_PROPERTIES).and_then(|bytes| array("clGetCommandQueueInfo", &bytes));
        let options = QueueOptions::from_bits(u64::from_ne_bytes(bits.map_err(error)?));
        Self::of(handle, context, device, options)
    }
}

impl Event {
    /// The `cl_event`, for calls of the user's own; it lives as long as this.
    pub fn raw(&self) -> *mut c_void {
        self.lone.raw()
    }

    /// References that the driver counts (`CL_EVENT_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.lone.references().map_err(|f| self.context().error(f))
    }

    /// The event of that `cl_event`, with a reference of its own (`clRetainEvent`).
    ///
    /// # Safety
    /// `raw` is a live `cl_event`.
    ///
    /// # Errors
    /// [`Error::Foreign`] for an event of another context (`CL_EVENT_CONTEXT`).
    pub unsafe fn from_raw(context: &Context, raw: *mut c_void) -> Result<Self> {
        let error = |failure| context.error(failure);
        // SAFETY: the caller's promise.
        let handle: Handle<EventKind> = unsafe { adopt_in(context, raw) }.map_err(error)?;
        let queue = handle.object(ev::CL_EVENT_COMMAND_QUEUE).map_err(error)?;
        // SAFETY: the queue lives at least as long as the event of a command in it.
        let queue = if queue.is_null() { None } else { Some(unsafe { Queue::from_raw(context, queue) }?) };
        if queue.is_none() {
            // An event of the program's own, which others set: when, nobody here is told.
            context.may_fail().begin();
        }
        Ok(Self::of(context, handle, queue))
    }
}

/// Returns what [`Buffer::from_raw`] and [`Image::from_raw`] have in common.
///
/// # Safety
/// That of [`Buffer::from_raw`].
unsafe fn mem_from_raw(context: &Context, raw: *mut c_void) -> Result<Arc<Mem>> {
    // SAFETY: the caller's promise.
    unsafe { Mem::adopt(context, raw) }.map_err(|f| context.error(f))
}

impl Buffer {
    /// The `cl_mem`, for calls of the user's own; it lives as long as this. What others enqueue with it is not known to
    /// maps and host closures.
    pub fn raw(&self) -> *mut c_void {
        self.raw.raw()
    }

    /// References that the driver counts (`CL_MEM_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.raw.references().map_err(|f| self.context.error(f))
    }

    /// The buffer of that `cl_mem`, with a reference of its own (`clRetainMemObject`); of a part, the buffer that it is of
    /// as well.
    ///
    /// # Safety
    /// `raw` is a live `cl_mem`. Commands that are not enqueued through this value, its clones and parts are not known
    /// to it. None of them writes bytes that a map or a host closure of this value shows, and none uses bytes that
    /// these write.
    ///
    /// # Errors
    /// [`Error::Foreign`] for memory of another context (`CL_MEM_CONTEXT`), [`Error::InvalidInput`] for an image.
    pub unsafe fn from_raw(context: &Context, raw: *mut c_void) -> Result<Self> {
        // SAFETY: the caller's promise.
        Self::of_mem(unsafe { mem_from_raw(context, raw) }?, context)
    }
}

impl Image {
    /// The `cl_mem`, for calls of the user's own; it lives as long as this. What others enqueue with it is not known to
    /// maps.
    pub fn raw(&self) -> *mut c_void {
        self.raw.raw()
    }

    /// References that the driver counts (`CL_MEM_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.raw.references().map_err(|f| self.context.error(f))
    }

    /// The image of that `cl_mem`, with a reference of its own (`clRetainMemObject`).
    ///
    /// # Safety
    /// That of [`Buffer::from_raw`].
    ///
    /// # Errors
    /// [`Error::Foreign`] for memory of another context (`CL_MEM_CONTEXT`), [`Error::InvalidInput`] for a buffer, and for a
    /// format that this crate has no name for.
    pub unsafe fn from_raw(context: &Context, raw: *mut c_void) -> Result<Self> {
        // SAFETY: the caller's promise.
        Self::of_mem(unsafe { mem_from_raw(context, raw) }?, context)
    }

    /// An image of which nothing is known but that it is one.
    pub(crate) fn of_mem(raw: Arc<Mem>, context: &Context) -> Result<Self> {
        const OP: &str = "clGetImageInfo";
        let kind = raw.kind().map_err(|f| context.error(f))?;
        let Some(image_type) = ImageType::from_code(kind) else {
            return Err(Error::invalid("clGetMemObjectInfo", format!("CL_MEM_TYPE {kind:#x} is no image")));
        };
        let codes = raw.image_format().map_err(|f| context.error(f))?;
        let format = ImageFormat::from_codes(codes).ok_or_else(|| {
            Error::invalid(OP, format!("the image format {:#x}, {:#x} is not supported", codes[0], codes[1]))
        })?;
        let side = |param| raw.image_size(param).map_err(|f| context.error(f));
        let (w, h) = (side(m::CL_IMAGE_WIDTH)?, side(m::CL_IMAGE_HEIGHT)?);
        let (d, layers) = (side(m::CL_IMAGE_DEPTH)?, side(m::CL_IMAGE_ARRAY_SIZE)?);
        let region = match image_type {
            ImageType::D1 | ImageType::D1Buffer => [w, 1, 1],
            ImageType::D1Array => [w, layers, 1],
            ImageType::D2 => [w, h, 1],
            ImageType::D2Array => [w, h, layers],
            ImageType::D3 => [w, h, d],
        };
        Self::of(Ok(raw), context, format, image_type, region)
    }
}

impl Sampler {
    /// The `cl_sampler`, for calls of the user's own; it lives as long as this.
    pub fn raw(&self) -> *mut c_void {
        self.handle.raw()
    }

    /// References that the driver counts (`CL_SAMPLER_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.handle.references().map_err(|f| self.context.error(f))
    }

    /// The sampler of that `cl_sampler`, with a reference of its own (`clRetainSampler`).
    ///
    /// # Safety
    /// `raw` is a live `cl_sampler`.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a sampler of another context (`CL_SAMPLER_CONTEXT`).
    pub unsafe fn from_raw(context: &Context, raw: *mut c_void) -> Result<Self> {
        // SAFETY: the caller's promise.
        let handle = unsafe { adopt_in(context, raw) }.map_err(|f| context.error(f))?;
        Ok(Self { handle: Arc::new(handle), context: context.clone() })
    }
}

impl Program {
    /// The `cl_program`, for calls of the user's own; it lives as long as this.
    pub fn raw(&self) -> *mut c_void {
        self.raw.raw()
    }

    /// References that the driver counts (`CL_PROGRAM_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.raw.references().map_err(|f| self.context().error(f))
    }

    /// The program of that `cl_program`, which was built, with a reference of its own (`clRetainProgram`). Its devices are
    /// those of which the driver says that the build went well (`CL_PROGRAM_BUILD_STATUS`); PoCL 3.1 says it of all.
    ///
    /// # Safety
    /// `raw` is a live `cl_program` that was built, and the caller vouches for its kernels, as [`Program`] says.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a program of another context (`CL_PROGRAM_CONTEXT`).
    pub unsafe fn from_raw(context: &Context, raw: *mut c_void) -> Result<Self> {
        // SAFETY: the caller's promise.
        let raw = unsafe { ffi::Program::adopt(context, raw) }.map_err(|f| context.error(f))?;
        let built = |device: &&Device| raw.status(device) == Ok(cl3::program::CL_BUILD_SUCCESS);
        let devices: Vec<_> = context.devices().iter().filter(built).cloned().collect();
        Ok(Self::of(raw, context, &devices))
    }
}

impl Kernel {
    /// The `cl_kernel`, for calls of the user's own; it lives as long as this. A launch sets all its arguments.
    pub fn raw(&self) -> *mut c_void {
        self.raw.raw()
    }

    /// References that the driver counts (`CL_KERNEL_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.raw.references().map_err(|f| self.program().context().error(f))
    }

    /// The kernel of that `cl_kernel`, of a program, with a reference of its own (`clRetainKernel`).
    ///
    /// # Safety
    /// `raw` is a live `cl_kernel`, and nobody else sets its arguments while this value is launched.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a kernel of another program (`CL_KERNEL_PROGRAM`).
    pub unsafe fn from_raw(program: &Program, raw: *mut c_void) -> Result<Self> {
        let context = program.context();
        // SAFETY: the caller's promise.
        let adopted = unsafe { ffi::Kernel::adopt(context, &program.raw, raw) };
        let (raw, name) = adopted.map_err(|f| context.error(f))?;
        Self::new(raw, program, &name, None)
    }
}
