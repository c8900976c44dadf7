//! The filter's kernels. Pixels outside the picture repeat its edge.

use crate::scenes::c_kernel::c_kernel;
use pixelferry::{CpuKernelExt, KernelSource};

/// Radius of the blur in pixels.
pub const RADIUS: i32 = 6;
const SIGMA: f32 = 2.5;

/// Weights of the blur from `-RADIUS` to `RADIUS`; they add up to 1.
pub fn weights() -> Vec<f32> {
    let bell: Vec<f32> = (-RADIUS..=RADIUS).map(|i| (-((i * i) as f32) / (2.0 * SIGMA * SIGMA)).exp()).collect();
    let sum: f32 = bell.iter().sum();
    bell.into_iter().map(|w| w / sum).collect()
}

/// Every kernel of the filter.
pub fn all() -> [KernelSource; 4] {
    [gauss_rows(), gauss_columns(), sobel(), yuv_to_rgba()]
}

/// Makes a kernel from its source in C.
fn source(name: &'static str, body: &str) -> KernelSource {
    // SAFETY: each item writes its own pixel below the target's width and height, and reads pixels of its memories by
    // indices clamped to the same size. Only the scene launches them, and it provides pictures of that size, planes as
    // large as the subsampling says, and as many weights as the radius says.
    unsafe { c_kernel(name, body) }
}

/// Index of a pixel, clamped to the picture.
fn at(x: i32, y: i32, width: u32, height: u32) -> usize {
    let x = x.clamp(0, width as i32 - 1) as usize;
    let y = y.clamp(0, height as i32 - 1) as usize;
    y * width as usize + x
}

fn to_u8(v: f32) -> u8 {
    v.round_ties_even() as u8
}

/// RGBA8 to RGBA32F, blurred along rows.
pub fn gauss_rows() -> KernelSource {
    source(
        "gauss_rows",
        "KERNEL gauss_rows(PF_IMAGE(float4, out), IN uchar4* in, IN float* w, int r) {
               CELL
               float4 sum;
               sum.x = sum.y = sum.z = sum.w = 0.0f;
               for (int i = -r; i <= r; i++) {
                 uchar4 p = in[y * out_width + inside(x + i, out_width)];
                 float k = w[i + r];
                 sum.x += k * p.x; sum.y += k * p.y; sum.z += k * p.z; sum.w += k * p.w;
               }
               PF_STORE(out, x, y, sum);
             }",
    )
    .wgsl(
        "@group(1) @binding(0) var<storage, read> pixels: array<u32>;
         @group(1) @binding(1) var<storage, read> weights: array<f32>;
         @compute @workgroup_size(8, 8)
         fn gauss_rows(@builtin(global_invocation_id) id: vec3<u32>) {
           if (!pf_inside(id.xy)) { return; }
           let width = i32(pf_size().x);
           let r = pf_arg_i32(0);
           var sum = vec4<f32>(0.0);
           for (var i = -r; i <= r; i++) {
             let at = i32(id.y) * width + clamp(i32(id.x) + i, 0, width - 1);
             sum += weights[i + r] * 255.0 * unpack4x8unorm(pixels[at]);
           }
           pf_store(id.xy, sum);
         }",
    )
    .cpu_image(|out, args| {
        let (input, weights, r) = (args.memory::<[u8; 4]>(0)?, args.memory::<f32>(1)?, args.i32(2)?);
        let (width, height) = (out.width(), out.height());
        out.par_pixels(|x, y| {
            let mut sum = [0.0_f32; 4];
            for (i, w) in (-r..=r).zip(weights) {
                let pixel = input[at(x as i32 + i, y as i32, width, height)];
                sum.iter_mut().zip(pixel).for_each(|(s, p)| *s += w * f32::from(p));
            }
            sum
        })
    })
}

/// RGBA32F to RGBA8, blurred along columns.
pub fn gauss_columns() -> KernelSource {
    source(
        "gauss_columns",
        "KERNEL gauss_columns(PF_IMAGE(uchar4, out), IN float4* in, IN float* w, int r) {
               CELL
               float4 sum;
               sum.x = sum.y = sum.z = sum.w = 0.0f;
               for (int i = -r; i <= r; i++) {
                 float4 p = in[inside(y + i, out_height) * out_width + x];
                 float k = w[i + r];
                 sum.x += k * p.x; sum.y += k * p.y; sum.z += k * p.z; sum.w += k * p.w;
               }
               PF_STORE(out, x, y, RGBA8(TO_U8(sum.x), TO_U8(sum.y), TO_U8(sum.z), TO_U8(sum.w)));
             }",
    )
    .wgsl(
        "@group(1) @binding(0) var<storage, read> pixels: array<vec4<f32>>;
         @group(1) @binding(1) var<storage, read> weights: array<f32>;
         @compute @workgroup_size(8, 8)
         fn gauss_columns(@builtin(global_invocation_id) id: vec3<u32>) {
           if (!pf_inside(id.xy)) { return; }
           let size = vec2<i32>(pf_size());
           let r = pf_arg_i32(0);
           var sum = vec4<f32>(0.0);
           for (var i = -r; i <= r; i++) {
             sum += weights[i + r] * pixels[clamp(i32(id.y) + i, 0, size.y - 1) * size.x + i32(id.x)];
           }
           pf_store(id.xy, sum / 255.0);
         }",
    )
    .cpu_image(|out, args| {
        let (input, weights, r) = (args.memory::<[f32; 4]>(0)?, args.memory::<f32>(1)?, args.i32(2)?);
        let (width, height) = (out.width(), out.height());
        out.par_pixels(|x, y| {
            let mut sum = [0.0_f32; 4];
            for (i, w) in (-r..=r).zip(weights) {
                let pixel = input[at(x as i32, y as i32 + i, width, height)];
                sum.iter_mut().zip(pixel).for_each(|(s, p)| *s += w * p);
            }
            sum.map(to_u8)
        })
    })
}

/// RGBA8 to RGBA8: strength of the brightness gradient as grey.
pub fn sobel() -> KernelSource {
    source(
        "sobel",
        "float luma(IN uchar4* in, int x, int y, int width, int height) {
               uchar4 p = in[inside(y, height) * width + inside(x, width)];
               return 0.2126f * p.x + 0.7152f * p.y + 0.0722f * p.z;
             }
             KERNEL sobel(PF_IMAGE(uchar4, out), IN uchar4* in, float gain) {
               CELL
               float l[3][3];
               for (int j = 0; j < 3; j++)
                 for (int i = 0; i < 3; i++) l[j][i] = luma(in, x + i - 1, y + j - 1, out_width, out_height);
               float gx = l[0][2] + 2.0f * l[1][2] + l[2][2] - l[0][0] - 2.0f * l[1][0] - l[2][0];
               float gy = l[2][0] + 2.0f * l[2][1] + l[2][2] - l[0][0] - 2.0f * l[0][1] - l[0][2];
               unsigned char v = TO_U8(gain * sqrt(gx * gx + gy * gy));
               PF_STORE(out, x, y, RGBA8(v, v, v, 255));
             }",
    )
    .wgsl(
        "@group(1) @binding(0) var<storage, read> pixels: array<u32>;
         fn luma(x: i32, y: i32) -> f32 {
           let size = vec2<i32>(pf_size());
           let p = pixels[clamp(y, 0, size.y - 1) * size.x + clamp(x, 0, size.x - 1)];
           return dot(255.0 * unpack4x8unorm(p).rgb, vec3<f32>(0.2126, 0.7152, 0.0722));
         }
         @compute @workgroup_size(8, 8)
         fn sobel(@builtin(global_invocation_id) id: vec3<u32>) {
           let x = i32(id.x);
           let y = i32(id.y);
           let a = vec3<f32>(luma(x - 1, y - 1), luma(x, y - 1), luma(x + 1, y - 1));
           let b = vec3<f32>(luma(x - 1, y), luma(x, y), luma(x + 1, y));
           let c = vec3<f32>(luma(x - 1, y + 1), luma(x, y + 1), luma(x + 1, y + 1));
           let gx = a.z + 2.0 * b.z + c.z - a.x - 2.0 * b.x - c.x;
           let gy = c.x + 2.0 * c.y + c.z - a.x - 2.0 * a.y - a.z;
           let v = pf_arg_f32(0) * sqrt(gx * gx + gy * gy) / 255.0;
           pf_store(id.xy, vec4<f32>(vec3<f32>(v), 1.0));
         }",
    )
    .cpu_image(|out, args| {
        let (input, gain) = (args.memory::<[u8; 4]>(0)?, args.f32(1)?);
        let (width, height) = (out.width(), out.height());
        let luma = |x: i32, y: i32| {
            let [r, g, b, _] = input[at(x, y, width, height)].map(f32::from);
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        out.par_pixels(|x, y| {
            let l = [-1, 0, 1].map(|j| [-1, 0, 1].map(|i| luma(x as i32 + i, y as i32 + j)));
            let gx = l[0][2] + 2.0 * l[1][2] + l[2][2] - l[0][0] - 2.0 * l[1][0] - l[2][0];
            let gy = l[2][0] + 2.0 * l[2][1] + l[2][2] - l[0][0] - 2.0 * l[0][1] - l[0][2];
            let v = to_u8(gain * (gx * gx + gy * gy).sqrt());
            [v, v, v, 255]
        })
    })
}

/// Planes of 8-bit YUV (BT.601, studio range, as in Y4M files) to RGBA8. `sx`, `sy`: log2 of the chroma's subsampling.
pub fn yuv_to_rgba() -> KernelSource {
    source(
        "yuv_to_rgba",
        "KERNEL yuv_to_rgba(PF_IMAGE(uchar4, out), IN unsigned char* ys, IN unsigned char* us,
                                IN unsigned char* vs, int sx, int sy) {
               CELL
               int c = (y >> sy) * ((out_width + (1 << sx) - 1) >> sx) + (x >> sx);
               float l = 1.164384f * (ys[y * out_width + x] - 16.0f), u = us[c] - 128.0f, v = vs[c] - 128.0f;
               PF_STORE(out, x, y, RGBA8(TO_U8(l + 1.596027f * v), TO_U8(l - 0.391762f * u - 0.812968f * v),
                                         TO_U8(l + 2.017232f * u), 255));
             }",
    )
    .wgsl(
        "@group(1) @binding(0) var<storage, read> ys: array<u32>;
         @group(1) @binding(1) var<storage, read> us: array<u32>;
         @group(1) @binding(2) var<storage, read> vs: array<u32>;
         fn byte_of(word: u32, at: u32) -> f32 { return f32((word >> (at % 4u * 8u)) & 255u); }
         @compute @workgroup_size(8, 8)
         fn yuv_to_rgba(@builtin(global_invocation_id) id: vec3<u32>) {
           if (!pf_inside(id.xy)) { return; }
           let sx = u32(pf_arg_i32(0));
           let sy = u32(pf_arg_i32(1));
           let width = pf_size().x;
           let at = id.y * width + id.x;
           let c = (id.y >> sy) * ((width + (1u << sx) - 1u) >> sx) + (id.x >> sx);
           let l = 1.164384 * (byte_of(ys[at / 4u], at) - 16.0);
           let u = byte_of(us[c / 4u], c) - 128.0;
           let v = byte_of(vs[c / 4u], c) - 128.0;
           let rgb = vec3<f32>(l + 1.596027 * v, l - 0.391762 * u - 0.812968 * v, l + 2.017232 * u);
           pf_store(id.xy, vec4<f32>(rgb / 255.0, 1.0));
         }",
    )
    .cpu_image(|out, args| {
        let (ys, us, vs) = (args.memory::<u8>(0)?, args.memory::<u8>(1)?, args.memory::<u8>(2)?);
        let (sx, sy) = (args.i32(3)?, args.i32(4)?);
        let width = out.width() as usize;
        let chroma_width = (width + (1 << sx) - 1) >> sx;
        out.par_pixels(|x, y| {
            let c = (y as usize >> sy) * chroma_width + (x as usize >> sx);
            let l = 1.164_384 * (f32::from(ys[y as usize * width + x as usize]) - 16.0);
            let (u, v) = (f32::from(us[c]) - 128.0, f32::from(vs[c]) - 128.0);
            let (r, g, b) = (l + 1.596_027 * v, l - 0.391_762 * u - 0.812_968 * v, l + 2.017_232 * u);
            [to_u8(r), to_u8(g), to_u8(b), 255]
        })
    })
}
