//! Positions of all drops.

use pixelferry::{CpuKernelExt, KernelSource};
use std::f32::consts::TAU;

/// Target: (x, y, z, age from 0 to 1) of each drop, y up from the ground. Argument: time in seconds.
///
/// Each of a drop's lives has its own direction and speed, hashed from its number and the number of the life.
pub fn source(drops: u32) -> KernelSource {
    let chance = "
        float chance(unsigned int drop, unsigned int life, unsigned int which) {
          unsigned int h = drop * 0x9E3779B1u ^ life * 0x85EBCA77u ^ which * 0xC2B2AE3Du;
          h ^= h >> 15; h *= 0x2C1B3C6Du; h ^= h >> 12; h *= 0x297A2D39u; h ^= h >> 15;
          return (h >> 8) * (1.0f / 16777216.0f);
        }\n";
    let opencl = "kernel void fountain(PF_BUFFER(float4, out), float t) {
           uint i = get_global_id(0);
           if (i >= PF_LEN(out)) return;
           float span = 1.6f + 1.2f * chance(i, 0, 0), lives = t / span + chance(i, 0, 1), life = floor(lives);
           float age = lives - life, a = age * span;
           float turn = 6.2831853f * chance(i, (uint)life, 2);
           float out_speed = 0.10f + 0.26f * sqrt(chance(i, (uint)life, 3)), up = 1.75f + 0.35f * chance(i, (uint)life, 4);
           float r = 0.015f + out_speed * a;
           PF_ITEM(out, i) = (float4)(r * cos(turn), fmax(up * a - 0.95f * a * a, 0.0f), r * sin(turn), age);
         }";
    let cuda = "__global__ void fountain(PF_BUFFER(float4, out), float t) {
           unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
           if (i >= PF_LEN(out)) return;
           float span = 1.6f + 1.2f * chance(i, 0, 0), lives = t / span + chance(i, 0, 1), life = floorf(lives);
           float age = lives - life, a = age * span;
           float turn = 6.2831853f * chance(i, (unsigned)life, 2);
           float out_speed = 0.10f + 0.26f * sqrtf(chance(i, (unsigned)life, 3));
           float up = 1.75f + 0.35f * chance(i, (unsigned)life, 4), r = 0.015f + out_speed * a;
           PF_ITEM(out, i) = make_float4(r * cosf(turn), fmaxf(up * a - 0.95f * a * a, 0.0f), r * sinf(turn), age);
         }";
    let (opencl, cuda) = (format!("{chance}{opencl}"), format!("__device__ {}{cuda}", chance.trim_start()));
    // SAFETY: both write items below the target's length only, and take a number.
    let source = unsafe { KernelSource::new("fountain").opencl_c(opencl).cuda_cpp(cuda) };
    let wgsl = "
        fn chance(drop: u32, life: u32, which: u32) -> f32 {
          var h = (drop * 0x9E3779B1u) ^ (life * 0x85EBCA77u) ^ (which * 0xC2B2AE3Du);
          h ^= h >> 15u; h *= 0x2C1B3C6Du; h ^= h >> 12u; h *= 0x297A2D39u; h ^= h >> 15u;
          return f32(h >> 8u) * (1.0 / 16777216.0);
        }
        @compute @workgroup_size(64)
        fn fountain(@builtin(global_invocation_id) id: vec3<u32>) {
          let i = pf_index(id);
          if (i >= pf_items()) { return; }
          let span = 1.6 + 1.2 * chance(i, 0u, 0u);
          let lives = pf_arg_f32(0) / span + chance(i, 0u, 1u);
          let life = u32(floor(lives));
          let age = fract(lives);
          let a = age * span;
          let turn = 6.2831853 * chance(i, life, 2u);
          let r = 0.015 + (0.10 + 0.26 * sqrt(chance(i, life, 3u))) * a;
          let up = 1.75 + 0.35 * chance(i, life, 4u);
          pf_put_f32(4u * i, r * cos(turn));
          pf_put_f32(4u * i + 1u, max(up * a - 0.95 * a * a, 0.0));
          pf_put_f32(4u * i + 2u, r * sin(turn));
          pf_put_f32(4u * i + 3u, age);
        }";
    source
        .wgsl(wgsl)
        .cpu_buffer(|out, args| {
            let t = args.f32(0)?;
            out.par_items(|i| -> [f32; 4] {
                let i = i as u32;
                let span = 1.6 + 1.2 * chance_of(i, 0, 0);
                let lives = t / span + chance_of(i, 0, 1);
                let life = lives.floor();
                let (age, life) = (lives - life, life as u32);
                let (a, turn) = (age * span, TAU * chance_of(i, life, 2));
                let (out_speed, up) = (0.10 + 0.26 * chance_of(i, life, 3).sqrt(), 1.75 + 0.35 * chance_of(i, life, 4));
                let r = 0.015 + out_speed * a;
                [r * turn.cos(), (up * a - 0.95 * a * a).max(0.0), r * turn.sin(), age]
            })
        })
        .with_items(drops as usize)
}

/// A number from 0 to below 1, the same as `chance` of the kernel's other languages gives.
fn chance_of(drop: u32, life: u32, which: u32) -> f32 {
    let mut h = drop.wrapping_mul(0x9E37_79B1) ^ life.wrapping_mul(0x85EB_CA77) ^ which.wrapping_mul(0xC2B2_AE3D);
    h ^= h >> 15;
    h = h.wrapping_mul(0x2C1B_3C6D);
    h ^= h >> 12;
    h = h.wrapping_mul(0x297A_2D39);
    h ^= h >> 15;
    (h >> 8) as f32 / 16_777_216.0
}
