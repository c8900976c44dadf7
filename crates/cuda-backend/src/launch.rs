//! Launches: a target and arguments made into parameters and a grid.

use crate::ffi::Span;
use crate::ffi::command::Launch;
use crate::ffi::module::{Geometry, Params};
use crate::image::CudaImage;
use crate::kernel::{CudaKernel, Entry};
use crate::memory::CudaMemory;
use crate::session::Session;
use crate::signature::{Class, Param};
use interop_core::compute::{Access, NOT_LINEAR, Placement};
use interop_core::devices::owned::{own, own_mut};
use interop_core::{Arg, BufferView, ComputeMemory, Error, Extent, ImageView, Result, Target, View};
use std::sync::Arc;

const OP: &str = "CudaBackend::launch";

/// Threads of a block for images: one warp across, so that a row's pixels are written together.
const IMAGE_BLOCK: [u32; 2] = [32, 8];
/// Threads of a block for buffers.
const BUFFER_BLOCK: u32 = 256;
/// Most blocks across and down, on every device.
const MAX_GRID: [u64; 2] = [i32::MAX as u64, 65_535];

/// Queues `kernel`.
pub fn launch(session: &Arc<Session>, kernel: &CudaKernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
    let items = target.items();
    let (memory, view) = target.into_parts();
    if !memory.is::<CudaImage>() {
        return linear(session, kernel, own::<CudaMemory>(memory, session, OP)?, &view, items, args);
    }
    let image = own_mut::<CudaImage>(memory, session, OP)?;
    let View::Image(view) = view else {
        return Err(Error::invalid(OP, "a range of bytes of a texture was given as target; give a view of pixels"));
    };
    let at = image.place(&view, OP)?;
    match &kernel.surface {
        Some(entry) => run(surface(session, kernel, entry, image, &view, &at, args)?, session, args),
        None => image.through_linear(&at, OP, |span| {
            let row = view.row_len();
            let rows = at.region.height as usize;
            let (start, pitch) = if at.reversed { ((rows - 1) * row, -(row as i64)) } else { (0, row as i64) };
            run(image_launch(session, kernel, span.address() + start as u64, pitch, &view, args)?, session, args)
        }),
    }
}

fn linear(
    session: &Arc<Session>,
    kernel: &CudaKernel,
    memory: &CudaMemory,
    view: &View,
    items: Option<usize>,
    args: &[Arg<'_>],
) -> Result<()> {
    let ready = prepare(session, kernel, memory, view, items, args)?;
    let _target = memory.part(&view.span(), Access::Write, OP)?;
    run(ready, session, args)
}

/// Into the default stream, after what queues do with the arguments.
fn run(mut ready: Launch, session: &Arc<Session>, args: &[Arg<'_>]) -> Result<()> {
    let mut held = Vec::new();
    for arg in args {
        if let Arg::Memory(memory) = arg {
            let memory = linear_argument(session, *memory, OP)?;
            held.push(memory.part(&(0..memory.len()), Access::Read, OP)?);
        }
    }
    ready.function.launch(ready.geometry, &mut ready.params).map_err(session.failed())
}

/// A launch that writes linear memory.
pub fn prepare(
    session: &Arc<Session>,
    kernel: &CudaKernel,
    memory: &CudaMemory,
    view: &View,
    items: Option<usize>,
    args: &[Arg<'_>],
) -> Result<Launch> {
    let span = memory.span(OP)?;
    match view {
        View::Image(v) => image_launch(session, kernel, span.address() + v.offset as u64, v.row_pitch as i64, v, args),
        View::Buffer(v) => buffer_launch(session, kernel, span, v, items, args),
    }
}

/// `first` is the address of pixel (0, 0).
fn image_launch(
    session: &Arc<Session>,
    kernel: &CudaKernel,
    first: u64,
    pitch: i64,
    view: &ImageView,
    args: &[Arg<'_>],
) -> Result<Launch> {
    let pixel = view.format.bytes_per_pixel() as u64;
    if !(first.is_multiple_of(pixel) && pitch.unsigned_abs().is_multiple_of(pixel)) {
        return Err(Error::invalid(OP, format!("{view:?} is not aligned to its pixels of {pixel} bytes")));
    }
    let (mut list, [width, height]) = (List::new(session, kernel, &kernel.linear), sides(view.extent)?);
    list.target("PF_IMAGE", &[(&[first], 8), (&[pitch as u64], 8), (&[width], 4), (&[height], 4)])?;
    list.ready(args, image_geometry(&kernel.linear, view.extent)?)
}

fn surface(
    session: &Arc<Session>,
    kernel: &CudaKernel,
    entry: &Entry,
    image: &mut CudaImage,
    view: &ImageView,
    at: &Placement,
    args: &[Arg<'_>],
) -> Result<Launch> {
    let object = image.surface_object(OP)?;
    let [width, height] = sides(view.extent)?;
    // The prelude's `pf_surface`: the object, then x, y, step and nothing as 32-bit numbers.
    let (y, step) = at.first_row();
    let words = [object, u64::from(at.region.x) | u64::from(y) << 32, u64::from(step.cast_unsigned())];
    let mut list = List::new(session, kernel, entry);
    list.target("PF_IMAGE", &[(&words, 24), (&[width], 4), (&[height], 4)])?;
    list.ready(args, image_geometry(entry, view.extent)?)
}

fn buffer_launch(
    session: &Arc<Session>,
    kernel: &CudaKernel,
    span: Span<'_>,
    view: &BufferView,
    items: Option<usize>,
    args: &[Arg<'_>],
) -> Result<Launch> {
    let items = items.or(kernel.items).unwrap_or(view.len.div_ceil(4)) as u64;
    let mut list = List::new(session, kernel, &kernel.linear);
    list.target("PF_BUFFER", &[(&[span.address() + view.offset as u64], 8), (&[view.len as u64], 8)])?;
    let threads = BUFFER_BLOCK.min(kernel.linear.function.max_threads());
    let blocks = items.div_ceil(u64::from(threads));
    if blocks == 0 || blocks > MAX_GRID[0] {
        return Err(Error::invalid(OP, format!("{items} work items are none, or more than a device takes")));
    }
    list.ready(args, Geometry { grid: [blocks as u32, 1], block: [threads, 1] })
}

fn image_geometry(entry: &Entry, extent: Extent) -> Result<Geometry> {
    let [width, most_rows] = IMAGE_BLOCK;
    let width = width.min(entry.function.max_threads());
    let rows = (entry.function.max_threads() / width).clamp(1, most_rows);
    let grid = [extent.width.div_ceil(width), extent.height.div_ceil(rows)];
    if u64::from(grid[1]) > MAX_GRID[1] {
        return Err(Error::invalid(OP, format!("{extent} has more rows than a device takes; use several launches")));
    }
    Ok(Geometry { grid, block: [width, rows] })
}

/// Both sides as `int`.
fn sides(extent: Extent) -> Result<[u64; 2]> {
    let int = |n: u32| i32::try_from(n).map(|n| n as u64);
    match (int(extent.width), int(extent.height)) {
        (Ok(width), Ok(height)) => Ok([width, height]),
        _ => Err(Error::invalid(OP, format!("{extent} has a side above {}", i32::MAX))),
    }
}

/// Parameters as they are put together, each compared with the entry's own.
struct List<'a> {
    session: &'a Arc<Session>,
    kernel: &'a CudaKernel,
    entry: &'a Entry,
    params: Params,
    /// Parameters that describe the target.
    prefix: usize,
}

impl<'a> List<'a> {
    fn new(session: &'a Arc<Session>, kernel: &'a CudaKernel, entry: &'a Entry) -> Self {
        Self { session, kernel, entry, params: Params::default(), prefix: 0 }
    }

    /// The target's parameters as (value, bytes).
    fn target(&mut self, kind: &str, values: &[(&[u64], usize)]) -> Result<()> {
        let found = self.entry.params.get(..values.len());
        let fits = found.is_some_and(|found| {
            found.iter().zip(values).all(|(p, (_, bytes))| p.bytes == *bytes && p.class != Class::Float)
                // In C++ a buffer's length is a structure, an image's pitch is not.
                && (kind == "PF_BUFFER" || values.len() == 3 || found[1].class != Class::Structure)
        });
        if !fits {
            let found: Vec<_> = self.entry.params.iter().take(values.len()).map(|p| p.describe()).collect();
            return Err(Error::invalid(
                OP,
                format!(
                    "the first parameters of kernel '{}' ({}) are not those of {kind}, which this target needs",
                    self.kernel.name,
                    found.join(", ")
                ),
            ));
        }
        values.iter().for_each(|(words, _)| self.params.push(words));
        self.prefix = values.len();
        Ok(())
    }

    /// Adds the user's arguments.
    fn ready(mut self, args: &[Arg<'_>], geometry: Geometry) -> Result<Launch> {
        let (name, wanted) = (&self.kernel.name, &self.entry.params[self.prefix..]);
        if wanted.len() != args.len() {
            return Err(Error::invalid(
                OP,
                format!("kernel '{name}' takes {} arguments after the target, {} were given", wanted.len(), args.len()),
            ));
        }
        for (index, (arg, param)) in args.iter().zip(wanted).enumerate() {
            if !accepts(*param, arg) {
                return Err(Error::invalid(
                    OP,
                    format!(
                        "argument {index} of kernel '{name}' is {}, but the kernel takes {} there",
                        arg.kind(),
                        param.describe()
                    ),
                ));
            }
            let value = match arg {
                // As a 32-bit pattern: the kernel reads only the low half of the word.
                Arg::I32(v) => u64::from(v.cast_unsigned()),
                Arg::U32(v) => u64::from(*v),
                Arg::F32(v) => u64::from(v.to_bits()),
                Arg::I64(v) => v.cast_unsigned(),
                Arg::U64(v) => *v,
                Arg::F64(v) => v.to_bits(),
                Arg::Memory(memory) => linear_argument(self.session, *memory, OP)?.span(OP)?.address(),
                _ => return Err(Error::invalid(OP, format!("argument {index} is of a kind that CUDA does not know"))),
            };
            self.params.push(&[value]);
        }
        Ok(Launch { function: self.entry.function.clone(), geometry, params: self.params })
    }
}

fn accepts(param: Param, arg: &Arg<'_>) -> bool {
    let (bytes, class) = match arg {
        Arg::I32(_) | Arg::U32(_) => (4, Class::Integer),
        Arg::F32(_) => (4, Class::Float),
        Arg::F64(_) => (8, Class::Float),
        Arg::Memory(_) if param.class == Class::Pointer => (8, Class::Pointer),
        _ => (8, Class::Integer),
    };
    param.bytes == bytes && (param.class == class || param.class == Class::Bits)
}

/// Linear memory of this backend.
pub fn linear_argument<'m>(
    session: &Arc<Session>,
    memory: &'m dyn ComputeMemory,
    operation: &'static str,
) -> Result<&'m CudaMemory> {
    if memory.is::<CudaImage>() {
        return Err(Error::invalid(operation, NOT_LINEAR));
    }
    own::<CudaMemory>(memory, session, operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_takes_no_number_where_the_text_tells_pointers() {
        let wide = [Arg::U64(4096), Arg::I64(4096), Arg::F64(0.0)];
        assert!(wide.iter().all(|arg| !accepts(Param { bytes: 8, class: Class::Pointer }, arg)));
        // Without `.ptr` a pointer is an integer like any other.
        let accepted = wide.each_ref().map(|arg| accepts(Param { bytes: 8, class: Class::Integer }, arg));
        assert_eq!(accepted, [true, true, false]);
    }
}
