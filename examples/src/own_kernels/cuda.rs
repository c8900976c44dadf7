//! Kernels of cudarc, in the frame's stream.

use cudarc::driver::{result, sys};
use cudarc::nvrtc::compile_ptx;
use pixelferry::driver::describe::panics::catch;
use pixelferry::{DriverError, Error, ImageView, RawMemory, Result};
use pixelferry_demo::complain;
use std::ffi::{CString, c_void};
use std::ptr;

const TEXT: &str = r#"
typedef unsigned char byte;
__device__ uchar4 shade(unsigned x, unsigned y, unsigned t) {
    return make_uchar4(byte(x * 7 + t), byte(x ^ y), byte(y * 3 + t), 255);
}
extern "C" __global__ void linear(byte *first, long long pitch, unsigned width, unsigned height, unsigned t) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) *(uchar4 *)(first + (long long)y * pitch + 4 * x) = shade(x, y, t);
}
extern "C" __global__ void array(cudaSurfaceObject_t surface, unsigned column, unsigned row, int step,
                                 unsigned width, unsigned height, unsigned t) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        surf2Dwrite(shade(x, y, t), surface, int(4 * (column + x)), int(row) + step * int(y));
}
"#;

/// Both kernels, in the frame's context.
pub struct CudaKernels {
    module: sys::CUmodule,
    linear: sys::CUfunction,
    array: sys::CUfunction,
    context: sys::CUcontext,
}

fn failed(error: impl std::fmt::Debug) -> Error {
    Error::from(DriverError::new("cudarc", "the frame's device", 0, format!("{error:?}")))
}

/// Makes the context current while `f` runs.
///
/// # Safety
/// The context is alive.
unsafe fn within<T>(context: sys::CUcontext, f: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = result::ctx::get_current().map_err(failed)?.unwrap_or(ptr::null_mut());
    // SAFETY: the caller's promise; afterwards what was current before.
    unsafe {
        result::ctx::set_current(context).map_err(failed)?;
        let done = f();
        result::ctx::set_current(before).map_err(failed)?;
        done
    }
}

impl CudaKernels {
    /// Compiles both kernels.
    ///
    /// # Safety
    /// The context is alive, and lives at least as long as this object.
    pub unsafe fn new(context: *mut c_void) -> Result<Self> {
        let context: sys::CUcontext = context.cast();
        // cudarc panics where NVRTC is missing.
        let ptx = catch(|| compile_ptx(TEXT)).map_err(|_| failed("NVRTC is not there; install the CUDA toolkit's"))?;
        let text = CString::new(ptx.map_err(failed)?.to_src()).map_err(failed)?;
        let name = |name: &str| CString::new(name).map_err(failed);
        // SAFETY: the context is live by the caller's promise; the text ends with a zero.
        unsafe {
            within(context, || {
                let module = result::module::load_data(text.as_ptr().cast()).map_err(failed)?;
                let linear = result::module::get_function(module, name("linear")?).map_err(failed)?;
                let array = result::module::get_function(module, name("array")?).map_err(failed)?;
                Ok(Self { module, linear, array, context })
            })
        }
    }

    /// Queues a launch that writes the view.
    ///
    /// # Safety
    /// The view lies inside the memory, which is of the kernels' context.
    pub unsafe fn write(&self, memory: RawMemory, view: &ImageView, t: u32) -> Result<()> {
        let (width, height) = (view.extent.width, view.extent.height);
        let (grid, block) = ((width.div_ceil(32), height.div_ceil(8), 1), (32, 8, 1));
        match memory {
            RawMemory::Cuda { address, stream, .. } => {
                let (first, pitch) = (address + view.offset as u64, view.row_pitch as i64);
                let mut values =
                    [parameter(&first), parameter(&pitch), parameter(&width), parameter(&height), parameter(&t)];
                // SAFETY: parameters of the kernel's types; it stays inside the view.
                unsafe {
                    within(self.context, || {
                        result::launch_kernel(self.linear, grid, block, 0, stream.cast(), &mut values).map_err(failed)
                    })
                }
            }
            RawMemory::CudaArray { surface, first: (column, row), step, stream, .. } => {
                let mut values = [
                    parameter(&surface),
                    parameter(&column),
                    parameter(&row),
                    parameter(&step),
                    parameter(&width),
                    parameter(&height),
                    parameter(&t),
                ];
                // SAFETY: as above.
                unsafe {
                    within(self.context, || {
                        result::launch_kernel(self.array, grid, block, 0, stream.cast(), &mut values).map_err(failed)
                    })
                }
            }
            other => Err(Error::invalid("own_kernels", format!("{other:?} is not CUDA memory"))),
        }
    }
}

/// Returns the address at which the driver reads a parameter while the launch is queued.
fn parameter<T>(value: &T) -> *mut c_void {
    ptr::from_ref(value).cast_mut().cast()
}

impl Drop for CudaKernels {
    fn drop(&mut self) {
        // SAFETY: the context lives, and no launch is left when the module goes.
        let unloaded = unsafe {
            within(self.context, || {
                result::ctx::synchronize().map_err(failed)?;
                result::module::unload(self.module).map_err(failed)
            })
        };
        if let Err(error) = unloaded {
            complain!("cannot unload the kernels: {error}");
        }
    }
}
