//! The kernel of every row: a ramp that writes each pixel once and reads nothing.

use pixelferry::driver::describe::format::ChannelKind;
use pixelferry::{CpuKernelExt as _, Error, KernelSource, PixelFormat};

/// The bits of binary16 numbers in 0..1 increase with the value, so a ramp of bits is a ramp of values.
const HALF_ONE: u32 = 0x3c00;

/// Returns the ramp in every language, for one format. Its argument is a `u32`, the frame number.
pub fn ramp(format: PixelFormat) -> KernelSource {
    let (pixel, opencl, cuda) = stored(format);
    let opencl = format!(
        "kernel void ramp(PF_IMAGE({pixel}, out), uint n) {{
           uint x = get_global_id(0), y = get_global_id(1);
           if (x < (uint)out_width && y < (uint)out_height) PF_STORE(out, x, y, {opencl});
         }}"
    );
    let wgsl = format!(
        "@compute @workgroup_size(16, 16)
         fn ramp(@builtin(global_invocation_id) id: vec3<u32>) {{
           let p = id.xy;
           let n = pf_arg_u32(0);
           pf_store(p, {});
         }}",
        in_wgsl(format)
    );
    let cuda = format!(
        "__global__ void ramp(PF_IMAGE({pixel}, out), unsigned n) {{
           unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
           if (x < out_width && y < out_height) PF_STORE(out, x, y, {cuda});
         }}"
    );
    // SAFETY: both kernels write only pixels within width and height, and take one number.
    let source = unsafe { KernelSource::new("ramp").opencl_c(opencl).cuda_cpp(cuda) }.wgsl(wgsl);
    source.cpu_image(move |out, args| {
        let n = args.u32(0)?;
        let float = |v: u32| (v & 255) as f32 / 255.0;
        let half = |v: u32| (v % HALF_ONE) as u16;
        match format {
            PixelFormat::R8 => out.par_pixels(|x, y| sum(x, y, n) as u8),
            PixelFormat::Rg8 => out.par_pixels(|x, y| [x.wrapping_add(n) as u8, y as u8]),
            PixelFormat::R16 => out.par_pixels(|x, y| sum(x, y, n) as u16),
            PixelFormat::R16F => out.par_pixels(|x, y| half(sum(x, y, n))),
            PixelFormat::Rgba8 | PixelFormat::Bgra8 => {
                out.par_pixels(|x, y| [x.wrapping_add(n) as u8, y as u8, n as u8, 255])
            }
            PixelFormat::Rgb10A2 => {
                out.par_pixels(|x, y| x.wrapping_add(n) & 1023 | (y & 1023) << 10 | (n & 1023) << 20 | 3 << 30)
            }
            PixelFormat::Rg16F => out.par_pixels(|x, y| [half(x.wrapping_add(n)), half(y)]),
            PixelFormat::R32F => out.par_pixels(|x, y| float(sum(x, y, n))),
            PixelFormat::Rgba16F => out.par_pixels(|x, y| [half(x.wrapping_add(n)), half(y), half(n), HALF_ONE as u16]),
            PixelFormat::Rg32F => out.par_pixels(|x, y| [float(x.wrapping_add(n)), float(y)]),
            PixelFormat::Rgba32F => out.par_pixels(|x, y| [float(x.wrapping_add(n)), float(y), 0.0, 1.0]),
            other => Err(Error::invalid("ramp", format!("{other} is not known to the benchmark"))),
        }
    })
}

fn sum(x: u32, y: u32, n: u32) -> u32 {
    x.wrapping_add(y).wrapping_add(n)
}

/// A pixel's type, and the pixel for `x`, `y` and `n` in OpenCL C and in CUDA C++.
fn stored(format: PixelFormat) -> (&'static str, String, String) {
    // The two languages differ in the names of types without a number.
    let pixel = match format.info().c_type {
        "uchar" => "unsigned char",
        "ushort" => "unsigned short",
        "uint" => "unsigned int",
        other => other,
    };
    let whole = match format.channel_kind() {
        ChannelKind::Unorm10A2 => Some("(x + n) & 1023u | (y & 1023u) << 10 | (n & 1023u) << 20 | 3u << 30".to_owned()),
        kind if format.channels() == 1 => Some(channel(kind, "x + y + n")),
        _ => None,
    };
    if let Some(whole) = whole {
        let pixel_of = format!("({pixel})({whole})");
        return (pixel, pixel_of.clone(), pixel_of);
    }
    let kind = format.channel_kind();
    let last = match kind {
        ChannelKind::Unorm8 => ["n", "255"],
        ChannelKind::Float16 => ["n % 0x3c00", "0x3c00"],
        _ => ["0.0f", "1.0f"],
    };
    let all = [channel(kind, "x + n"), channel(kind, "y")].into_iter().chain(last.map(String::from));
    let all = all.take(format.channels()).collect::<Vec<_>>().join(", ");
    (pixel, format!("({pixel})({all})"), format!("make_{pixel}({all})"))
}

/// A C expression for a channel that holds `v`.
fn channel(kind: ChannelKind, v: &str) -> String {
    match kind {
        ChannelKind::Float16 => format!("({v}) % 0x3c00"),
        ChannelKind::Float32 => format!("(float)(({v}) & 255) / 255.0f"),
        _ => v.to_owned(),
    }
}

/// The pixel in WGSL. Halves are given by their bits, which the store keeps.
fn in_wgsl(format: PixelFormat) -> &'static str {
    match (format.channel_kind(), format.channels()) {
        (ChannelKind::Unorm8, 1) => "vec4<f32>(f32((p.x + p.y + n) & 255u) / 255.0)",
        (ChannelKind::Unorm8, _) => {
            "unpack4x8unorm(((p.x + n) & 255u) | ((p.y & 255u) << 8u) | ((n & 255u) << 16u) | 0xff000000u)"
        }
        (ChannelKind::Unorm16, _) => "vec4<f32>(f32((p.x + p.y + n) & 65535u) / 65535.0)",
        (ChannelKind::Unorm10A2, _) => {
            "vec4<f32>(f32((p.x + n) & 1023u) / 1023.0, f32(p.y & 1023u) / 1023.0, f32(n & 1023u) / 1023.0, 1.0)"
        }
        (ChannelKind::Float16, 1) => "vec4<f32>(unpack2x16float((p.x + p.y + n) % 0x3c00u).x)",
        (ChannelKind::Float16, _) => {
            "vec4<f32>(unpack2x16float(((p.x + n) % 0x3c00u) | ((p.y % 0x3c00u) << 16u)),
                       unpack2x16float((n % 0x3c00u) | 0x3c000000u))"
        }
        (_, 1) => "vec4<f32>(f32((p.x + p.y + n) & 255u) / 255.0)",
        _ => "vec4<f32>(f32((p.x + n) & 255u) / 255.0, f32(p.y & 255u) / 255.0, 0.0, 1.0)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry::api::cuda::{Variant, compile_ptx};
    use pixelferry::driver::compute::SourceCode;
    use pixelferry::{Arg, ComputeBackend as _, CpuBackend, Extent, Language, Target};

    #[test]
    fn every_format_has_a_kernel_in_every_language() {
        for format in PixelFormat::ALL {
            let source = ramp(format);
            for language in [Language::OpenClC, Language::CudaCpp, Language::Wgsl, Language::Rust] {
                assert!(source.source(language).is_some(), "{format}: {language}");
            }
        }
    }

    #[test]
    fn the_cuda_kernels_compile_for_linear_memory_and_textures() {
        for format in PixelFormat::ALL {
            let source = ramp(format);
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

    #[test]
    fn threads_write_every_format() {
        let backend = CpuBackend::new().unwrap();
        for format in PixelFormat::ALL {
            let kernel = backend.build(&ramp(format)).unwrap();
            let mut memory = backend.allocate(6 * format.bytes_per_pixel()).unwrap();
            let target = Target::image(memory.as_mut(), Extent::new(3, 2), format).unwrap();
            backend.launch(kernel.as_ref(), target, &[Arg::U32(5)]).unwrap();
            let mut is_written = false;
            memory
                .map_read(0..6 * format.bytes_per_pixel(), &mut |bytes| {
                    is_written = bytes.iter().any(|byte| *byte != 0);
                    Ok(())
                })
                .unwrap();
            assert!(is_written, "{format}");
        }
    }
}
