//! Arguments of a launch: the target that the kernel writes, and the kernel's arguments.

use super::memory::ComputeMemory;
use crate::describe::error::{Error, Result};
use crate::describe::format::PixelFormat;
use crate::describe::geometry::Extent;
use crate::describe::pattern::rows;
use crate::describe::view::{BufferView, ImageView, View};

/// Parts are written together with the gaps between their rows if both are at most this many times the part's bytes.
const MOST_AROUND: usize = 4;

/// Memory and the part of it that a kernel writes.
///
/// ```
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// let backend = CpuBackend::new()?;
/// let source = KernelSource::new("squares").cpu_buffer(|out, _| out.par_items(|i| (i * i) as u32));
/// let squares = backend.build(&source)?;
/// let mut memory = backend.allocate(16)?;
/// backend.launch(squares.as_ref(), Target::buffer(memory.as_mut()), &[])?;
/// let mut bytes = [0; 16];
/// memory.read(0, &mut bytes)?;
/// assert_eq!(bytes.as_chunks().0.iter().map(|b| u32::from_ne_bytes(*b)).collect::<Vec<_>>(), [0, 1, 4, 9]);
/// # Ok::<(), Error>(())
/// ```
pub struct Target<'a> {
    memory: &'a mut dyn ComputeMemory,
    view: View,
    items: Option<usize>,
}

impl<'a> Target<'a> {
    /// Creates a target from memory and a view inside it.
    pub fn new(memory: &'a mut dyn ComputeMemory, view: View) -> Result<Self> {
        view.check_inside(memory.len()).map_err(|error| error.of("Target::new"))?;
        Ok(Self { memory, view, items: None })
    }

    /// An image with tight rows from the start of `memory`, for passes whose result is not displayed.
    pub fn image(memory: &'a mut dyn ComputeMemory, extent: Extent, format: PixelFormat) -> Result<Self> {
        let view = ImageView::packed(extent, format, 1, 0, false)?;
        Self::new(memory, View::Image(view))
    }

    /// The whole of `memory` as bytes.
    pub fn buffer(memory: &'a mut dyn ComputeMemory) -> Self {
        let len = memory.len();
        Self { memory, view: View::Buffer(BufferView { offset: 0, len }), items: None }
    }

    /// Sets the number of work items of this launch for a buffer target, overriding
    /// [`crate::KernelSource::with_items`]. The CPU backend uses it to decide whether waking other threads pays off.
    #[must_use]
    pub fn with_items(mut self, items: usize) -> Self {
        self.items = Some(items);
        self
    }

    /// Returns the number of work items of this launch, if [`Target::with_items`] set it.
    pub fn items(&self) -> Option<usize> {
        self.items
    }

    /// Returns the part of the memory.
    pub fn view(&self) -> View {
        self.view
    }

    /// Moves the target, with its part and work items, to the memory that `inner` returns for this one. For backends
    /// that wrap others.
    ///
    /// # Errors
    /// Those of `inner`; [`crate::Error::InvalidInput`] where the view does not lie inside that memory.
    pub fn within(
        self,
        inner: impl FnOnce(&'a mut dyn ComputeMemory) -> Result<&'a mut dyn ComputeMemory>,
    ) -> Result<Self> {
        Ok(Self { items: self.items, ..Self::new(inner(self.memory)?, self.view)? })
    }

    /// Writes the whole target from tightly packed rows on the host. With `is_whole`, the gaps between its rows may be
    /// overwritten.
    pub(crate) fn write(self, operation: &'static str, bytes: &[u8], is_whole: bool) -> Result<()> {
        let (memory, view) = self.into_parts();
        let expected = view.payload_len();
        if bytes.len() != expected {
            let problem = format!("{} bytes were given; the frame needs {expected} (tight rows)", bytes.len());
            return Err(Error::invalid(operation, problem));
        }
        let span = view.span();
        let lay = |to: &mut [u8]| {
            let mut from = bytes;
            for (_, row) in rows(&view) {
                let (now, rest) = from.split_at(row.len());
                to[row.start - span.start..row.end - span.start].copy_from_slice(now);
                from = rest;
            }
        };
        if is_whole || span.len() == expected {
            // One map, with the rows in memory order. The gaps between them, if any, are padding.
            return memory.map_write(span.clone(), &mut |to| {
                lay(to);
                Ok(())
            });
        }
        // The gaps between the rows belong to the pixels around this part. Small gaps are read and written back with
        // the rows, which is faster than a call for each row.
        if span.len() <= expected.saturating_mul(MOST_AROUND) {
            let mut together = vec![0; span.len()];
            memory.read(span.start, &mut together)?;
            lay(&mut together);
            return memory.write(span.start, &together);
        }
        let mut from = bytes;
        for (_, row) in rows(&view) {
            let (now, rest) = from.split_at(row.len());
            memory.write(row.start, now)?;
            from = rest;
        }
        Ok(())
    }

    /// Returns the memory and the view.
    pub fn into_parts(self) -> (&'a mut dyn ComputeMemory, View) {
        (self.memory, self.view)
    }
}

/// One argument of a kernel, after the target: a number, or memory.
///
/// ```
/// use interop_core::Arg;
///
/// // Numbers keep their type: a kernel's `float` takes no `U32`.
/// let args = [Arg::F32(0.5), Arg::U32(3)];
/// assert_eq!(args.map(|arg| arg.kind()), ["f32", "u32"]);
/// ```
pub type Arg<'a> = Argument<&'a dyn ComputeMemory>;

/// A kernel argument whose memory is represented by `M`, for example a device's own memory in [`Arg`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Argument<M> {
    /// 32-bit signed integer.
    I32(i32),
    /// 32-bit unsigned integer.
    U32(u32),
    /// IEEE 754 binary32 number.
    F32(f32),
    /// 64-bit signed integer.
    I64(i64),
    /// 64-bit unsigned integer.
    U64(u64),
    /// IEEE 754 binary64 number. Some devices do not support it.
    F64(f64),
    /// Device memory that the kernel reads through a pointer. In OpenCL, an imported texture is passed as `image2d_t`;
    /// one of OpenGL must be used between acquire and release.
    Memory(M),
}

impl<M> Argument<M> {
    /// Returns the name of the argument's kind, for messages.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::I32(_) => "i32",
            Self::U32(_) => "u32",
            Self::F32(_) => "f32",
            Self::I64(_) => "i64",
            Self::U64(_) => "u64",
            Self::F64(_) => "f64",
            Self::Memory(_) => "memory",
        }
    }

    /// Borrows the memory of the argument; a number is copied.
    pub const fn each_ref(&self) -> Argument<&M> {
        match self {
            Self::I32(v) => Argument::I32(*v),
            Self::U32(v) => Argument::U32(*v),
            Self::F32(v) => Argument::F32(*v),
            Self::I64(v) => Argument::I64(*v),
            Self::U64(v) => Argument::U64(*v),
            Self::F64(v) => Argument::F64(*v),
            Self::Memory(memory) => Argument::Memory(memory),
        }
    }

    /// Converts the memory with `f`; a number stays.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn with_memory<N>(self, f: impl FnOnce(M) -> Result<N>) -> Result<Argument<N>> {
        Ok(match self {
            Self::I32(v) => Argument::I32(v),
            Self::U32(v) => Argument::U32(v),
            Self::F32(v) => Argument::F32(v),
            Self::I64(v) => Argument::I64(v),
            Self::U64(v) => Argument::U64(v),
            Self::F64(v) => Argument::F64(v),
            Self::Memory(memory) => Argument::Memory(f(memory)?),
        })
    }
}
