//! The kernel that shows a picture, for CUDA and the CPU.

use crate::content::Content;
use crate::convert::{Bgra, Numbers, Packed, Pixel};
use crate::named::name_of;
use crate::plane::{Element, Plane};
use crate::raw::memory::Lies;
use crate::span::Span;
use half::f16;
use pixelferry::driver::describe::format::PerFormat;
use pixelferry::driver::describe::pattern::rows;
use pixelferry::{
    Arg, ComputeMemory, CpuArgs, CpuImage, CpuKernelExt, Error, KernelSource, PixelFormat, Result, SurfaceDesc, Target,
    View,
};

/// Compiled from `kernels/show.cu` by `cargo xtask ptx`.
const PTX: &str = include_str!("ptx/show.ptx");

/// Writing of an array's rows as one format's pixels.
#[derive(Clone, Copy)]
struct Rows {
    /// One row, anywhere in memory.
    one: fn(&Numbers<'_>, u32, &mut [u8]),
    /// All rows of an image, many at a time.
    all: fn(&mut CpuImage<'_>, &Numbers<'_>) -> Result<()>,
}

const fn rows_of<P: Pixel>() -> Rows {
    Rows { one: write_row::<P>, all: |out, numbers| out.par_rows::<P>(|y, row| numbers.row(y, row)) }
}

const ROWS: PerFormat<Rows> = PerFormat::new([
    (PixelFormat::R8, rows_of::<u8>()),
    (PixelFormat::Rg8, rows_of::<[u8; 2]>()),
    (PixelFormat::R16, rows_of::<u16>()),
    (PixelFormat::R16F, rows_of::<f16>()),
    (PixelFormat::Rgba8, rows_of::<[u8; 4]>()),
    (PixelFormat::Bgra8, rows_of::<Bgra>()),
    (PixelFormat::Rgb10A2, rows_of::<Packed>()),
    (PixelFormat::Rg16F, rows_of::<[f16; 2]>()),
    (PixelFormat::R32F, rows_of::<f32>()),
    (PixelFormat::Rgba16F, rows_of::<[f16; 4]>()),
    (PixelFormat::Rg32F, rows_of::<[f32; 2]>()),
    (PixelFormat::Rgba32F, rows_of::<[f32; 4]>()),
]);

impl Lies for Plane {
    fn span(&self) -> Span {
        self.span
    }
}

impl Content for Plane {
    fn source(desc: &SurfaceDesc) -> KernelSource {
        let name = match desc {
            SurfaceDesc::Image(image) => name_of(image.format),
            _ => String::new(),
        };
        // SAFETY: each item writes its own pixel below the width and height, and reads the array at indices that `Plane` checked
        // against its memory; `arguments` makes the arguments, and only `stage` launches it.
        unsafe { KernelSource::new(format!("pf_show_{name}")).ptx(PTX) }.cpu_image(on_cpu)
    }

    fn arguments<'a>(&self, memory: &'a dyn ComputeMemory) -> Vec<Arg<'a>> {
        let [row, column, channel] = self.strides;
        vec![
            Arg::Memory(memory),
            // Inside one allocation.
            Arg::I64(self.span.first as i64),
            Arg::I64(row),
            Arg::I64(column),
            Arg::I64(channel),
            Arg::I32(self.channels.cast_signed()),
            Arg::I32(self.element as i32),
        ]
    }

    /// Pixel by pixel into the memory that the backend uploads from.
    fn write(&self, to: Target<'_>, bytes: &[u8]) -> Result<()> {
        let Self { span, strides, channels, element, width, height } = *self;
        let numbers = Numbers { bytes, first: span.first as i64, strides, channels, element };
        numbers.check(width, height)?;
        let (memory, view) = to.into_parts();
        let View::Image(image) = view else { return Err(Error::invalid("show", "the surface is a buffer")) };
        let start = view.span().start;
        memory.map_write(view.span(), &mut |to| {
            for (y, row) in rows(&view) {
                (ROWS.get(image.format).one)(&numbers, y, &mut to[row.start - start..row.end - start]);
            }
            Ok(())
        })
    }
}

fn on_cpu(out: &mut CpuImage<'_>, args: &CpuArgs<'_>) -> Result<()> {
    let elements = [Element::U8, Element::U16, Element::F16, Element::F32];
    let element = elements.into_iter().find(|e| args.i32(6).is_ok_and(|kind| kind == *e as i32));
    let numbers = Numbers {
        bytes: args.memory(0)?,
        first: args.i64(1)?,
        strides: [args.i64(2)?, args.i64(3)?, args.i64(4)?],
        channels: args.i32(5)?.cast_unsigned(),
        element: element.ok_or_else(|| Error::invalid("show", "an element that is not known"))?,
    };
    numbers.check(out.width(), out.height())?;
    (ROWS.get(out.format()).all)(out, &numbers)
}

fn write_row<P: Pixel>(numbers: &Numbers<'_>, y: u32, to: &mut [u8]) {
    if let Ok(pixels) = bytemuck::try_cast_slice_mut(to) {
        return numbers.row::<P>(y, pixels);
    }
    // Memory that is not aligned to its pixels.
    let mut pixels = vec![P::zeroed(); to.len() / size_of::<P>()];
    numbers.row(y, &mut pixels);
    to.copy_from_slice(bytemuck::cast_slice(&pixels));
}
