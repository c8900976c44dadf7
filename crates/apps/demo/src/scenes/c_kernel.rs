//! Kernels in C: one text that is valid OpenCL C and CUDA C++.

use pixelferry::KernelSource;

const OPENCL: &str = "#define KERNEL kernel void
    #define IN global const
    #define THREAD_X (int)get_global_id(0)
    #define THREAD_Y (int)get_global_id(1)
    #define TO_U8(v) convert_uchar_sat_rte(v)
    #define RGBA8(r, g, b, a) (uchar4)(r, g, b, a)
";
const CUDA: &str = "#define KERNEL __global__ void
    #define IN const
    #define THREAD_X (int)(blockIdx.x * blockDim.x + threadIdx.x)
    #define THREAD_Y (int)(blockIdx.y * blockDim.y + threadIdx.y)
    #define TO_U8(v) (unsigned char)rintf(fminf(fmaxf(v, 0.0f), 255.0f))
    #define RGBA8(r, g, b, a) make_uchar4(r, g, b, a)
";

/// `CELL` declares the pixel of a thread. `inside` clamps an index to a size.
const COMMON: &str = "
    #define CELL int x = THREAD_X, y = THREAD_Y; if (x >= out_width || y >= out_height) return;
    int inside(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }
";

/// Makes a kernel. The text declares it as `KERNEL name(PF_IMAGE(...), IN float* input)`, and uses the macros above.
///
/// # Safety
/// What [`KernelSource::with_text`] requires.
pub unsafe fn c_kernel(name: &'static str, body: &str) -> KernelSource {
    let [opencl, cuda] = [OPENCL, CUDA].map(|language| format!("{language}{COMMON}{body}"));
    // SAFETY: the caller's promise.
    unsafe { KernelSource::new(name).opencl_c(opencl).cuda_cpp(cuda) }
}
