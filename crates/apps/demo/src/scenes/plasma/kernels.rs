//! The plasma's kernels.

use crate::pixels::{Pixels, Tone};
use crate::scenes::c_kernel::c_kernel;
use pixelferry::{CpuKernelExt, KernelSource};

/// Makes a kernel from its source in C.
fn source(name: &'static str, body: &str) -> KernelSource {
    // SAFETY: each item writes its own pixel below the target's width and height, and reads the same pixel of the
    // waves. Only the scene launches them, and it makes the waves as large.
    unsafe { c_kernel(name, body) }
}

/// Interfering waves, each pixel in 0..=1.
pub fn waves() -> KernelSource {
    source(
        "waves",
        "KERNEL waves(PF_IMAGE(float, out), float t) {
               CELL
               float u = 12.0f * x / out_height, v = 12.0f * y / out_height;
               float cx = u - 10.5f - 3.0f * sin(0.4f * t), cy = v - 6.0f - 2.5f * cos(0.6f * t);
               float s = sin(u + t) + sin(0.7f * v - 1.3f * t) + sin(0.6f * (u + v) + 0.5f * t)
                       + sin(sqrt(cx * cx + cy * cy + 1.0f) * 1.7f - 2.0f * t);
               PF_STORE(out, x, y, 0.5f + 0.125f * s);
             }",
    )
    .wgsl(
        "@compute @workgroup_size(8, 8)
         fn waves(@builtin(global_invocation_id) id: vec3<u32>) {
           let t = pf_arg_f32(0);
           let p = 12.0 * vec2<f32>(id.xy) / f32(pf_size().y);
           let c = p - vec2<f32>(10.5 + 3.0 * sin(0.4 * t), 6.0 + 2.5 * cos(0.6 * t));
           let s = sin(p.x + t) + sin(0.7 * p.y - 1.3 * t) + sin(0.6 * (p.x + p.y) + 0.5 * t)
                 + sin(sqrt(dot(c, c) + 1.0) * 1.7 - 2.0 * t);
           pf_store(id.xy, vec4<f32>(0.5 + 0.125 * s));
         }",
    )
    .cpu_image(|out, args| {
        let t = args.f32(0)?;
        let height = out.height() as f32;
        out.par_pixels(|x, y| -> f32 {
            let (u, v) = (12.0 * x as f32 / height, 12.0 * y as f32 / height);
            let (cx, cy) = (u - 10.5 - 3.0 * (0.4 * t).sin(), v - 6.0 - 2.5 * (0.6 * t).cos());
            let s = (u + t).sin()
                + (0.7 * v - 1.3 * t).sin()
                + (0.6 * (u + v) + 0.5 * t).sin()
                + ((cx * cx + cy * cy + 1.0).sqrt() * 1.7 - 2.0 * t).sin();
            0.5 + 0.125 * s
        })
    })
}

/// Applies a cosine palette to the float image, and converts the result in the store that writes it.
///
/// All tones except [`Tone::None`] interpret colours as linear light, up to eight times as bright as white where the
/// waves are high.
pub fn colours(pixels: Pixels) -> KernelSource {
    let light = if pixels.tone == Tone::None { "1.0f" } else { "8.0f * f * f * f" };
    // Low waves are transparent.
    let text = format!(
        "{}
         KERNEL colours(PF_IMAGE(PIXEL, out), IN float* field) {{
           CELL
           float f = field[y * out_width + x], p = 9.424778f * f, l = {light};
           float3 c;
           c.x = l * (0.5f + 0.5f * cos(p + 2.6f)); c.y = l * (0.5f + 0.5f * cos(p + 3.7f));
           c.z = l * (0.5f + 0.5f * cos(0.8f * p + 4.6f));
           PF_STORE(out, x, y, pixel(c, f * f * (3.0f - 2.0f * f)));
         }}",
        pixels.source()
    );
    let light = if pixels.tone == Tone::None { "1.0" } else { "8.0 * f * f * f" };
    let wgsl = format!(
        "{}@group(1) @binding(0) var<storage, read> field: array<f32>;
         @compute @workgroup_size(8, 8)
         fn colours(@builtin(global_invocation_id) id: vec3<u32>) {{
           if (!pf_inside(id.xy)) {{ return; }}
           let f = field[id.y * pf_size().x + id.x];
           let p = 9.424778 * f;
           let c = 0.5 + 0.5 * cos(p * vec3<f32>(1.0, 1.0, 0.8) + vec3<f32>(2.6, 3.7, 4.6));
           pf_store(id.xy, pixel({light} * c, f * f * (3.0 - 2.0 * f)));
         }}",
        pixels.wgsl()
    );
    source("colours", &text).wgsl(wgsl).cpu_image(move |out, args| {
        let field = args.memory::<f32>(0)?;
        let width = out.width() as usize;
        pixels.write(out, |x, y| {
            let f = field[y as usize * width + x as usize];
            let p = 1.5 * std::f32::consts::TAU * f;
            let light = if pixels.tone == Tone::None { 1.0 } else { 8.0 * f * f * f };
            let channel = |k: f32, phase: f32| light * (0.5 + 0.5 * (p * k + phase).cos());
            ([channel(1.0, 2.6), channel(1.0, 3.7), channel(0.8, 4.6)], f * f * (3.0 - 2.0 * f))
        })
    })
}
