//! A kernel of opencl3's, in the frame's queue.

use opencl3::context::Context;
use opencl3::kernel::Kernel;
use opencl3::program::Program;
use opencl3::types::{cl_command_queue, cl_mem};
use pixelferry::{DriverError, Error, ImageView, Result};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;

const TEXT: &str = "kernel void own(global uchar *memory, ulong offset, long pitch, uint width, uint height, uint t) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    *(global uchar4 *)(memory + (long)offset + (long)y * pitch + 4 * x) = (uchar4)(x * 7 + t, x ^ y, y * 3 + t, 255);
}";

/// The kernel, built for the frame's device.
pub struct OpenClKernel {
    kernel: Kernel,
    queue: cl_command_queue,
}

fn failed(code: impl std::fmt::Display) -> Error {
    Error::from(DriverError::new("opencl3", "the frame's device", 0, code.to_string()))
}

impl OpenClKernel {
    /// Builds it.
    ///
    /// # Safety
    /// The three are live, belong together, and live as long as this.
    pub unsafe fn new(context: *mut c_void, device: *mut c_void, queue: *mut c_void) -> Result<Self> {
        // Not dropped: its reference is the backend's.
        let context = ManuallyDrop::new(Context::new(context, &[device]));
        let program = Program::create_and_build_from_source(&context, TEXT, "").map_err(failed)?;
        Ok(Self { kernel: Kernel::create(&program, "own").map_err(failed)?, queue })
    }

    /// Queues a launch that writes the view.
    ///
    /// # Safety
    /// The view lies inside the buffer, which is of the kernel's context, and no other thread launches the kernel.
    pub unsafe fn write(&self, buffer: cl_mem, view: &ImageView, t: u32) -> Result<()> {
        let (width, height) = (view.extent.width, view.extent.height);
        let (pitch, offset) = (view.row_pitch as i64, view.offset as u64);
        // SAFETY: arguments of the kernel's types, in their order; it stays inside the view.
        unsafe {
            self.kernel.set_arg(0, &buffer).map_err(failed)?;
            self.kernel.set_arg(1, &offset).map_err(failed)?;
            self.kernel.set_arg(2, &pitch).map_err(failed)?;
            self.kernel.set_arg(3, &width).map_err(failed)?;
            self.kernel.set_arg(4, &height).map_err(failed)?;
            self.kernel.set_arg(5, &t).map_err(failed)?;
            let items = [width as usize, height as usize];
            let event = opencl3::command_queue::enqueue_nd_range_kernel(
                self.queue,
                self.kernel.get(),
                2,
                ptr::null(),
                items.as_ptr(),
                ptr::null(),
                0,
                ptr::null(),
            );
            opencl3::event::release_event(event.map_err(failed)?).map_err(failed)
        }
    }
}
