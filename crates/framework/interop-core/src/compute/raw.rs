//! Native handles of the memory that kernels write.

use super::memory::ComputeMemory;
use crate::describe::view::View;
use std::ffi::c_void;
use std::marker::PhantomData;

/// Native handles of memory, as numbers and pointers. Code that uses them must follow the contract of
/// [`crate::WriteFrame::raw`].
///
/// Do not release or destroy any of these handles. Any version of the API's bindings can use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RawMemory {
    /// Bytes of host memory, which any code of the process may write.
    Host {
        /// Address of the first byte.
        address: *mut u8,
    },
    /// Linear memory of a CUDA device (CUDA driver API).
    Cuda {
        /// Address of the first byte, a `CUdeviceptr`.
        address: u64,
        /// `CUstream`; work queued here is in order with the backend's.
        stream: *mut c_void,
        /// `CUcontext` of the memory and the stream: the device's primary context.
        context: *mut c_void,
    },
    /// A texture that CUDA writes. The view has tight rows in the array's row order and does not describe the array's
    /// layout.
    CudaArray {
        /// `CUsurfObject`.
        surface: u64,
        /// The `CUarray` behind it.
        array: *mut c_void,
        /// Column and row of pixel (0, 0) in the array.
        first: (u32, u32),
        /// Step from one row of the picture to the next in the array: 1 or -1.
        step: i32,
        /// `CUstream`; work queued here is in order with the backend's.
        stream: *mut c_void,
        /// `CUcontext`: the device's primary context.
        context: *mut c_void,
    },
    /// An OpenCL buffer.
    OpenCl {
        /// `cl_mem`.
        buffer: *mut c_void,
        /// `cl_command_queue`, in order: commands queued here are in order with the backend's.
        queue: *mut c_void,
        /// `cl_context`.
        context: *mut c_void,
        /// `cl_device_id`.
        device: *mut c_void,
    },
    /// A texture that OpenCL writes, `image2d_t`. The view is like that of [`RawMemory::CudaArray`].
    OpenClImage {
        /// `cl_mem`.
        image: *mut c_void,
        /// Column and row of pixel (0, 0) in the image.
        first: (u32, u32),
        /// Step from one row of the picture to the next in the image: 1 or -1.
        step: i32,
        /// `cl_command_queue`, in order: commands queued here are in order with the backend's.
        queue: *mut c_void,
        /// `cl_context`.
        context: *mut c_void,
        /// `cl_device_id`.
        device: *mut c_void,
    },
    /// A Vulkan buffer, in a queue that other code submits to. Record a barrier before and after your writes.
    Vulkan {
        /// `VkBuffer`.
        buffer: u64,
        /// `VkDevice`.
        device: u64,
        /// `VkQueue`.
        queue: u64,
    },
    /// A level of a `TEXTURE_2D` of the current OpenGL context. The view is like that of [`RawMemory::CudaArray`]. Call
    /// `glMemoryBarrier` after your writes where OpenGL requires it.
    GlTexture {
        /// Name of the texture object.
        texture: u32,
        /// Mipmap level.
        level: u32,
        /// Column and row of pixel (0, 0) in the texture.
        first: (u32, u32),
        /// Step from one row of the picture to the next in the texture: 1 or -1.
        step: i32,
    },
    /// A buffer of the current OpenGL context. Call `glMemoryBarrier` after your writes where OpenGL requires it.
    Gl {
        /// Name of the buffer object.
        buffer: u32,
    },
}

/// Native handles of memory and the part of it to write, from [`crate::ComputeBackend::raw`] or
/// [`crate::WriteFrame::raw`].
///
/// ```
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// let (backend, display) = (std::sync::Arc::new(CpuBackend::new()?), MemoryDisplay::new());
/// let desc = SurfaceDesc::image(3, 2, PixelFormat::R8);
/// let mut link = Link::open(backend, display, desc, LinkOptions::default())?;
/// link.frame(|next| {
///     // SAFETY: only pixels of the view are written, and at once.
///     let raw = unsafe { next.raw() }?;
///     let (RawMemory::Host { address }, View::Image(view)) = (raw.memory(), raw.view()) else { return Ok(()) };
///     for (x, y) in (0..2).flat_map(|y| (0..3).map(move |x| (x, y))) {
///         // SAFETY: inside the view.
///         unsafe { address.add(view.row_start(y) + x).write(10 * y as u8 + x as u8) };
///     }
///     Ok(())
/// })?;
/// assert_eq!(link.read_back()?, [0, 1, 2, 10, 11, 12]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct RawTarget<'a> {
    memory: RawMemory,
    view: View,
    _memory: PhantomData<&'a mut dyn ComputeMemory>,
}

impl RawTarget<'_> {
    /// Creates a target; for backends.
    ///
    /// # Safety
    /// The handles name memory that is valid for reads and writes of all bytes of `view`, for at least the lifetime
    /// `'a`.
    pub const unsafe fn new(memory: RawMemory, view: View) -> Self {
        Self { memory, view, _memory: PhantomData }
    }

    /// Returns the native handles of the memory.
    pub const fn memory(&self) -> RawMemory {
        self.memory
    }

    /// Returns the part of the memory, in bytes: offset, pitch (negative where rows are stored in reverse), size and
    /// format.
    pub const fn view(&self) -> View {
        self.view
    }
}
