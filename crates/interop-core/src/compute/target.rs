//! Arguments of a launch: the target that its kernel writes, and the kernel's arguments.

use super::memory::ComputeMemory;
use crate::describe::error::{Error, Result};
use crate::describe::format::PixelFormat;
use crate::describe::geometry::Extent;
use crate::describe::pattern::rows;
use crate::describe::view::{BufferView, ImageView, View};

/// A part is written together with what lies between its rows where both are no more than so many times its bytes.
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
    /// A checked target: the view lies inside the memory.
    pub fn new(memory: &'a mut dyn ComputeMemory, view: View) -> Result<Self> {
        view.check_inside(memory.len()).map_err(|error| error.of("Target::new"))?;
        Ok(Self { memory, view, items: None })
    }

    /// An image with tight rows from the start of `memory`, for passes whose result is not shown.
    pub fn image(memory: &'a mut dyn ComputeMemory, extent: Extent, format: PixelFormat) -> Result<Self> {
        let view = ImageView::packed(extent, format, 1, 0, false)?;
        Self::new(memory, View::Image(view))
    }

    /// The whole of `memory` as bytes.
    pub fn buffer(memory: &'a mut dyn ComputeMemory) -> Self {
        let len = memory.len();
        Self { memory, view: View::Buffer(BufferView { offset: 0, len }), items: None }
    }

    /// Number of work items of this launch for a buffer target, instead of [`crate::KernelSource::with_items`]; the CPU
    /// decides by it whether other threads are worth waking.
    #[must_use]
    pub fn with_items(mut self, items: usize) -> Self {
        self.items = Some(items);
        self
    }

    /// Work items of this launch, where [`Target::with_items`] said so.
    pub fn items(&self) -> Option<usize> {
        self.items
    }

    /// Tells where in the memory.
    pub fn view(&self) -> View {
        self.view
    }

    /// Moves the target, with its part and work items, to the memory that `inner` finds in this one: for backends that
    /// wrap others.
    ///
    /// # Errors
    /// Those of `inner`; [`crate::Error::InvalidInput`] where the view does not lie inside that memory.
    pub fn within(
        self,
        inner: impl FnOnce(&'a mut dyn ComputeMemory) -> Result<&'a mut dyn ComputeMemory>,
    ) -> Result<Self> {
        Ok(Self { items: self.items, ..Self::new(inner(self.memory)?, self.view)? })
    }

    /// Writes all of it from the host: tight rows. With `is_whole`, what lies between its rows is nobody's.
    pub(crate) fn write(self, operation: &'static str, bytes: &[u8], is_whole: bool) -> Result<()> {
        let (memory, view) = self.into_parts();
        let expected = view.payload_len();
        if bytes.len() != expected {
            let problem = format!("{} bytes were given, the frame takes {expected} (tight rows)", bytes.len());
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
            // One mapping, the rows in memory order. Gaps between them, if any, are nobody's.
            return memory.map_write(span.clone(), &mut |to| {
                lay(to);
                Ok(())
            });
        }
        // The gaps between the rows belong to the pixels around this part. If they are small, they are read and written
        // with the rows: a call for each row takes longer.
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

    /// The memory and where in it.
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

/// An argument whose memory is given as an `M`: as a device's own in [`Arg`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Argument<M> {
    /// 32-bit signed.
    I32(i32),
    /// 32-bit unsigned.
    U32(u32),
    /// binary32.
    F32(f32),
    /// 64-bit signed.
    I64(i64),
    /// 64-bit unsigned.
    U64(u64),
    /// binary64; the device may lack it.
    F64(f64),
    /// Device memory, read by the kernel: by a pointer, or in OpenCL an imported texture by `image2d_t`, between acquire and
    /// release where it is OpenGL's.
    Memory(M),
}

impl<M> Argument<M> {
    /// Name of the kind, for messages.
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

    /// Borrows the memory; a number is copied.
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

    /// Replaces the memory with what `f` makes of it; a number stays.
    ///
    /// # Errors
    /// What `f` returns.
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
