//! A kernel of which every pixel of every frame is known.

use pixelferry::{CpuKernelExt as _, KernelSource};

/// A kernel's text in both languages.
fn texts(name: &'static str, opencl: &'static str, cuda: &'static str) -> KernelSource {
    // SAFETY: both write pixels below the width and height only, and take a number.
    unsafe { KernelSource::new(name).opencl_c(opencl).cuda_cpp(cuda) }
}

/// Writes [`ramp_pixel`] of its one argument, the number of the frame, into an RGBA8 image.
pub fn ramp() -> KernelSource {
    texts(
        "ramp",
        "kernel void ramp(PF_IMAGE(uchar4, out), uint n) {
               int x = get_global_id(0), y = get_global_id(1);
               if (x < out_width && y < out_height) PF_STORE(out, x, y, (uchar4)(x + n, y, n, 255));
             }",
        "__global__ void ramp(PF_IMAGE(uchar4, out), unsigned n) {
               int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
               if (x < out_width && y < out_height) PF_STORE(out, x, y, make_uchar4(x + n, y, n, 255));
             }",
    )
    .wgsl(
        "@compute @workgroup_size(8, 8)
         fn ramp(@builtin(global_invocation_id) id: vec3<u32>) {
           let n = pf_arg_u32(0);
           let bytes = ((id.x + n) & 255u) | ((id.y & 255u) << 8u) | ((n & 255u) << 16u) | 0xff000000u;
           pf_store(id.xy, unpack4x8unorm(bytes));
         }",
    )
    .cpu_image(|out, args| {
        let n = args.u32(0)?;
        out.par_pixels(|x, y| ramp_pixel(x, y, n))
    })
}

/// The pixel of column `x` in row `y`, from the top, of frame `n`.
pub const fn ramp_pixel(x: u32, y: u32, n: u32) -> [u8; 4] {
    [(x + n) as u8, y as u8, n as u8, 255]
}
