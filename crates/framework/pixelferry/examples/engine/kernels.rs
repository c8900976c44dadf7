//! The kernels of the engines: a planet's clouds and a radar as pictures, a sea as vertices. Each kernel writes every
//! pixel or vertex, as its description promises.

use pixelferry::{
    Arg, ComputeBackend, CpuKernelExt, Kernel, KernelSource, PixelFormat, Result, SurfaceDesc, Unwritten, WriteFrame,
};
use std::f32::consts::{PI, TAU};
use std::sync::Arc;

/// The number of vertices on each side of the sea.
pub const SEA_SIDE: u32 = 192;
/// The size of its vertices in bytes: height, the normal's x and z, and padding.
const SEA_BYTES: u64 = SEA_SIDE as u64 * SEA_SIDE as u64 * 16;

/// The number of indices of its triangles.
pub const SEA_INDICES: i32 = 6 * (SEA_SIDE as i32 - 1) * (SEA_SIDE as i32 - 1);

/// Describes the clouds, which go all around the planet from left to right.
pub fn planet_desc() -> SurfaceDesc {
    SurfaceDesc::image(1024, 512, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite)
}

/// Describes the radar for a window of this size in pixels: with alpha, a third of the shorter side.
pub fn radar_desc((width, height): (u32, u32)) -> (u32, SurfaceDesc) {
    let side = (width.min(height) / 3).max(16);
    (side, SurfaceDesc::image(side, side, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite))
}

/// Describes the sea's vertices.
pub fn sea_desc() -> SurfaceDesc {
    SurfaceDesc::buffer(SEA_BYTES).with_unwritten(Unwritten::Overwrite)
}

/// Returns two triangles for each square of the sea.
pub fn sea_indices() -> Vec<u32> {
    let square = |i: u32| {
        let corner = i / (SEA_SIDE - 1) * SEA_SIDE + i % (SEA_SIDE - 1);
        [0, SEA_SIDE, 1, 1, SEA_SIDE, SEA_SIDE + 1].map(|to| corner + to)
    };
    (0..(SEA_SIDE - 1) * (SEA_SIDE - 1)).flat_map(square).collect()
}

/// The compiled kernels. They outlive contexts and windows.
pub struct Kernels {
    planet: Arc<dyn Kernel>,
    sea: Arc<dyn Kernel>,
    radar: Arc<dyn Kernel>,
}

impl Kernels {
    /// Compiles the kernels for a backend.
    pub fn build(backend: &dyn ComputeBackend) -> Result<Self> {
        Ok(Self { planet: backend.build(&planet())?, sea: backend.build(&sea())?, radar: backend.build(&radar())? })
    }

    /// Computes the clouds at a time in seconds.
    pub fn planet(&self, frame: &mut WriteFrame<'_>, seconds: f32) -> Result<()> {
        frame.launch(self.planet.as_ref(), &[Arg::F32(seconds)])
    }

    /// Computes the sea at a time in seconds.
    pub fn sea(&self, frame: &mut WriteFrame<'_>, seconds: f32) -> Result<()> {
        frame.launch(self.sea.as_ref(), &[Arg::F32(seconds)])
    }

    /// Computes the radar at a time in seconds.
    pub fn radar(&self, frame: &mut WriteFrame<'_>, seconds: f32) -> Result<()> {
        frame.launch(self.radar.as_ref(), &[Arg::F32(seconds)])
    }
}

/// Returns the sources of all three kernels.
pub fn sources() -> Vec<KernelSource> {
    vec![planet(), sea(), radar()]
}

/// Makes one source for OpenCL C and CUDA C++, which differ in how a kernel begins.
fn image(name: &'static str, body: &str) -> KernelSource {
    let inside = "if (x >= out_width || y >= out_height) return;";
    let opencl = format!(
        "kernel void {name}(PF_IMAGE(uchar4, out), float t) {{
           int x = get_global_id(0), y = get_global_id(1); {inside} {body} }}"
    );
    let cuda = format!(
        "__global__ void {name}(PF_IMAGE(uchar4, out), float t) {{
           int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
           {inside} {body} }}"
    );
    // SAFETY: planet and radar store one pixel for each item, below the width and height, and take a number.
    unsafe { KernelSource::new(name).opencl_c(opencl).cuda_cpp(cuda) }
}

fn planet() -> KernelSource {
    image(
        "planet",
        "float u = 6.2831853f * x / out_width, v = 3.1415927f * (0.5f - (float)y / out_height);
         float w = sin(3.0f * u + 0.5f * t + 2.0f * sin(6.0f * v)) + 0.6f * sin(7.0f * u - 9.0f * v - 0.8f * t)
                 + 0.4f * sin(13.0f * u + 17.0f * v + t);
         float b = 0.5f + 0.34f * sin(13.0f * v + 0.5f * w * cos(v)) + 0.13f * sin(37.0f * v + 0.9f * w);
         float dx = 2.0f * sin(0.5f * (u - 0.1f * t)), dy = v + 0.35f, d = dx * dx * 6.0f + dy * dy * 40.0f;
         float storm = exp(-d) * (0.75f + 0.25f * cos(9.0f * d - 3.0f * t)), k = 1.0f - storm;
         float3 c;
         c.x = k * (0.36f + 0.60f * b) + 0.86f * storm;
         c.y = k * (0.20f + 0.66f * b * b) + 0.30f * storm;
         c.z = k * (0.16f + 0.60f * b * b * b) + 0.14f * storm;
         PF_STORE(out, x, y, pf_rgba8(c, 1.0f));",
    )
    .wgsl(
        "@compute @workgroup_size(8, 8)
         fn planet(@builtin(global_invocation_id) id: vec3<u32>) {
           let t = pf_arg_f32(0);
           let at = vec2<f32>(id.xy) / vec2<f32>(pf_size());
           let u = 6.2831853 * at.x;
           let v = 3.1415927 * (0.5 - at.y);
           let w = sin(3.0 * u + 0.5 * t + 2.0 * sin(6.0 * v)) + 0.6 * sin(7.0 * u - 9.0 * v - 0.8 * t)
                 + 0.4 * sin(13.0 * u + 17.0 * v + t);
           let b = 0.5 + 0.34 * sin(13.0 * v + 0.5 * w * cos(v)) + 0.13 * sin(37.0 * v + 0.9 * w);
           let dx = 2.0 * sin(0.5 * (u - 0.1 * t));
           let dy = v + 0.35;
           let d = dx * dx * 6.0 + dy * dy * 40.0;
           let storm = exp(-d) * (0.75 + 0.25 * cos(9.0 * d - 3.0 * t));
           let bands = vec3<f32>(0.36 + 0.60 * b, 0.20 + 0.66 * b * b, 0.16 + 0.60 * b * b * b);
           pf_store(id.xy, vec4<f32>(mix(bands, vec3<f32>(0.86, 0.30, 0.14), storm), 1.0));
         }",
    )
    .cpu_image(|out, args| {
        let (t, width, height) = (args.f32(0)?, out.width() as f32, out.height() as f32);
        out.par_pixels(|x, y| {
            let (u, v) = (TAU * x as f32 / width, PI * (0.5 - y as f32 / height));
            let w = (3.0 * u + 0.5 * t + 2.0 * (6.0 * v).sin()).sin()
                + 0.6 * (7.0 * u - 9.0 * v - 0.8 * t).sin()
                + 0.4 * (13.0 * u + 17.0 * v + t).sin();
            let b = 0.5 + 0.34 * (13.0 * v + 0.5 * w * v.cos()).sin() + 0.13 * (37.0 * v + 0.9 * w).sin();
            let (dx, dy) = (2.0 * (0.5 * (u - 0.1 * t)).sin(), v + 0.35);
            let d = dx * dx * 6.0 + dy * dy * 40.0;
            let storm = (-d).exp() * (0.75 + 0.25 * (9.0 * d - 3.0 * t).cos());
            let mix = |band: f32, storm_colour: f32| (1.0 - storm) * band + storm_colour * storm;
            let red = mix(0.36 + 0.60 * b, 0.86);
            rgba8([red, mix(0.20 + 0.66 * b * b, 0.30), mix(0.16 + 0.60 * b * b * b, 0.14)], 1.0)
        })
    })
}

fn radar() -> KernelSource {
    image(
        "radar",
        "float s = 2.0f / out_width, px = (x + 0.5f) * s - 1.0f, py = 1.0f - (y + 0.5f) * s;
         float r = sqrt(px * px + py * py), behind = (1.5f * t - atan2(py, px)) / 6.2831853f;
         behind -= floor(behind);
         float n = r / 0.31f, near = fabs(n - floor(n + 0.5f)) * 0.31f, ring = fmax(0.0f, 1.0f - near / (1.5f * s));
         float blips = 0.0f, cx[4] = {0.45f, -0.3f, -0.62f, 0.1f}, cy[4] = {0.3f, 0.5f, -0.2f, -0.66f};
         for (int i = 0; i < 4; i++) {
           float dx = px - cx[i], dy = py - cy[i];
           blips += exp(-700.0f * (dx * dx + dy * dy));
         }
         float g = 0.10f + 0.5f * exp(-6.0f * behind) + 0.35f * ring + 1.4f * blips * exp(-2.0f * behind);
         float edge = fmin(fmax((0.97f - r) / (2.0f * s), 0.0f), 1.0f);
         float3 c;
         c.x = 0.25f * g * g; c.y = g; c.z = 0.25f + 0.45f * g;
         PF_STORE(out, x, y, pf_rgba8(c, 0.85f * edge));",
    )
    .wgsl(
        "@compute @workgroup_size(8, 8)
         fn radar(@builtin(global_invocation_id) id: vec3<u32>) {
           let t = pf_arg_f32(0);
           let s = 2.0 / f32(pf_size().x);
           let p = vec2<f32>((f32(id.x) + 0.5) * s - 1.0, 1.0 - (f32(id.y) + 0.5) * s);
           let r = length(p);
           let behind = fract((1.5 * t - atan2(p.y, p.x)) / 6.2831853);
           let n = r / 0.31;
           let ring = max(0.0, 1.0 - abs(n - floor(n + 0.5)) * 0.31 / (1.5 * s));
           let centres = array(vec2(0.45, 0.3), vec2(-0.3, 0.5), vec2(-0.62, -0.2), vec2(0.1, -0.66));
           var blips = 0.0;
           for (var i = 0; i < 4; i++) {
             let d = p - centres[i];
             blips += exp(-700.0 * dot(d, d));
           }
           let g = 0.10 + 0.5 * exp(-6.0 * behind) + 0.35 * ring + 1.4 * blips * exp(-2.0 * behind);
           let edge = clamp((0.97 - r) / (2.0 * s), 0.0, 1.0);
           pf_store(id.xy, vec4<f32>(0.25 * g * g, g, 0.25 + 0.45 * g, 0.85 * edge));
         }",
    )
    .cpu_image(|out, args| {
        let (t, s) = (args.f32(0)?, 2.0 / out.width() as f32);
        out.par_pixels(|x, y| {
            let (px, py) = ((x as f32 + 0.5) * s - 1.0, 1.0 - (y as f32 + 0.5) * s);
            let (r, turn) = ((px * px + py * py).sqrt(), (1.5 * t - py.atan2(px)) / TAU);
            let (behind, n) = (turn - turn.floor(), r / 0.31);
            let ring = (1.0 - (n - (n + 0.5).floor()).abs() * 0.31 / (1.5 * s)).max(0.0);
            let blip = |(cx, cy): (f32, f32)| (-700.0 * ((px - cx) * (px - cx) + (py - cy) * (py - cy))).exp();
            let blips: f32 = [(0.45, 0.3), (-0.3, 0.5), (-0.62, -0.2), (0.1, -0.66)].into_iter().map(blip).sum();
            let g = 0.10 + 0.5 * (-6.0 * behind).exp() + 0.35 * ring + 1.4 * blips * (-2.0 * behind).exp();
            rgba8([0.25 * g * g, g, 0.25 + 0.45 * g], 0.85 * ((0.97 - r) / (2.0 * s)).clamp(0.0, 1.0))
        })
    })
}

const HEIGHT: &str = "float height(float x, float z, float t) {
    float r = sqrt(x * x + z * z);
    return 0.07f * sin(1.1f * x + 0.9f * t) + 0.06f * sin(0.8f * z - 1.1f * t + 0.6f * x)
         + 0.035f * sin(2.3f * x - 1.7f * z + 1.7f * t) + 0.02f * sin(5.1f * x + 3.9f * z - 2.3f * t)
         + 0.10f * cos(2.6f * r - 3.0f * t) * exp(-0.3f * r);
  }\n";

const HEIGHT_WGSL: &str = "fn height(x: f32, z: f32, t: f32) -> f32 {
    let r = sqrt(x * x + z * z);
    return 0.07 * sin(1.1 * x + 0.9 * t) + 0.06 * sin(0.8 * z - 1.1 * t + 0.6 * x)
         + 0.035 * sin(2.3 * x - 1.7 * z + 1.7 * t) + 0.02 * sin(5.1 * x + 3.9 * z - 2.3 * t)
         + 0.10 * cos(2.6 * r - 3.0 * t) * exp(-0.3 * r);
  }\n";

fn height(x: f32, z: f32, t: f32) -> f32 {
    let r = (x * x + z * z).sqrt();
    0.07 * (1.1 * x + 0.9 * t).sin()
        + 0.06 * (0.8 * z - 1.1 * t + 0.6 * x).sin()
        + 0.035 * (2.3 * x - 1.7 * z + 1.7 * t).sin()
        + 0.02 * (5.1 * x + 3.9 * z - 2.3 * t).sin()
        + 0.10 * (2.6 * r - 3.0 * t).cos() * (-0.3 * r).exp()
}

/// The sea is a square with sides of 24 around the origin.
fn sea() -> KernelSource {
    let body = format!(
        "if (i >= PF_LEN(out)) return;
         float x = 24.0f * (i % {SEA_SIDE}) / {last}.0f - 12.0f, z = 24.0f * (i / {SEA_SIDE}) / {last}.0f - 12.0f;
         float4 p;
         p.x = height(x, z, t);
         p.y = 10.0f * (height(x - 0.05f, z, t) - height(x + 0.05f, z, t));
         p.z = 10.0f * (height(x, z - 0.05f, t) - height(x, z + 0.05f, t));
         p.w = 0.0f;
         PF_ITEM(out, i) = p;",
        last = SEA_SIDE - 1
    );
    let opencl =
        format!("{HEIGHT} kernel void sea(PF_BUFFER(float4, out), float t) {{ uint i = get_global_id(0); {body} }}");
    let cuda = format!(
        "{HEIGHT} __global__ void sea(PF_BUFFER(float4, out), float t) {{
           unsigned i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}"
    );
    let wgsl = format!(
        "{HEIGHT_WGSL} @compute @workgroup_size(64)
         fn sea(@builtin(global_invocation_id) id: vec3<u32>) {{
           let i = pf_index(id);
           if (i >= pf_items()) {{ return; }}
           let t = pf_arg_f32(0);
           let x = 24.0 * f32(i % {SEA_SIDE}u) / {last}.0 - 12.0;
           let z = 24.0 * f32(i / {SEA_SIDE}u) / {last}.0 - 12.0;
           pf_put_f32(4u * i, height(x, z, t));
           pf_put_f32(4u * i + 1u, 10.0 * (height(x - 0.05, z, t) - height(x + 0.05, z, t)));
           pf_put_f32(4u * i + 2u, 10.0 * (height(x, z - 0.05, t) - height(x, z + 0.05, t)));
           pf_put_f32(4u * i + 3u, 0.0);
         }}",
        last = SEA_SIDE - 1
    );
    // SAFETY: each item writes its own vertex below the target's length, and takes a number.
    let source = unsafe { KernelSource::new("sea").opencl_c(opencl).cuda_cpp(cuda) };
    source
        .wgsl(wgsl)
        .cpu_buffer(|out, args| {
            let t = args.f32(0)?;
            let at = |n: usize| 24.0 * n as f32 / (SEA_SIDE - 1) as f32 - 12.0;
            out.par_items(|i| -> [f32; 4] {
                let (x, z) = (at(i % SEA_SIDE as usize), at(i / SEA_SIDE as usize));
                let slope = |x0, z0, x1, z1| 10.0 * (height(x0, z0, t) - height(x1, z1, t));
                [height(x, z, t), slope(x - 0.05, z, x + 0.05, z), slope(x, z - 0.05, x, z + 0.05), 0.0]
            })
        })
        .with_items((SEA_SIDE * SEA_SIDE) as usize)
}

/// Does the same as `pf_rgba8`, for closures in Rust.
fn rgba8([r, g, b]: [f32; 3], alpha: f32) -> [u8; 4] {
    [r, g, b, alpha].map(|part| (part.clamp(0.0, 1.0) * 255.0 + 0.5) as u8)
}
