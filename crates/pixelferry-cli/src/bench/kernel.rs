//! The kernel of every row: a ramp that writes each pixel once and reads nothing.

use pixelferry::{CpuKernelExt as _, KernelSource, PixelFormat};

/// Bits of the binary16 numbers in 0..1 are rising with their value, so that a ramp of bits is one of values.
const HALF_ONE: u32 = 0x3c00;

/// The ramp in every language, for one format; its argument is a `u32`, the number of the frame. `None` for formats that
/// are not in the grid.
pub fn ramp(format: PixelFormat) -> Option<KernelSource> {
    let (pixel, opencl, cuda) = match format {
        PixelFormat::Rgba8 => ("uchar4", "(uchar4)(x + n, y, n, 255)", "make_uchar4(x + n, y, n, 255)"),
        PixelFormat::Rgba16F => (
            "ushort4",
            "(ushort4)((x + n) % 0x3c00, y % 0x3c00, n % 0x3c00, 0x3c00)",
            "make_ushort4((x + n) % 0x3c00, y % 0x3c00, n % 0x3c00, 0x3c00)",
        ),
        PixelFormat::R32F => ("float", "(float)((x + y + n) & 255) / 255.0f", "(float)((x + y + n) & 255) / 255.0f"),
        PixelFormat::Rgba32F => (
            "float4",
            "(float4)((float)((x + n) & 255) / 255.0f, (float)(y & 255) / 255.0f, 0.0f, 1.0f)",
            "make_float4((float)((x + n) & 255) / 255.0f, (float)(y & 255) / 255.0f, 0.0f, 1.0f)",
        ),
        _ => return None,
    };
    let opencl = format!(
        "kernel void ramp(PF_IMAGE({pixel}, out), uint n) {{
           uint x = get_global_id(0), y = get_global_id(1);
           if (x < (uint)out_width && y < (uint)out_height) PF_STORE(out, x, y, {opencl});
         }}"
    );
    // Halves by their bits, which the store gives back as they were.
    let wgsl = match format {
        PixelFormat::Rgba8 => {
            "unpack4x8unorm(((p.x + n) & 255u) | ((p.y & 255u) << 8u) | ((n & 255u) << 16u) | 0xff000000u)"
        }
        PixelFormat::Rgba16F => {
            "vec4<f32>(unpack2x16float(((p.x + n) % 0x3c00u) | ((p.y % 0x3c00u) << 16u)),
                       unpack2x16float((n % 0x3c00u) | 0x3c000000u))"
        }
        PixelFormat::R32F => "vec4<f32>(f32((p.x + p.y + n) & 255u) / 255.0)",
        _ => "vec4<f32>(f32((p.x + n) & 255u) / 255.0, f32(p.y & 255u) / 255.0, 0.0, 1.0)",
    };
    let wgsl = format!(
        "@compute @workgroup_size(16, 16)
         fn ramp(@builtin(global_invocation_id) id: vec3<u32>) {{
           let p = id.xy;
           let n = pf_arg_u32(0);
           pf_store(p, {wgsl});
         }}"
    );
    let cuda = format!(
        "__global__ void ramp(PF_IMAGE({pixel}, out), unsigned n) {{
           unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
           if (x < out_width && y < out_height) PF_STORE(out, x, y, {cuda});
         }}"
    );
    // SAFETY: both write pixels below the width and height only, and take a number.
    let source = unsafe { KernelSource::new("ramp").opencl_c(opencl).cuda_cpp(cuda) }.wgsl(wgsl);
    let byte = |v: u32| (v & 255) as f32 / 255.0;
    Some(source.cpu_image(move |out, args| {
        let n = args.u32(0)?;
        match format {
            PixelFormat::Rgba8 => out.par_pixels(|x, y| [x.wrapping_add(n) as u8, y as u8, n as u8, 255]),
            PixelFormat::Rgba16F => out.par_pixels(|x, y| {
                let half = |v: u32| (v % HALF_ONE) as u16;
                [half(x.wrapping_add(n)), half(y), half(n), HALF_ONE as u16]
            }),
            PixelFormat::R32F => out.par_pixels(|x, y| byte(x.wrapping_add(y).wrapping_add(n))),
            _ => out.par_pixels(|x, y| [byte(x.wrapping_add(n)), byte(y), 0.0, 1.0]),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::options::FORMATS;
    use pixelferry::api::cuda::{Variant, compile_ptx};
    use pixelferry::driver::compute::SourceCode;
    use pixelferry::{Error, Language};

    #[test]
    fn every_format_of_the_grid_has_a_kernel_in_every_language() {
        for format in FORMATS {
            let source = ramp(format).unwrap();
            for language in [Language::OpenClC, Language::CudaCpp, Language::Wgsl, Language::Rust] {
                assert!(source.source(language).is_some(), "{format}: {language}");
            }
        }
    }

    #[test]
    fn the_cuda_kernels_compile_for_linear_memory_and_textures() {
        for format in FORMATS {
            let source = ramp(format).unwrap();
            let Some(SourceCode::Text(text)) = source.source(Language::CudaCpp) else { panic!("no text") };
            for variant in [Variant::Linear, Variant::Surface] {
                match compile_ptx(source.name(), text, 50, variant) {
                    Err(Error::Unavailable { reason, .. }) => return println!("SKIPPED: no NVRTC: {reason}"),
                    Err(error) => panic!("{format}, {variant:?}: {error}"),
                    Ok(ptx) => assert!(ptx.text.contains(&ptx.entry)),
                }
            }
        }
    }
}
