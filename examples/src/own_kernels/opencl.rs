//! Kernels of opencl3, in the frame's queue.

use opencl3::context::Context;
use opencl3::kernel::Kernel;
use opencl3::program::Program;
use opencl3::types::{cl_command_queue, cl_mem};
use pixelferry::{DriverError, Error, Extent, ImageView, Result};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;

const TEXT: &str = "uchar4 own(uint x, uint y, uint t) { return (uchar4)(x * 7 + t, x ^ y, y * 3 + t, 255); }
kernel void linear(global uchar *memory, ulong offset, long pitch, uint width, uint height, uint t) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    *(global uchar4 *)(memory + (long)offset + (long)y * pitch + 4 * x) = own(x, y, t);
}
kernel void texture(write_only image2d_t image, int left, int first, int step, uint width, uint height, uint t) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    write_imagef(image, (int2)(left + x, first + step * y), convert_float4(own(x, y, t)) / 255.0f);
}";

/// The kernels, compiled for the frame's device.
pub struct OpenClKernels {
    linear: Kernel,
    texture: Kernel,
    queue: cl_command_queue,
}

fn failed(code: impl std::fmt::Display) -> Error {
    Error::from(DriverError::new("opencl3", "the frame's device", 0, code.to_string()))
}

impl OpenClKernels {
    /// Compiles the kernels.
    ///
    /// # Safety
    /// The three handles are alive, belong together, and live at least as long as this object.
    pub unsafe fn new(context: *mut c_void, device: *mut c_void, queue: *mut c_void) -> Result<Self> {
        // Not dropped, because its reference belongs to the backend.
        let context = ManuallyDrop::new(Context::new(context, &[device]));
        let program = Program::create_and_build_from_source(&context, TEXT, "").map_err(failed)?;
        let kernel = |name| Kernel::create(&program, name).map_err(failed);
        Ok(Self { linear: kernel("linear")?, texture: kernel("texture")?, queue })
    }

    /// Queues a launch that writes the view.
    ///
    /// # Safety
    /// The view lies inside the buffer, which belongs to the kernels' context, and no other thread launches the
    /// kernels.
    pub unsafe fn write(&self, buffer: cl_mem, view: &ImageView, t: u32) -> Result<()> {
        let (pitch, offset) = (view.row_pitch as i64, view.offset as u64);
        // SAFETY: arguments of the kernel's types, in their order; it stays inside the view.
        unsafe {
            self.linear.set_arg(0, &buffer).map_err(failed)?;
            self.linear.set_arg(1, &offset).map_err(failed)?;
            self.linear.set_arg(2, &pitch).map_err(failed)?;
            self.launch(&self.linear, 3, view.extent, t)
        }
    }

    /// Queues a launch that writes the view's extent into an image, from column `left` and row `first` on in steps of
    /// `step` rows.
    ///
    /// # Safety
    /// The written rectangle lies inside the image, which belongs to the kernels' context, and no other thread launches
    /// the kernels.
    pub unsafe fn write_image(
        &self,
        image: cl_mem,
        (left, first): (u32, u32),
        step: i32,
        view: &ImageView,
        t: u32,
    ) -> Result<()> {
        // SAFETY: arguments of the kernel's types, in their order; it stays inside the view.
        unsafe {
            self.texture.set_arg(0, &image).map_err(failed)?;
            self.texture.set_arg(1, &left).map_err(failed)?;
            self.texture.set_arg(2, &first).map_err(failed)?;
            self.texture.set_arg(3, &step).map_err(failed)?;
            self.launch(&self.texture, 4, view.extent, t)
        }
    }

    /// Sets the last arguments, the first of them at index `next`, and launches the kernel.
    ///
    /// # Safety
    /// The arguments before are set, and the kernel stays inside the memory that they name.
    unsafe fn launch(&self, kernel: &Kernel, next: u32, Extent { width, height, .. }: Extent, t: u32) -> Result<()> {
        // SAFETY: the caller's promise; the three are the kernel's last.
        unsafe {
            for (argument, value) in (next..).zip([width, height, t]) {
                kernel.set_arg(argument, &value).map_err(failed)?;
            }
            let items = [width as usize, height as usize];
            let event = opencl3::command_queue::enqueue_nd_range_kernel(
                self.queue,
                kernel.get(),
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
