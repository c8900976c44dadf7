//! The fluid's kernels in C; `super::wgsl` is the same in WGSL, `super::cpu` in Rust.
//!
//! Cell (x, y) is at (x + 0.5, y + 0.5) / rows, in units of the fluid's height. Outside of the fluid, the value of the
//! nearest cell applies.

use super::{cpu, wgsl};
use crate::convert::reinhard;
use crate::pixels::{Pixels, Tone};
use crate::scenes::c_kernel::c_kernel;
use pixelferry::{CpuKernelExt, KernelSource};

/// Definitions shared by the kernels.
const COMMON: &str = "
    float blend(float a, float b, float t) { return a + t * (b - a); }
    /* The field at a place counted in cells from the middle of cell (0, 0). */
    float4 sample(IN float4* field, int w, int h, float px, float py) {
      px = fmin(fmax(px, 0.0f), (float)(w - 1)); py = fmin(fmax(py, 0.0f), (float)(h - 1));
      int x = (int)px, y = (int)py, right = inside(x + 1, w), below = inside(y + 1, h);
      float u = px - x, v = py - y;
      float4 a = field[y * w + x], b = field[y * w + right], c = field[below * w + x], d = field[below * w + right];
      a.x = blend(blend(a.x, b.x, u), blend(c.x, d.x, u), v);
      a.y = blend(blend(a.y, b.y, u), blend(c.y, d.y, u), v);
      a.z = blend(blend(a.z, b.z, u), blend(c.z, d.z, u), v);
      a.w = 0.0f;
      return a;
    }
    /* How much of a jet reaches a cell, 0 to 1. */
    float reach(float4 jet, float x, float y, float rows) {
      float dx = (x + 0.5f) / rows - jet.x, dy = (y + 0.5f) / rows - jet.y, d = dx * dx + dy * dy;
      return d < 0.01f ? exp(-1500.0f * d) : 0.0f;
    }
";

fn source(name: &'static str, body: &str) -> KernelSource {
    // SAFETY: each item writes its own cell, pixel or jet below the target's bounds, and reads cells by indices clamped
    // to the fluid's size and the jets by their number. Only the scene launches them, and it provides memory of these
    // sizes.
    unsafe { c_kernel(name, &format!("{COMMON}{body}")) }
}

/// Target: positions (x, y) and directions (z, w) of the jets: on a circle, pointing inwards, swinging. Arguments:
/// width of the fluid in heights, time.
pub fn jets() -> KernelSource {
    let body = "
        KERNEL jets(PF_BUFFER(float4, out), float aspect, float t) {
          int i = THREAD_X;
          if (i >= (int)PF_LEN(out)) return;
          float place = 2.0943951f * i + 0.3f * t, aim = place + 3.1415927f + 0.9f * sin(1.3f * t + 2.0f * i);
          float4 jet;
          jet.x = 0.5f * aspect + 0.36f * cos(place); jet.y = 0.5f + 0.36f * sin(place);
          jet.z = cos(aim); jet.w = sin(aim);
          PF_ITEM(out, i) = jet;
        }";
    source("jets", body)
        .wgsl(wgsl::jets())
        .cpu_buffer(|out, args| {
            let (aspect, t) = (args.f32(0)?, args.f32(1)?);
            out.par_items(|i| cpu::jet(i, aspect, t))
        })
        .with_items(cpu::JETS)
}

/// Target: the flow, which carries its own velocity along and is pushed by the jets. Arguments: flow, jets, length of the step.
pub fn push() -> KernelSource {
    let body = "
        KERNEL push(PF_IMAGE(float4, out), IN float4* flow, IN float4* jets, float dt) {
          CELL
          float rows = (float)out_height;
          float4 v = flow[y * out_width + x];
          v = sample(flow, out_width, out_height, x - dt * rows * v.x, y - dt * rows * v.y);
          for (int i = 0; i < 3; i++) {
            float force = 36.0f * dt * reach(jets[i], (float)x, (float)y, rows);
            v.x += force * jets[i].z; v.y += force * jets[i].w;
          }
          PF_STORE(out, x, y, v);
        }";
    source("push", body).wgsl(wgsl::push()).cpu_image(|out, args| {
        let (flow, jets, dt) = (cpu::CellField::of(args.memory(0)?, out.extent())?, args.memory(1)?, args.f32(2)?);
        out.par_pixels(|x, y| cpu::push(&flow, jets, x, y, dt))
    })
}

/// Target: the divergence of each cell, per second. Argument: flow.
pub fn divergence() -> KernelSource {
    let body = "
        KERNEL divergence(PF_IMAGE(float, out), IN float4* flow) {
          CELL
          int w = out_width, h = out_height;
          /* Nothing goes through the walls. */
          float left = x > 0 ? flow[y * w + x - 1].x : 0.0f, right = x < w - 1 ? flow[y * w + x + 1].x : 0.0f;
          float above = y > 0 ? flow[(y - 1) * w + x].y : 0.0f, below = y < h - 1 ? flow[(y + 1) * w + x].y : 0.0f;
          PF_STORE(out, x, y, 0.5f * h * (right - left + below - above));
        }";
    source("divergence", body).wgsl(wgsl::divergence()).cpu_image(|out, args| {
        let flow = cpu::CellField::of(args.memory(0)?, out.extent())?;
        out.par_pixels(|x, y| cpu::divergence(&flow, x, y))
    })
}

/// Target: the pressure after one more step of Jacobi's method. Arguments: pressure, divergence.
pub fn jacobi() -> KernelSource {
    let body = "
        KERNEL jacobi(PF_IMAGE(float, out), IN float* pressure, IN float* divergence) {
          CELL
          int w = out_width, h = out_height;
          float around = pressure[y * w + inside(x - 1, w)] + pressure[y * w + inside(x + 1, w)]
                       + pressure[inside(y - 1, h) * w + x] + pressure[inside(y + 1, h) * w + x];
          PF_STORE(out, x, y, 0.25f * (around - divergence[y * w + x] / ((float)h * h)));
        }";
    source("jacobi", body).wgsl(wgsl::jacobi()).cpu_image(|out, args| {
        let (pressure, divergence) =
            (cpu::CellField::of(args.memory(0)?, out.extent())?, cpu::CellField::of(args.memory(1)?, out.extent())?);
        out.par_pixels(|x, y| cpu::jacobi(&pressure, &divergence, x, y))
    })
}

/// Target: the flow without its divergence. Arguments: flow, pressure.
pub fn project() -> KernelSource {
    let body = "
        KERNEL project(PF_IMAGE(float4, out), IN float4* flow, IN float* pressure) {
          CELL
          int w = out_width, h = out_height;
          float4 v = flow[y * w + x];
          v.x -= 0.5f * h * (pressure[y * w + inside(x + 1, w)] - pressure[y * w + inside(x - 1, w)]);
          v.y -= 0.5f * h * (pressure[inside(y + 1, h) * w + x] - pressure[inside(y - 1, h) * w + x]);
          PF_STORE(out, x, y, v);
        }";
    source("project", body).wgsl(wgsl::project()).cpu_image(|out, args| {
        let (flow, pressure) =
            (cpu::CellField::of(args.memory(0)?, out.extent())?, cpu::CellField::of(args.memory(1)?, out.extent())?);
        out.par_pixels(|x, y| cpu::project(&flow, &pressure, x, y))
    })
}

/// Target: the dye, advected by the flow, fading, and fed by the jets. Arguments: dye, flow, jets, length of the step.
pub fn carry() -> KernelSource {
    let body = "
        KERNEL carry(PF_IMAGE(float4, out), IN float4* dye, IN float4* flow, IN float4* jets, float dt) {
          CELL
          float rows = (float)out_height;
          float4 v = flow[y * out_width + x];
          float4 c = sample(dye, out_width, out_height, x - dt * rows * v.x, y - dt * rows * v.y);
          float fade = 1.0f - 0.35f * dt;
          c.x *= fade; c.y *= fade; c.z *= fade;
          for (int i = 0; i < 3; i++) {
            float feed = 9.0f * dt * reach(jets[i], (float)x, (float)y, rows);
            c.x += feed * (i == 0 ? 1.9f : i == 1 ? 0.04f : 1.0f);
            c.y += feed * (i == 0 ? 0.5f : i == 1 ? 0.6f : 0.06f);
            c.z += feed * (i == 0 ? 0.03f : i == 1 ? 1.9f : 1.5f);
          }
          PF_STORE(out, x, y, c);
        }";
    source("carry", body).wgsl(wgsl::carry()).cpu_image(|out, args| {
        let (dye, flow) =
            (cpu::CellField::of(args.memory(0)?, out.extent())?, cpu::CellField::of(args.memory(1)?, out.extent())?);
        let (jets, dt) = (args.memory(2)?, args.f32(3)?);
        out.par_pixels(|x, y| cpu::carry(&dye, &flow, jets, x, y, dt))
    })
}

/// Target: the picture. Arguments: dye, its columns, its rows.
pub fn dye(pixels: Pixels) -> KernelSource {
    // Thick dye is bright but never exceeds white; the square root approximates the sRGB curve.
    let shown = match pixels.tone {
        Tone::None => "c = pf_tonemap_reinhard(c); c.x = sqrt(c.x); c.y = sqrt(c.y); c.z = sqrt(c.z);",
        _ => "",
    };
    let body = format!(
        "
        {}
        KERNEL dye(PF_IMAGE(PIXEL, out), IN float4* field, int w, int h) {{
          CELL
          float4 d = sample(field, w, h, (x + 0.5f) * w / out_width - 0.5f, (y + 0.5f) * h / out_height - 0.5f);
          float3 c;
          c.x = 0.004f + 2.2f * d.x; c.y = 0.0045f + 2.2f * d.y; c.z = 0.008f + 2.2f * d.z;
          {shown}
          float thick = d.x + d.y + d.z;
          PF_STORE(out, x, y, pixel(c, thick / (thick + 0.1f)));
        }}",
        pixels.source()
    );
    source("dye", &body).wgsl(wgsl::dye(pixels)).cpu_image(move |out, args| {
        let cells = pixelferry::Extent::new(args.i32(1)?.max(0) as u32, args.i32(2)?.max(0) as u32);
        let (field, size) = (cpu::CellField::of(args.memory(0)?, cells)?, out.extent());
        pixels.write(out, |x, y| {
            let (light, coverage) = cpu::light(&field, size, x, y);
            (if pixels.tone == Tone::None { light.map(|v| reinhard(v).sqrt()) } else { light }, coverage)
        })
    })
}
