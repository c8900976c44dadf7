//! The kernel that makes a buffer of an array, for CUDA and the CPU.

use crate::content::Content;
use crate::items::{Axis, Items};
use crate::raw::memory::MemoryDesc;
use pixelferry::{
    Arg, ComputeMemory, CpuArgs, CpuBuffer, CpuKernelExt, Error, KernelSource, Result, SurfaceDesc, Target,
};
use pixelferry_look::{MemoryLocation, Span};

/// Compiled from `kernels/pack.cu` by `cargo xtask ptx`.
const PTX: &str = include_str!("ptx/pack.ptx");

/// Bytes that one thread copies at a time.
const CHUNK: usize = 1 << 16;

impl MemoryDesc for Items {
    fn span(&self) -> Span {
        self.span
    }
}

impl Content for Items {
    fn source(_: &SurfaceDesc) -> KernelSource {
        // SAFETY: each item writes only its own bytes below the length, and reads the array at indices that `Items`
        // checked against its memory; `arguments` makes the arguments for a buffer of `len` bytes, and only `stage` and
        // `array_kernel` launch it.
        unsafe { KernelSource::new("pf_pack").ptx(PTX) }.cpu_buffer(on_cpu)
    }

    fn work(&self) -> String {
        let [outer, middle, inner] = self.axes.map(|axis| axis.stride);
        format!("pieces of {} bytes, strides {outer} {middle} {inner}", self.piece)
    }

    fn arguments<'a>(&self, memory: &'a dyn ComputeMemory, _: Option<&'a dyn ComputeMemory>) -> Vec<Arg<'a>> {
        let [outer, middle, inner] = self.axes;
        let numbers = [
            // The position is inside one allocation.
            self.span.first as i64,
            self.piece as i64,
            outer.stride,
            middle.side,
            middle.stride,
            inner.side,
            inner.stride,
        ];
        [Arg::Memory(memory)].into_iter().chain(numbers.map(Arg::I64)).collect()
    }

    fn write(&self, to: Target<'_>, bytes: &[u8]) -> Result<()> {
        let (memory, view) = to.into_parts();
        memory.map_write(view.span(), &mut |to| {
            self.copy(bytes, 0, to);
            Ok(())
        })
    }
}

fn on_cpu(out: &mut CpuBuffer<'_>, args: &CpuArgs<'_>) -> Result<()> {
    let bytes = args.memory(0)?;
    let (middle, inner) = (args.i64(4)?, args.i64(6)?);
    let axes = [
        Axis { side: i64::MAX, stride: args.i64(3)? },
        Axis { side: middle.max(1), stride: args.i64(5)? },
        Axis { side: inner.max(1), stride: args.i64(7)? },
    ];
    let piece = usize::try_from(args.i64(2)?).ok().filter(|piece| *piece > 0);
    let piece = piece.ok_or_else(|| Error::invalid("Buffer", "pieces of no bytes"))?;
    let first = usize::try_from(args.i64(1)?).map_err(|_| Error::invalid("Buffer", "it begins before its memory"))?;
    let span = Span { start: 0, len: bytes.len(), first, place: MemoryLocation::Host };
    let items = Items { span, piece, axes, len: out.byte_len() };
    out.par_chunks::<u8>(CHUNK, |chunk, to| items.copy(bytes, chunk * CHUNK, to))
}
