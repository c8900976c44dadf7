//! A kernel that works as long as it is told to.

use pixelferry::{CpuArgs, CpuBuffer, CpuKernelExt, KernelSource, Result};

/// One step of a linear congruential generator (Numerical Recipes' constants).
const fn step(v: u32) -> u32 {
    v.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
}

/// Returns what the kernel makes of one item.
pub fn grind(v: u32, rounds: u32) -> u32 {
    (0..rounds).fold(v, |v, _| step(v))
}

fn on_threads(out: &mut CpuBuffer<'_>, args: &CpuArgs<'_>) -> Result<()> {
    const CHUNK: usize = 16_384;
    let (from, rounds) = (args.memory::<u32>(0)?, args.u32(1)?);
    out.par_chunks::<u32>(CHUNK, |chunk, items| {
        let from = from.get(chunk * CHUNK..).unwrap_or_default();
        items.iter_mut().zip(from).for_each(|(out, v)| *out = grind(*v, rounds));
    })
}

/// `out[i]` becomes `from[i]` after `rounds` steps of a generator.
pub fn source() -> KernelSource {
    let opencl = "__kernel void grind(PF_BUFFER(uint, out), __global const uint *from, uint rounds) {
               size_t i = get_global_id(0);
               if (i >= PF_LEN(out)) return;
               uint v = from[i];
               for (uint n = 0; n < rounds; n++) v = v * 1664525u + 1013904223u;
               PF_ITEM(out, i) = v;
             }";
    let cuda = "extern \"C\" __global__ void grind(PF_BUFFER(unsigned, out), const unsigned *from, unsigned rounds) {
               unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
               if (i >= PF_LEN(out)) return;
               unsigned v = from[i];
               for (unsigned n = 0; n < rounds; n++) v = v * 1664525u + 1013904223u;
               PF_ITEM(out, i) = v;
             }";
    // SAFETY: each item writes its own number below the target's length and reads the same of `from`, which the example,
    // that alone launches it, makes as long.
    unsafe { KernelSource::new("grind").cpu_buffer(on_threads).opencl_c(opencl).cuda_cpp(cuda) }
}
