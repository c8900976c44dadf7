//! The driver's own objects: access to them, and wrapping of existing ones. Access is safe; the caller is responsible
//! for its use. Wrapping is `unsafe`, because an object cannot be distinguished from any other address. Each value has
//! its own reference (`clRetain*`), which its drop releases.

use super::{Buffer, Context, Device, Event, Image, ImageFormat, ImageType, Kernel, Platform, Program, Queue, Sampler};
use crate::QueueOptions;
use crate::ffi::adopt::adopt_in;
use crate::ffi::handle::{ContextKind, EventKind, Handle, QueueKind};
use crate::ffi::notify::ListenerSlot;
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
    /// Returns the `cl_platform_id`, for calls of the user.
    pub fn raw(self) -> *mut c_void {
        self.0.raw()
    }

    /// Returns the platform of a `cl_platform_id`, found among all (`clGetPlatformIDs`).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where no platform has it; those of [`Platform::all`].
    pub fn from_raw(raw: *mut c_void) -> Result<Self> {
        let found = Self::all()?.into_iter().find(|platform| platform.raw() == raw);
        found.ok_or_else(|| Error::invalid("clGetPlatformIDs", format!("there is no platform at {raw:?}")))
    }
}

impl Device {
    /// Returns the `cl_device_id`, for calls of the user; that of a part lives as long as this.
    pub fn raw(&self) -> *mut c_void {
        self.ids().1.raw()
    }

    /// Wraps a `cl_device_id`, with the parents of a part (`clRetainDevice`, `CL_DEVICE_PARENT_DEVICE`).
    ///
    /// # Safety
    /// `raw` is a live `cl_device_id`.
    ///
    /// # Errors
    /// [`Error::Driver`] where the queries of the device fail.
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
    /// Returns the `cl_context`, for calls of the user; it lives as long as this.
    pub fn raw(&self) -> *mut c_void {
        self.handle().raw()
    }

    /// Returns the number of references that the driver counts, including its own (`CL_CONTEXT_REFERENCE_COUNT`). It
    /// may change at any time, so use it only to find leaks.
    pub fn reference_count(&self) -> Result<u32> {
        self.handle().references().map_err(|f| self.error(f))
    }

    /// Returns the error of a call that the program made with [`Context::raw`] and similar methods: the name of the
    /// driver's code (a `cl_int`), and a hint.
    pub fn driver_error(&self, call: &'static str, code: i32) -> Error {
        self.error(Failure { operation: call, code })
    }

    /// Wraps a `cl_context`, with its own reference (`clRetainContext`), and its devices (`CL_CONTEXT_DEVICES`).
    /// Objects of two values of one `cl_context` can be combined. Errors that the driver reports for the context go to
    /// the callback of its creator.
    ///
    /// # Safety
    /// `raw` is a live `cl_context`.
    ///
    /// # Errors
    /// [`Error::Driver`] where the driver's queries fail.
    pub unsafe fn from_raw(raw: *mut c_void) -> Result<Self> {
        let error = |failure: Failure| failure.on("an OpenCL context");
        // SAFETY: the caller's promise.
        let handle: Handle<ContextKind> = unsafe { Handle::adopt(raw) }.map_err(error)?;
        let devices = sizes(&handle.info(CL_CONTEXT_DEVICES).map_err(error)?).into_iter();
        // SAFETY: a context keeps its devices.
        let devices = devices.map(|device| unsafe { Device::from_raw(ptr::with_exposed_provenance_mut(device)) });
        Ok(Self::of(handle, ListenerSlot::new(None), devices.collect::<Result<_>>()?, None))
    }
}

impl Queue {
    /// Returns the `cl_command_queue`, for calls of the user; it lives as long as this. Maps of memory do not take into
    /// account commands that other code enqueues there.
    pub fn raw(&self) -> *mut c_void {
        self.handle().raw()
    }

    /// Returns the driver's reference count (`CL_QUEUE_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.handle().references().map_err(|f| self.error(f))
    }

    /// Wraps a `cl_command_queue`, with its own reference (`clRetainCommandQueue`).
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
    /// Returns the `cl_event`, for calls of the user; it lives as long as this.
    pub fn raw(&self) -> *mut c_void {
        self.lone.raw()
    }

    /// Returns the driver's reference count (`CL_EVENT_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.lone.references().map_err(|f| self.context().error(f))
    }

    /// Wraps a `cl_event`, with its own reference (`clRetainEvent`).
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
            // A user event that other code sets, at a time that is unknown here.
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
    /// Returns the `cl_mem`, for calls of the user; it lives as long as this. Maps and host closures do not take into
    /// account commands that other code enqueues with it.
    pub fn raw(&self) -> *mut c_void {
        self.raw.raw()
    }

    /// Returns the driver's reference count (`CL_MEM_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.raw.references().map_err(|f| self.context.error(f))
    }

    /// Wraps a `cl_mem` as a buffer, with its own reference (`clRetainMemObject`); for a part, its whole buffer is
    /// wrapped as well.
    ///
    /// # Safety
    /// `raw` is a live `cl_mem`. Commands that are not enqueued through this value, its clones and parts are not
    /// tracked. None of them may write bytes that a map or a host closure of this value shows, and none may use bytes
    /// that these write.
    ///
    /// # Errors
    /// [`Error::Foreign`] for memory of another context (`CL_MEM_CONTEXT`); [`Error::InvalidInput`] for an image.
    pub unsafe fn from_raw(context: &Context, raw: *mut c_void) -> Result<Self> {
        // SAFETY: the caller's promise.
        Self::of_mem(unsafe { mem_from_raw(context, raw) }?, context)
    }
}

impl Image {
    /// Returns the `cl_mem`, for calls of the user; it lives as long as this. Maps do not take into account commands
    /// that other code enqueues with it.
    pub fn raw(&self) -> *mut c_void {
        self.raw.raw()
    }

    /// Returns the driver's reference count (`CL_MEM_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.raw.references().map_err(|f| self.context.error(f))
    }

    /// Wraps a `cl_mem` as an image, with its own reference (`clRetainMemObject`).
    ///
    /// # Safety
    /// That of [`Buffer::from_raw`].
    ///
    /// # Errors
    /// [`Error::Foreign`] for memory of another context (`CL_MEM_CONTEXT`); [`Error::InvalidInput`] for a buffer, and
    /// for a format that this crate does not support.
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
    /// Returns the `cl_sampler`, for calls of the user; it lives as long as this.
    pub fn raw(&self) -> *mut c_void {
        self.handle.raw()
    }

    /// Returns the driver's reference count (`CL_SAMPLER_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.handle.references().map_err(|f| self.context.error(f))
    }

    /// Wraps a `cl_sampler`, with its own reference (`clRetainSampler`).
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
    /// Returns the `cl_program`, for calls of the user; it lives as long as this.
    pub fn raw(&self) -> *mut c_void {
        self.raw.raw()
    }

    /// Returns the driver's reference count (`CL_PROGRAM_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.raw.references().map_err(|f| self.context().error(f))
    }

    /// Wraps a built `cl_program`, with its own reference (`clRetainProgram`). Its devices are those for which the
    /// driver reports a successful build (`CL_PROGRAM_BUILD_STATUS`); PoCL 3.1 reports that for all.
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
    /// Returns the `cl_kernel`, for calls of the user; it lives as long as this. A launch sets all its arguments.
    pub fn raw(&self) -> *mut c_void {
        self.raw.raw()
    }

    /// Returns the driver's reference count (`CL_KERNEL_REFERENCE_COUNT`); see [`Context::reference_count`].
    pub fn reference_count(&self) -> Result<u32> {
        self.raw.references().map_err(|f| self.program().context().error(f))
    }

    /// Wraps a `cl_kernel` of a program, with its own reference (`clRetainKernel`).
    ///
    /// # Safety
    /// `raw` is a live `cl_kernel`, and no other code sets its arguments during a launch of this value.
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
