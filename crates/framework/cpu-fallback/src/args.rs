//! The arguments of a launch, as a kernel reads them.

use bytemuck::Pod;
use interop_core::{Argument, Error, Result};
use std::any::type_name;

/// One argument, ready for the kernel's threads.
pub(crate) type CpuArg<'a> = Argument<&'a [u8]>;

/// The arguments of a launch after the target, counted from 0.
///
/// Every getter returns [`Error::InvalidInput`] where the argument is missing or of another kind; the error names the
/// kernel, the argument and both kinds. Kinds are not converted.
///
/// ```
/// use cpu_fallback::{CpuBackend, CpuKernelExt};
/// use interop_core::{Arg, ComputeBackend, Error, KernelSource, Target};
///
/// let scale = KernelSource::new("scale").cpu_buffer(|out, args| {
///     let (table, factor) = (args.memory::<f32>(0)?, args.f32(1)?);
///     out.par_items(|i| table[i] * factor)
/// });
/// let backend = CpuBackend::new()?;
/// let (kernel, mut from, mut to) = (backend.build(&scale)?, backend.allocate(4)?, backend.allocate(4)?);
/// from.write(0, &2.5_f32.to_ne_bytes())?;
/// backend.launch(kernel.as_ref(), Target::buffer(to.as_mut()), &[Arg::Memory(from.as_ref()), Arg::F32(2.0)])?;
/// to.map_read(0..4, &mut |bytes| Ok(assert_eq!(bytes, 5_f32.to_ne_bytes())))?;
/// // A missing argument is an error that names it.
/// assert!(backend.launch(kernel.as_ref(), Target::buffer(to.as_mut()), &[]).is_err());
/// # Ok::<(), Error>(())
/// ```
pub struct CpuArgs<'a> {
    kernel: &'a str,
    args: &'a [CpuArg<'a>],
}

impl<'a> CpuArgs<'a> {
    pub(crate) const fn new(kernel: &'a str, args: &'a [CpuArg<'a>]) -> Self {
        Self { kernel, args }
    }

    /// Returns the number of arguments.
    pub const fn len(&self) -> usize {
        self.args.len()
    }

    /// True where the launch has no arguments.
    pub const fn is_empty(&self) -> bool {
        self.args.is_empty()
    }

    /// Returns a 32-bit signed integer.
    pub fn i32(&self, index: usize) -> Result<i32> {
        match self.get(index, "i32")? {
            CpuArg::I32(v) => Ok(*v),
            other => Err(self.wrong_kind(index, "i32", other)),
        }
    }

    /// Returns a 32-bit unsigned integer.
    pub fn u32(&self, index: usize) -> Result<u32> {
        match self.get(index, "u32")? {
            CpuArg::U32(v) => Ok(*v),
            other => Err(self.wrong_kind(index, "u32", other)),
        }
    }

    /// Returns a binary32 number.
    pub fn f32(&self, index: usize) -> Result<f32> {
        match self.get(index, "f32")? {
            CpuArg::F32(v) => Ok(*v),
            other => Err(self.wrong_kind(index, "f32", other)),
        }
    }

    /// Returns a 64-bit signed integer.
    pub fn i64(&self, index: usize) -> Result<i64> {
        match self.get(index, "i64")? {
            CpuArg::I64(v) => Ok(*v),
            other => Err(self.wrong_kind(index, "i64", other)),
        }
    }

    /// Returns a 64-bit unsigned integer.
    pub fn u64(&self, index: usize) -> Result<u64> {
        match self.get(index, "u64")? {
            CpuArg::U64(v) => Ok(*v),
            other => Err(self.wrong_kind(index, "u64", other)),
        }
    }

    /// Returns a binary64 number.
    pub fn f64(&self, index: usize) -> Result<f64> {
        match self.get(index, "f64")? {
            CpuArg::F64(v) => Ok(*v),
            other => Err(self.wrong_kind(index, "f64", other)),
        }
    }

    /// Returns memory as items of `T`, in place. Trailing bytes that are not a whole item are omitted.
    ///
    /// # Errors
    /// Also where imported memory is not aligned for `T` (the backend's own memory always is), or `T` has no size.
    pub fn memory<T: Pod>(&self, index: usize) -> Result<&'a [T]> {
        let bytes = match self.get(index, "memory")? {
            CpuArg::Memory(bytes) => *bytes,
            other => return Err(self.wrong_kind(index, "memory", other)),
        };
        let Some(rest) = bytes.len().checked_rem(size_of::<T>()) else {
            return Err(self.error(index, format!("cannot be read as {}, which has no size", type_name::<T>())));
        };
        bytemuck::try_cast_slice(&bytes[..bytes.len() - rest]).map_err(|e| {
            self.error(
                index,
                format!("is memory at {:p} that cannot be read as {}: {e}", bytes.as_ptr(), type_name::<T>()),
            )
        })
    }

    fn get(&self, index: usize, wanted: &str) -> Result<&CpuArg<'a>> {
        self.args.get(index).ok_or_else(|| {
            self.error(index, format!("({wanted}) is missing; the launch has {} arguments", self.args.len()))
        })
    }

    fn wrong_kind(&self, index: usize, wanted: &str, found: &CpuArg<'_>) -> Error {
        self.error(index, format!("is {}, but the kernel takes {wanted} there", found.kind()))
    }

    fn error(&self, index: usize, problem: String) -> Error {
        Error::invalid("CpuArgs", format!("kernel '{}': argument {index} {problem}", self.kernel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_positions_are_checked_and_named() {
        let floats = [1.0f32, 2.0, 3.0];
        let bytes: &[u8] = bytemuck::cast_slice(&floats);
        let args = [CpuArg::I32(-1), CpuArg::U32(2), CpuArg::F32(0.5), CpuArg::Memory(bytes)];
        let args = CpuArgs::new("probe", &args);
        assert_eq!((args.i32(0).unwrap(), args.u32(1).unwrap(), args.f32(2).unwrap()), (-1, 2, 0.5));
        assert_eq!(args.memory::<f32>(3).unwrap(), floats);
        assert_eq!(args.memory::<[f32; 2]>(3).unwrap(), [[1.0, 2.0]]);
        for error in [args.i32(1), args.u32(0).map(|_| 0), args.f32(3).map(|_| 0), args.memory::<u8>(2).map(|_| 0)] {
            let text = error.unwrap_err().to_string();
            assert!(text.contains("kernel 'probe'") && text.contains("but the kernel takes"), "{text}");
        }
        assert!(args.i32(4).unwrap_err().to_string().contains("argument 4 (i32) is missing"));
        assert!(args.memory::<()>(3).is_err());
    }

    #[test]
    fn unaligned_memory_is_an_error() {
        let floats = [0.0f32; 4];
        let args = [CpuArg::Memory(&bytemuck::cast_slice(&floats)[1..])];
        let args = CpuArgs::new("probe", &args);
        assert!(args.memory::<f32>(0).is_err());
        assert_eq!(args.memory::<u8>(0).unwrap().len(), 15);
    }
}
