//! Memory behind handles of the operating system, opened with `cl_khr_external_memory`: the driver calls.

use crate::cl::{Buffer, Context, Device, GlMemory, Image, ImageFormat, Queue};
use crate::os;
use interop_core::devices::os_handle::ImportedHandle;
use interop_core::{Error, Extent, OsHandle, Result};
use opencl3::memory as m;
use std::ffi::c_void;
use std::ptr;

const EXTENSION: &str = "cl_khr_external_memory";

/// Type of `clEnqueueAcquireExternalMemObjectsKHR` and `clEnqueueReleaseExternalMemObjectsKHR`.
type Enqueue = unsafe extern "system" fn(
    queue: *mut c_void,
    count: u32,
    objects: *const *mut c_void,
    wait_count: u32,
    wait_for: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32;

/// The two functions that begin and end OpenCL's turn with such memory.
pub struct HandleFns([(Enqueue, &'static str); 2]);

impl HandleFns {
    /// Loads the functions of a device that lists the extension.
    pub fn of(device: &Device) -> Result<Self> {
        let function = |name: &'static str| {
            let address = device.extension_function(EXTENSION, name)?;
            // SAFETY: the type is that of both functions in the extension's specification.
            Ok::<_, Error>((unsafe { std::mem::transmute::<*mut c_void, Enqueue>(address.as_ptr()) }, name))
        };
        let [acquire, release] = ["clEnqueueAcquireExternalMemObjectsKHR", "clEnqueueReleaseExternalMemObjectsKHR"];
        Ok(Self([function(acquire)?, function(release)?]))
    }

    /// Queues the beginning of a turn in an in-order queue.
    pub fn acquire(&self, queue: &Queue, memory: GlMemory<'_>) -> Result<()> {
        Self::call(self.0[0], queue, memory)
    }

    /// Queues the end of a turn.
    pub fn release(&self, queue: &Queue, memory: GlMemory<'_>) -> Result<()> {
        Self::call(self.0[1], queue, memory)
    }

    fn call((function, name): (Enqueue, &'static str), queue: &Queue, memory: GlMemory<'_>) -> Result<()> {
        let object = raw(memory);
        // SAFETY: queue and object are live, there is nothing to wait for, and no event is asked for.
        let code = unsafe { function(queue.raw(), 1, &raw const object, 0, ptr::null(), ptr::null_mut()) };
        if code == 0 { Ok(()) } else { Err(queue.context().driver_error(name, code)) }
    }
}

/// Returns the `cl_mem`.
pub fn raw(memory: GlMemory<'_>) -> *mut c_void {
    match memory {
        GlMemory::Buffer(buffer) => buffer.raw(),
        GlMemory::Image(image) => image.raw(),
    }
}

/// Opens all `whole` bytes behind a handle as a buffer. The device must list the extension.
pub fn open_buffer(context: &Context, handle: OsHandle, whole: usize) -> Result<Buffer> {
    let object = give(context, handle, "clCreateBufferWithProperties", |properties| {
        // SAFETY: the context is live, the list ends with 0, no host pointer is given. A device with the extension is of OpenCL
        // 3.0, which has the function.
        unsafe {
            let flags = m::CL_MEM_READ_WRITE;
            m::create_buffer_with_properties(context.raw(), properties, flags, whole, ptr::null_mut())
        }
    })?;
    // SAFETY: a buffer that was just created; its commands are enqueued through this value and what is made of it.
    unsafe { Buffer::from_raw(context, object.0) }
}

/// Opens the memory behind a handle as an image of one level, in the layout that the device prefers.
pub fn open_image(context: &Context, handle: OsHandle, format: ImageFormat, extent: Extent) -> Result<Image> {
    let format =
        m::cl_image_format { image_channel_order: format.order.code(), image_channel_data_type: format.data.code() };
    let desc = m::cl_image_desc {
        image_type: m::CL_MEM_OBJECT_IMAGE2D,
        image_width: extent.width as usize,
        image_height: extent.height as usize,
        image_depth: 0,
        image_array_size: 0,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    };
    let object = give(context, handle, "clCreateImageWithProperties", |properties| {
        // SAFETY: as above; format and description live through the call.
        unsafe {
            let flags = m::CL_MEM_READ_WRITE;
            m::create_image_with_properties(context.raw(), properties, flags, &format, &desc, ptr::null_mut())
        }
    })?;
    // SAFETY: as above.
    unsafe { Image::from_raw(context, object.0) }
}

/// The creator's reference to an object.
struct MakerReference(*mut c_void);

impl Drop for MakerReference {
    fn drop(&mut self) {
        // SAFETY: `give` made the object, and this is its one reference.
        if let Err(code) = unsafe { m::release_mem_object(self.0) } {
            tracing::warn!(code, "clReleaseMemObject failed");
        }
    }
}

/// Runs `create` with the properties that name the handle. The driver may take the handle on success.
fn give(
    context: &Context,
    handle: OsHandle,
    operation: &'static str,
    create: impl FnOnce(*const u64) -> Result<*mut c_void, i32>,
) -> Result<MakerReference> {
    let to_driver = ImportedHandle::new(handle);
    let properties = [u64::from(os::MEMORY), to_driver.property(), 0];
    match create(properties.as_ptr()) {
        Ok(object) => Ok(MakerReference(object)),
        Err(code) => {
            to_driver.close_if_left();
            Err(context.driver_error(operation, code))
        }
    }
}
