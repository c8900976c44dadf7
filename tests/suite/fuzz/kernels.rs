//! The kernels of the fuzz: a Rust closure, OpenCL C for the same, and what they write, in plain Rust.
//!
//! The only `unsafe` of the fuzz is here: it vouches for the text in OpenCL C.

use crate::fuzz::payload;
use pixelferry::api::opencl::cl::{self, Context, Program};
use pixelferry::{ComputeBackend, CpuKernelExt, Error, ImageView, Kernel, KernelSource, PixelFormat, Result};
use std::sync::{Arc, OnceLock};

/// A word that depends on a pixel, a seed and the word's number in the pixel. It is a finite binary32 and two of binary16.
pub fn word(x: u32, y: u32, seed: u32, number: u32) -> u32 {
    let mut h = x.wrapping_mul(0x9E37_79B1)
        ^ y.wrapping_mul(0x85EB_CA77)
        ^ seed.wrapping_mul(0xC2B2_AE3D)
        ^ number.wrapping_mul(0x27D4_EB2F);
    h ^= h >> 15;
    h = h.wrapping_mul(0x2C1B_3C6D);
    h ^= h >> 12;
    (h & 0x03ff_03ff) | 0x3800_3800
}

const WORD: &str = "
uint word(uint x, uint y, uint seed, uint number) {
  uint h = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ seed * 0xC2B2AE3Du ^ number * 0x27D4EB2Fu;
  h ^= h >> 15; h *= 0x2C1B3C6Du; h ^= h >> 12;
  return (h & 0x03ff03ffu) | 0x38003800u;
}
";

fn pixel_bytes(format: PixelFormat, x: u32, y: u32, seed: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    for number in 0..format.bytes_per_pixel().div_ceil(4) {
        bytes[4 * number..4 * number + 4].copy_from_slice(&word(x, y, seed, number as u32).to_le_bytes());
    }
    bytes
}

fn first<const N: usize>(bytes: [u8; 16]) -> [u8; N] {
    std::array::from_fn(|i| bytes[i])
}

/// Adds OpenCL C to a source.
#[allow(unsafe_code)]
fn opencl(source: KernelSource, text: &str) -> KernelSource {
    // SAFETY: all texts are in this file. They write their target alone, inside of the bounds that the macros give, and
    // read `n` bytes of a memory, which is the length that every launch of the fuzz gives with it.
    unsafe { source.opencl_c(text.to_owned()) }
}

/// Sets every byte to `seed + 7 * index`.
pub fn stamp() -> KernelSource {
    let source = KernelSource::new("stamp").cpu_buffer(|out, args| {
        let seed = args.u32(0)?;
        out.par_items::<u8>(|i| stamp_byte(i, seed))
    });
    opencl(
        source,
        "kernel void stamp(PF_BUFFER(uchar, out), uint seed) {
           for (uint i = get_global_id(0); i < PF_LEN(out); i += get_global_size(0))
             PF_ITEM(out, i) = (uchar)(seed + 7 * i);
         }",
    )
}

fn stamp_byte(index: usize, seed: u32) -> u8 {
    seed.wrapping_add((index as u32).wrapping_mul(7)) as u8
}

/// Writes what [`stamp`] does.
pub fn stamp_all(bytes: &mut [u8], seed: u32) {
    bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = stamp_byte(i, seed));
}

/// Changes every byte by one of another memory, of which the first `n` bytes are read.
pub fn mix() -> KernelSource {
    let source = KernelSource::new("stir").cpu_buffer(|out, args| {
        let (from, n) = (args.memory::<u8>(0)?, args.u32(1)? as usize);
        let from = from.get(..n).filter(|from| !from.is_empty());
        let from = from.ok_or_else(|| Error::invalid("mix", "the memory is too small"))?;
        out.par_chunks::<u8>(64, |chunk, bytes| {
            for (i, byte) in bytes.iter_mut().enumerate() {
                *byte ^= from[(chunk * 64 + i) % n];
            }
        })
    });
    opencl(
        source,
        "kernel void stir(PF_BUFFER(uchar, out), global const uchar *from, uint n) {
           for (uint i = get_global_id(0); i < PF_LEN(out); i += get_global_size(0)) PF_ITEM(out, i) ^= from[i % n];
         }",
    )
}

/// Sets every pixel to words of [`word`].
pub fn image(format: PixelFormat) -> KernelSource {
    let source = KernelSource::new("image").cpu_image(move |out, args| {
        let seed = args.u32(0)?;
        match format.bytes_per_pixel() {
            1 => out.par_pixels(|x, y| first::<1>(pixel_bytes(format, x, y, seed))),
            2 => out.par_pixels(|x, y| first::<2>(pixel_bytes(format, x, y, seed))),
            4 => out.par_pixels(|x, y| first::<4>(pixel_bytes(format, x, y, seed))),
            8 => out.par_pixels(|x, y| first::<8>(pixel_bytes(format, x, y, seed))),
            _ => out.par_pixels(|x, y| first::<16>(pixel_bytes(format, x, y, seed))),
        }
    });
    let pixel = format.info().c_type;
    let bits = match format.bytes_per_pixel() {
        1 => "(uchar)a",
        2 => "(ushort)a",
        4 => "a",
        8 => "(uint2)(a, word(x, y, seed, 1))",
        _ => "(uint4)(a, word(x, y, seed, 1), word(x, y, seed, 2), word(x, y, seed, 3))",
    };
    let value = format!("as_{pixel}({bits})");
    let text = format!(
        "{WORD}
         kernel void image(PF_IMAGE({pixel}, out), uint seed) {{
           uint x = get_global_id(0), y = get_global_id(1);
           if (x >= out_width || y >= out_height) return;
           uint a = word(x, y, seed, 0);
           PF_STORE(out, x, y, ({value}));
         }}"
    );
    opencl(source, &text)
}

/// Writes what [`image`] does.
pub fn paint(view: &ImageView, seed: u32, memory: &mut [u8]) {
    let bpp = view.format.bytes_per_pixel();
    for y in 0..view.extent.height {
        let row = &mut memory[view.row(y)];
        for (x, pixel) in row.chunks_exact_mut(bpp).enumerate() {
            pixel.copy_from_slice(&pixel_bytes(view.format, x as u32, y, seed)[..bpp]);
        }
    }
}

/// Fails in one of several ways before it writes anything. Threads only.
pub fn failing() -> KernelSource {
    let fail = |how: Result<u32>| match how {
        Ok(n) if n.is_multiple_of(2) => Err(Error::invalid("failing", "refused on purpose")),
        Ok(n) => payload::go_off(n as usize / 2),
        Err(error) => Err(error),
    };
    KernelSource::new("failing")
        .cpu_buffer(move |_, args| fail(args.u32(0)))
        .cpu_image(move |_, args| fail(args.u32(0)))
}

/// Panics on one of the threads that share the work out, after others have written. Threads only.
pub fn failing_late() -> KernelSource {
    KernelSource::new("failing_late").cpu_buffer(|out, args| {
        let kind = args.u32(0)? as usize;
        out.par_chunks::<u8>(16, |chunk, bytes| {
            bytes.fill(1);
            if chunk % 5 == 4 {
                payload::go_off(kind);
            }
        })
    })
}

/// A backend and its kernels, each built when it is first launched.
pub struct Engine {
    pub backend: Arc<dyn ComputeBackend>,
    stamp: OnceLock<Arc<dyn Kernel>>,
    mix: OnceLock<Arc<dyn Kernel>>,
    images: [OnceLock<Arc<dyn Kernel>>; PixelFormat::ALL.len()],
    /// [`failing`] and [`failing_late`], of threads only.
    pub failing: Vec<Arc<dyn Kernel>>,
}

impl Engine {
    pub fn new(backend: Arc<dyn ComputeBackend>) -> Self {
        let failing = [failing(), failing_late()].iter().filter_map(|source| backend.build(source).ok()).collect();
        Self { stamp: OnceLock::new(), mix: OnceLock::new(), images: Default::default(), failing, backend }
    }

    fn built(
        &self,
        kernel: &OnceLock<Arc<dyn Kernel>>,
        source: impl FnOnce() -> KernelSource,
    ) -> Result<Arc<dyn Kernel>> {
        if let Some(kernel) = kernel.get() {
            return Ok(Arc::clone(kernel));
        }
        let new = self.backend.build(&source())?;
        Ok(Arc::clone(kernel.get_or_init(|| new)))
    }

    pub fn stamp(&self) -> Result<Arc<dyn Kernel>> {
        self.built(&self.stamp, stamp)
    }

    pub fn mix(&self) -> Result<Arc<dyn Kernel>> {
        self.built(&self.mix, mix)
    }

    pub fn image(&self, format: PixelFormat) -> Result<Arc<dyn Kernel>> {
        let number = PixelFormat::ALL.iter().position(|of| *of == format).unwrap_or(0);
        self.built(&self.images[number], || image(format))
    }
}

/// Kernels of one context of OpenCL.
pub struct ClKernels {
    /// `stamp(to, len, seed)` sets bytes as [`stamp_all`] does.
    pub stamp: cl::Kernel,
    /// `stir(to, len, from, n, scratch)` changes byte `i` of `len` by byte `i % n`.
    pub stir: cl::Kernel,
    /// Takes a sampler.
    pub sampled: cl::Kernel,
    /// Takes a sampler by another name.
    pub renamed: cl::Kernel,
}

const CL_SOURCE: &str = "
typedef sampler_t mine;
kernel void stamp(global uchar *to, uint len, uint seed) {
  for (uint i = get_global_id(0); i < len; i += get_global_size(0)) to[i] = (uchar)(seed + 7 * i);
}
kernel void stir(global uchar *to, uint len, global const uchar *from, uint n, local uchar *scratch) {
  for (uint i = get_global_id(0); i < len; i += get_global_size(0)) to[i] ^= from[i % n];
}
kernel void sampled(global uchar *to, sampler_t by) { if (get_global_id(0) == 1 << 30) to[0] = 1; }
kernel void renamed(global uchar *to, mine by) { if (get_global_id(0) == 1 << 30) to[0] = 1; }
";

impl ClKernels {
    /// Builds them.
    #[allow(unsafe_code)]
    pub fn build(context: &Context) -> Result<Self> {
        // SAFETY: the kernels touch `len` and `n` bytes of their buffers, and every launch gives the buffers' lengths.
        let program = unsafe { Program::build(context, CL_SOURCE, "")? };
        Ok(Self {
            stamp: program.kernel("stamp")?,
            stir: program.kernel("stir")?,
            sampled: program.kernel("sampled")?,
            renamed: program.kernel("renamed")?,
        })
    }
}
