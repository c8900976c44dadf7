//! Native handles of the memory that kernels write.

use super::memory::ComputeMemory;
use crate::describe::view::View;
use std::ffi::c_void;
use std::marker::PhantomData;

/// Memory by its own API's names. They are numbers: whoever works with them keeps what [`crate::WriteFrame::raw`] asks.
///
/// Nothing here may be released or destroyed. Other versions of the API's bindings take the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RawMemory {
    /// Bytes of the host's, which any of its code writes.
    Host {
        /// The first byte.
        address: *mut u8,
    },
    /// Linear memory of a CUDA device (CUDA driver API).
    Cuda {
        /// The first byte, a `CUdeviceptr`.
        address: u64,
        /// `CUstream`: work that is queued here is in order with the backend's.
        stream: *mut c_void,
        /// The `CUcontext` of both, the device's primary one.
        context: *mut c_void,
    },
    /// A texture that CUDA writes. The view has tight rows in the order of the array; it says nothing of its layout.
    CudaArray {
        /// `CUsurfObject`.
        surface: u64,
        /// The `CUarray` behind it.
        array: *mut c_void,
        /// Column and row of pixel (0, 0) in the array.
        first: (u32, u32),
        /// From one row of the picture to the next in the array: 1 or -1.
        step: i32,
        /// `CUstream`.
        stream: *mut c_void,
        /// `CUcontext`.
        context: *mut c_void,
    },
    /// A buffer of OpenCL's.
    OpenCl {
        /// `cl_mem`.
        buffer: *mut c_void,
        /// `cl_command_queue`, in order: commands that are queued here are in order with the backend's.
        queue: *mut c_void,
        /// `cl_context`.
        context: *mut c_void,
        /// `cl_device_id`.
        device: *mut c_void,
    },
    /// A texture that OpenCL writes, `image2d_t`. The view is as of [`RawMemory::CudaArray`].
    OpenClImage {
        /// `cl_mem`.
        image: *mut c_void,
        /// Column and row of pixel (0, 0) in the image.
        first: (u32, u32),
        /// From one row of the picture to the next in the image: 1 or -1.
        step: i32,
        /// `cl_command_queue`, in order.
        queue: *mut c_void,
        /// `cl_context`.
        context: *mut c_void,
        /// `cl_device_id`.
        device: *mut c_void,
    },
    /// A buffer of Vulkan's, in a queue that somebody else submits to: record a barrier before and after your writes.
    Vulkan {
        /// `VkBuffer`.
        buffer: u64,
        /// `VkDevice`.
        device: u64,
        /// `VkQueue`.
        queue: u64,
    },
    /// A level of a `TEXTURE_2D` of the current OpenGL context. The view is as of [`RawMemory::CudaArray`]. After your writes call
    /// `glMemoryBarrier` where OpenGL asks for it.
    GlTexture {
        /// The texture object's name.
        texture: u32,
        /// The level.
        level: u32,
        /// Column and row of pixel (0, 0) in the texture.
        first: (u32, u32),
        /// From one row of the picture to the next in the texture: 1 or -1.
        step: i32,
    },
    /// A buffer of the current OpenGL context. After your writes call `glMemoryBarrier` where OpenGL asks for it.
    Gl {
        /// The buffer object's name.
        buffer: u32,
    },
}

/// Memory by its own API's names, and the part of it to write, from [`crate::ComputeBackend::raw`] or
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
    /// For backends.
    ///
    /// # Safety
    /// The names are of memory that is valid for reads and writes of all bytes of `view`, for at least as long as the lifetime.
    pub const unsafe fn new(memory: RawMemory, view: View) -> Self {
        Self { memory, view, _memory: PhantomData }
    }

    /// The memory.
    pub const fn memory(&self) -> RawMemory {
        self.memory
    }

    /// Tells where in the memory, in bytes: offset, pitch (negative where rows are stored in reverse), size and format.
    pub const fn view(&self) -> View {
        self.view
    }
}
