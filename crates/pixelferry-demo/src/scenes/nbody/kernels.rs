//! The simulation's kernels. A body is (x, y, z, mass), a velocity (x, y, z, unused).

use pixelferry::{CpuKernelExt, KernelSource};
use rayon::prelude::*;

/// Length added to every distance, so that near passes stay finite (Plummer softening).
pub const SOFTENING: f32 = 0.06;

/// Bodies whose acceleration the CPU sums side by side: what the compiler turns into vector registers.
const LANES: usize = 16;

/// Every kernel, for so many bodies.
pub fn all(bodies: u32) -> Vec<KernelSource> {
    vec![kick(bodies), drift(bodies), vertices(bodies)]
}

/// A kernel's text in both languages.
fn texts(name: &'static str, opencl: &'static str, cuda: &'static str) -> KernelSource {
    // SAFETY: each item writes its own body below the target's length, and reads of the other memories as many as the
    // target has; the scene, which alone launches them, gives all three the same length.
    unsafe { KernelSource::new(name).opencl_c(opencl).cuda_cpp(cuda) }
}

/// Target: velocities, changed in place by the gravity of all bodies over a time. Arguments: bodies, time, softening.
pub fn kick(bodies: u32) -> KernelSource {
    texts(
        "kick",
        "#define TILE 256
             kernel __attribute__((reqd_work_group_size(TILE, 1, 1)))
             void kick(PF_BUFFER(float4, velocity), global const float4* body, float dt, float softening) {
               local float4 tile[TILE];
               uint i = get_global_id(0), lane = get_local_id(0), n = PF_LEN(velocity);
               float4 me = body[min(i, n - 1)];
               float ax = 0.0f, ay = 0.0f, az = 0.0f;
               for (uint first = 0; first < n; first += TILE) {
                 // What is missing in the last tile has no mass.
                 tile[lane] = first + lane < n ? body[first + lane] : (float4)(0.0f);
                 barrier(CLK_LOCAL_MEM_FENCE);
                 for (uint j = 0; j < TILE; j++) {
                   float4 b = tile[j];
                   float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
                   float q = rsqrt(dx * dx + dy * dy + dz * dz + softening * softening);
                   float pull = b.w * q * q * q;
                   ax += pull * dx; ay += pull * dy; az += pull * dz;
                 }
                 barrier(CLK_LOCAL_MEM_FENCE);
               }
               if (i < n) PF_ITEM(velocity, i) += dt * (float4)(ax, ay, az, 0.0f);
             }",
        "#define TILE 256
             __global__ void __launch_bounds__(TILE)
             kick(PF_BUFFER(float4, velocity), const float4* body, float dt, float softening) {
               __shared__ float4 tile[TILE];
               unsigned lane = threadIdx.x, i = blockIdx.x * blockDim.x + lane, n = PF_LEN(velocity);
               float4 me = body[min(i, n - 1)];
               float ax = 0.0f, ay = 0.0f, az = 0.0f;
               for (unsigned first = 0; first < n; first += blockDim.x) {
                 // What is missing in the last tile has no mass.
                 tile[lane] = first + lane < n ? body[first + lane] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                 __syncthreads();
                 #pragma unroll 32
                 for (unsigned j = 0; j < blockDim.x; j++) {
                   float4 b = tile[j];
                   float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
                   float q = rsqrtf(dx * dx + dy * dy + dz * dz + softening * softening);
                   float pull = b.w * q * q * q;
                   ax += pull * dx; ay += pull * dy; az += pull * dz;
                 }
                 __syncthreads();
               }
               if (i >= n) return;
               PF_ITEM(velocity, i).x += dt * ax;
               PF_ITEM(velocity, i).y += dt * ay;
               PF_ITEM(velocity, i).z += dt * az;
             }",
    )
    .wgsl(
        "const TILE = 256u;
         @group(1) @binding(0) var<storage, read> body: array<vec4<f32>>;
         var<workgroup> tile: array<vec4<f32>, TILE>;
         @compute @workgroup_size(TILE)
         fn kick(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
           let i = pf_index(id);
           let n = pf_items();
           let dt = pf_arg_f32(0);
           let softening = pf_arg_f32(1);
           let me = body[min(i, n - 1u)];
           var pull = vec3<f32>(0.0);
           for (var first = 0u; first < n; first += TILE) {
             // What is missing in the last tile has no mass.
             var mine = vec4<f32>(0.0);
             if (first + lane < n) { mine = body[first + lane]; }
             tile[lane] = mine;
             workgroupBarrier();
             for (var j = 0u; j < TILE; j++) {
               let b = tile[j];
               let d = b.xyz - me.xyz;
               let q = inverseSqrt(dot(d, d) + softening * softening);
               pull += b.w * q * q * q * d;
             }
             workgroupBarrier();
           }
           if (i < n) {
             for (var axis = 0u; axis < 3u; axis++) {
               pf_put_f32(4u * i + axis, pf_get_f32(4u * i + axis) + dt * pull[axis]);
             }
           }
         }",
    )
    .cpu_buffer(|velocities, args| {
        let (bodies, dt, softening) = (args.memory::<[f32; 4]>(0)?, args.f32(1)?, args.f32(2)?);
        // Rayon itself: the work of one body is far more than `par_chunks` takes for worth a thread.
        let velocities = velocities.as_slice_mut::<[f32; 4]>()?;
        velocities.par_chunks_mut(LANES).zip(bodies.par_chunks(LANES)).for_each(|(velocities, group)| {
            let pull = accelerations(group, bodies, softening * softening);
            for (lane, velocity) in velocities.iter_mut().enumerate() {
                (0..3).for_each(|axis| velocity[axis] += dt * pull[axis][lane]);
            }
        });
        Ok(())
    })
    .with_items(bodies as usize)
}

/// Returns the accelerations, by axis, of at most [`LANES`] bodies due to all of them.
fn accelerations(group: &[[f32; 4]], bodies: &[[f32; 4]], softening2: f32) -> [[f32; LANES]; 3] {
    let mut at = [[0.0_f32; LANES]; 3];
    for (lane, body) in group.iter().enumerate() {
        (0..3).for_each(|axis| at[axis][lane] = body[axis]);
    }
    let [mut ax, mut ay, mut az] = [[0.0_f32; LANES]; 3];
    for [x, y, z, mass] in bodies {
        for lane in 0..LANES {
            let (dx, dy, dz) = (x - at[0][lane], y - at[1][lane], z - at[2][lane]);
            let q = 1.0 / (dx * dx + dy * dy + dz * dz + softening2).sqrt();
            let pull = mass * (q * q * q);
            ax[lane] += pull * dx;
            ay[lane] += pull * dy;
            az[lane] += pull * dz;
        }
    }
    [ax, ay, az]
}

/// Target: bodies, moved in place over a time. Arguments: velocities, time.
pub fn drift(bodies: u32) -> KernelSource {
    texts(
        "drift",
        "kernel void drift(PF_BUFFER(float4, body), global const float4* velocity, float dt) {
               uint i = get_global_id(0);
               if (i >= PF_LEN(body)) return;
               PF_ITEM(body, i) += dt * (float4)(velocity[i].xyz, 0.0f);
             }",
        "__global__ void drift(PF_BUFFER(float4, body), const float4* velocity, float dt) {
               unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
               if (i >= PF_LEN(body)) return;
               PF_ITEM(body, i).x += dt * velocity[i].x;
               PF_ITEM(body, i).y += dt * velocity[i].y;
               PF_ITEM(body, i).z += dt * velocity[i].z;
             }",
    )
    .wgsl(
        "@group(1) @binding(0) var<storage, read> velocity: array<vec4<f32>>;
         @compute @workgroup_size(64)
         fn drift(@builtin(global_invocation_id) id: vec3<u32>) {
           let i = pf_index(id);
           if (i >= pf_items()) { return; }
           for (var axis = 0u; axis < 3u; axis++) {
             pf_put_f32(4u * i + axis, pf_get_f32(4u * i + axis) + pf_arg_f32(0) * velocity[i][axis]);
           }
         }",
    )
    .cpu_buffer(|bodies, args| {
        let (velocities, dt) = (args.memory::<[f32; 4]>(0)?, args.f32(1)?);
        bodies.par_chunks(LANES, |chunk, bodies: &mut [[f32; 4]]| {
            for (body, velocity) in bodies.iter_mut().zip(&velocities[chunk * LANES..]) {
                (0..3).for_each(|axis| body[axis] += dt * velocity[axis]);
            }
        })
    })
    .with_items(bodies as usize)
}

/// Target: vertices (x, y, z, speed), one for each body. Arguments: bodies, velocities.
pub fn vertices(bodies: u32) -> KernelSource {
    texts(
        "vertices",
        "kernel void vertices(PF_BUFFER(float4, out), global const float4* body, global const float4* velocity) {
               uint i = get_global_id(0);
               if (i >= PF_LEN(out)) return;
               PF_ITEM(out, i) = (float4)(body[i].xyz, length(velocity[i].xyz));
             }",
        "__global__ void vertices(PF_BUFFER(float4, out), const float4* body, const float4* velocity) {
               unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
               if (i >= PF_LEN(out)) return;
               float4 b = body[i], v = velocity[i];
               PF_ITEM(out, i) = make_float4(b.x, b.y, b.z, sqrtf(v.x * v.x + v.y * v.y + v.z * v.z));
             }",
    )
    .wgsl(
        "@group(1) @binding(0) var<storage, read> body: array<vec4<f32>>;
         @group(1) @binding(1) var<storage, read> velocity: array<vec4<f32>>;
         @compute @workgroup_size(64)
         fn vertices(@builtin(global_invocation_id) id: vec3<u32>) {
           let i = pf_index(id);
           if (i >= pf_items()) { return; }
           let vertex = vec4<f32>(body[i].xyz, length(velocity[i].xyz));
           for (var k = 0u; k < 4u; k++) { pf_put_f32(4u * i + k, vertex[k]); }
         }",
    )
    .cpu_buffer(|out, args| {
        let (bodies, velocities) = (args.memory::<[f32; 4]>(0)?, args.memory::<[f32; 4]>(1)?);
        out.par_items(|i| -> [f32; 4] {
            let ([x, y, z, _], [vx, vy, vz, _]) = (bodies[i], velocities[i]);
            [x, y, z, (vx * vx + vy * vy + vz * vz).sqrt()]
        })
    })
    .with_items(bodies as usize)
}
