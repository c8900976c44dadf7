//! A buffer target, as a CPU kernel writes it.

use crate::crew::Loops;
use crate::pods;
use bytemuck::Pod;
use interop_core::{Error, Result};
use std::any::type_name;

/// The bytes that a kernel writes.
///
/// The buffer has as many items as whole `T` fit; trailing bytes stay unchanged. A `T` without a size, or larger than
/// the buffer, is [`Error::InvalidInput`].
///
/// ```
/// use cpu_fallback::{CpuBackend, CpuKernelExt};
/// use interop_core::{ComputeBackend, KernelSource, Target};
///
/// let points = KernelSource::new("points").cpu_buffer(|out, _| {
///     assert_eq!(out.items::<[u16; 2]>()?, 2);
///     out.par_items(|i| [i as u16, 7])
/// });
/// let backend = CpuBackend::new()?;
/// let (kernel, mut memory) = (backend.build(&points)?, backend.allocate(8)?);
/// backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[])?;
/// let expected = [0_u16, 7, 1, 7].map(u16::to_ne_bytes).concat();
/// memory.map_read(0..8, &mut |bytes| Ok(assert_eq!(bytes, expected)))?;
/// # Ok::<(), interop_core::Error>(())
/// ```
pub struct CpuBuffer<'a> {
    bytes: &'a mut [u8],
    loops: Loops,
    kernel: &'a str,
}

impl<'a> CpuBuffer<'a> {
    pub(crate) const fn new(bytes: &'a mut [u8], loops: Loops, kernel: &'a str) -> Self {
        Self { bytes, loops, kernel }
    }

    /// Returns the number of bytes.
    pub const fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the number of whole items.
    pub fn items<T: Pod>(&self) -> Result<usize> {
        match self.bytes.len().checked_div(size_of::<T>()) {
            Some(items) if items > 0 => Ok(items),
            _ => {
                let problem = format!("the target has only {} bytes", self.bytes.len());
                Err(misfit::<T>(self.kernel, &problem))
            }
        }
    }

    /// Sets every item to `item(index)`, many in parallel.
    pub fn par_items<T: Pod>(&mut self, item: impl Fn(usize) -> T + Send + Sync) -> Result<()> {
        let grain = self.loops.grain();
        self.pieces::<T>(grain, |piece, bytes| pods::write_items(bytes, |i| item(piece * grain + i)))
    }

    /// Calls `f(chunk, items)` for every chunk of `chunk_items` items, many in parallel; the last chunk may be shorter.
    /// The items contain the previous content of the memory.
    ///
    /// # Errors
    /// Also where `chunk_items` is 0.
    pub fn par_chunks<T: Pod>(&mut self, chunk_items: usize, f: impl Fn(usize, &mut [T]) + Send + Sync) -> Result<()> {
        if chunk_items == 0 {
            return Err(misfit::<T>(self.kernel, "chunks of 0 items were requested; give at least 1"));
        }
        self.pieces::<T>(chunk_items, |chunk, bytes| pods::with_items(bytes, |items| f(chunk, items)))
    }

    /// Returns all items at once, in place.
    ///
    /// # Errors
    /// Also where the target is not aligned for `T`; [`CpuBuffer::par_items`] and [`CpuBuffer::par_chunks`] have no
    /// such requirement.
    pub fn as_slice_mut<T: Pod>(&mut self) -> Result<&mut [T]> {
        let whole = self.items::<T>()? * size_of::<T>();
        let kernel = self.kernel;
        bytemuck::try_cast_slice_mut(&mut self.bytes[..whole]).map_err(|e| {
            let problem = format!("the target is not aligned for it ({e}); use par_items or par_chunks");
            misfit::<T>(kernel, &problem)
        })
    }

    fn pieces<T: Pod>(&mut self, items: usize, f: impl Fn(usize, &mut [u8]) + Send + Sync) -> Result<()> {
        let whole = self.items::<T>()? * size_of::<T>();
        let piece = items.saturating_mul(size_of::<T>());
        self.loops.for_pieces(&mut self.bytes[..whole], piece, items, f);
        Ok(())
    }
}

fn misfit<T>(kernel: &str, problem: &str) -> Error {
    Error::invalid("CpuBuffer", format!("kernel '{kernel}', item {}: {problem}", type_name::<T>()))
}
