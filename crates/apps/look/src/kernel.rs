//! The kernel that shows a picture, for CUDA, OpenCL and the CPU.

use crate::colormap::Colormap;
use crate::element::Element;
use crate::look::{Pair, Tone};
use crate::pixel::{Bgra, PackedWord, Pixel};
use crate::plane::{Grid, Plane};
use crate::rows::Numbers;
use half::f16;
use pixelferry::driver::describe::format::PerFormat;
use pixelferry::driver::describe::pattern::rows;
use pixelferry::{
    Arg, ComputeMemory, CpuArgs, CpuImage, CpuKernelExt, Error, KernelSource, PixelFormat, Result, SurfaceDesc, Target,
    View,
};
use rayon::prelude::*;

/// The kernels in the common subset of CUDA C++ and OpenCL C.
const SHOW: &str = include_str!("../kernels/show.cu");

/// Flags of the kernels; the number of the map is above them.
const PLAIN: i32 = 1;
const ODD: i32 = 2;
const MARKS: i32 = 4;
const MAPPED: i32 = 8;
const WIDE: i32 = 16;
const WHOLE: i32 = 32;
const MAP: i32 = 8;

/// How an array's rows are written as pixels of one format.
#[derive(Clone, Copy)]
struct Rows {
    /// Writes one row, anywhere in memory.
    one: fn(&Pictures<'_>, u32, &mut [u8]),
    /// Writes all rows of an image, many at a time.
    all: fn(&mut CpuImage<'_>, &Pictures<'_>) -> Result<()>,
}

const fn rows_of<P: Pixel>() -> Rows {
    Rows { one: write_row::<P>, all: |out, pictures| out.par_rows::<P>(|y, row| pictures.row(y, row)) }
}

const ROWS: PerFormat<Rows> = PerFormat::new([
    (PixelFormat::R8, rows_of::<u8>()),
    (PixelFormat::Rg8, rows_of::<[u8; 2]>()),
    (PixelFormat::R16, rows_of::<u16>()),
    (PixelFormat::R16F, rows_of::<f16>()),
    (PixelFormat::Rgba8, rows_of::<[u8; 4]>()),
    (PixelFormat::Bgra8, rows_of::<Bgra>()),
    (PixelFormat::Rgb10A2, rows_of::<PackedWord>()),
    (PixelFormat::Rg16F, rows_of::<[f16; 2]>()),
    (PixelFormat::R32F, rows_of::<f32>()),
    (PixelFormat::Rgba16F, rows_of::<[f16; 4]>()),
    (PixelFormat::Rg32F, rows_of::<[f32; 2]>()),
    (PixelFormat::Rgba32F, rows_of::<[f32; 4]>()),
]);

/// Pictures of a grid; their numbers were checked.
struct Pictures<'a> {
    first: Numbers<'a>,
    grid: Grid,
}

impl Pictures<'_> {
    fn row<P: Pixel>(&self, y: u32, out: &mut [P]) {
        let Grid { count, columns, stride, width, height } = self.grid;
        if count == 1 {
            return self.first.row(y, out);
        }
        let row_of_images = y / height;
        for (column, out) in (0..).zip(out.chunks_mut(width as usize)) {
            let image = row_of_images * columns + column;
            if image < count {
                let first = self.first.first + i64::from(image) * stride;
                Numbers { first, ..self.first }.row(y % height, out);
            } else {
                out.fill(P::of_bytes([0, 0, 0, u8::MAX]));
            }
        }
    }
}

/// Returns an entry of `kernels/show.cu` in the languages of GPUs.
///
/// # Safety
/// [`KernelSource::with_text`] says what the caller vouches for.
pub unsafe fn kernel(name: &str) -> KernelSource {
    // OpenCL C compilers take long for each entry, so they get only one.
    let is_other = |line: &&str| line.starts_with("PF_SHOW(") && !line.starts_with(&format!("PF_SHOW({name},"));
    let gauge = if name.starts_with("pf_show") { "" } else { "#define PF_GAUGE\n" };
    let lines = SHOW.lines().filter(|line| !is_other(line));
    let opencl = lines.fold(gauge.to_owned(), |text, line| text + line + "\n");
    // SAFETY: the caller's word.
    unsafe { KernelSource::new(name.to_owned()).ptx(crate::SHOW_PTX).opencl_c(opencl) }
}

impl Plane {
    /// Returns the kernel that makes a surface of the picture.
    pub fn source(desc: &SurfaceDesc) -> KernelSource {
        let name = match desc {
            SurfaceDesc::Image(image) => image.format.name().to_lowercase(),
            _ => String::new(),
        };
        // SAFETY: each item writes only its own pixel below width and height, and reads the array at indices that
        // `Plane` checked against its memory; `arguments` makes the arguments, which the caller passes on.
        unsafe { kernel(&format!("pf_show_{name}")) }.cpu_image(on_cpu)
    }

    /// Names the work of making its picture, for [`pixelferry::LinkBuilder::work`]: all that its time depends on, except for the size.
    pub fn work(&self) -> String {
        let [row, column, channel] = self.strides;
        let (packed, table) = (row == column * i64::from(self.width), self.table().is_some());
        let (element, pair, channels) = (self.element, self.pair, self.channels);
        let rows = if packed { "" } else { ", rows apart" };
        let pair = pair.map(|pair| format!(" {pair:?}")).unwrap_or_default();
        let table = if table { ", by a table" } else { "" };
        format!("an array of {element:?}{pair}, {channels} a pixel, strides {column} and {channel}{rows}{table}")
    }

    /// The colours of its map, for [`Plane::arguments`].
    pub fn table(&self) -> Option<&'static [u8]> {
        self.tone.colormap.and_then(Colormap::colours).map(|colours| colours.as_flattened())
    }

    /// Returns the kernel's arguments. `memory` is that of the span; `table` contains the bytes of [`Plane::table`], if
    /// there are any.
    pub fn arguments<'a>(&self, memory: &'a dyn ComputeMemory, table: Option<&'a dyn ComputeMemory>) -> Vec<Arg<'a>> {
        let ([row, column, channel], grid, tone) = (self.strides, self.grid, self.tone);
        let map = tone.colormap.map_or(0, |map| map as i32) << MAP;
        let (is_plain, is_wide) = (self.numbers(&[]).is_plain(), !tone.is_single());
        let (is_mapped, is_whole) = (map != 0, tone.whole.is_some());
        let set = [(PLAIN, is_plain), (ODD, tone.odd), (MARKS, tone.marks), (MAPPED, is_mapped), (WIDE, is_wide)];
        let set = set.into_iter().chain([(WHOLE, is_whole)]);
        let flags = set.filter(|(_, set)| *set).fold(map, |all, (flag, _)| all | flag);
        let of_u32 = |number: u32| Arg::I32(number.cast_signed());
        let mut all = vec![Arg::Memory(memory)];
        // The position is inside one allocation.
        all.extend([self.span.first as i64, row, column, channel].map(Arg::I64));
        all.extend([of_u32(self.channels), Arg::I32(self.element as i32)]);
        all.extend([self.pair.map_or(0, |pair| pair as i32), flags].map(Arg::I32));
        let (low, high) = tone.ends();
        all.extend([Arg::F64(low), Arg::F64(high), Arg::F32(tone.gain), Arg::F32(tone.exponent)]);
        all.extend([grid.count, grid.columns, grid.width, grid.height].map(of_u32));
        all.extend([Arg::I64(grid.stride), Arg::Memory(table.unwrap_or(memory))]);
        // Bits of an integer of the array's type.
        all.push(Arg::I64(tone.whole.map_or(0, |(low, _)| low as i64)));
        all
    }

    /// Converts to RGBA of 8 bits each, top row first.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] if `bytes` are fewer than the span.
    pub fn pixels(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        self.check(bytes)?;
        let pictures = Pictures { first: self.numbers(bytes), grid: self.grid };
        let mut all = vec![[0; 4]; self.width as usize * self.height as usize];
        let rows = all.par_chunks_mut(self.width as usize).enumerate();
        rows.for_each(|(y, row)| pictures.row::<[u8; 4]>(y as u32, row));
        Ok(bytemuck::cast_vec(all))
    }

    /// Writes the picture to memory that the backend uploads from.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a buffer, and if `bytes` are fewer than the span.
    pub fn write(&self, to: Target<'_>, bytes: &[u8]) -> Result<()> {
        self.check(bytes)?;
        let pictures = Pictures { first: self.numbers(bytes), grid: self.grid };
        let (memory, view) = to.into_parts();
        let View::Image(image) = view else { return Err(Error::invalid("show", "the surface is a buffer")) };
        let start = view.span().start;
        memory.map_write(view.span(), &mut |to| {
            for (y, row) in rows(&view) {
                (ROWS.get(image.format).one)(&pictures, y, &mut to[row.start - start..row.end - start]);
            }
            Ok(())
        })
    }
}

fn on_cpu(out: &mut CpuImage<'_>, args: &CpuArgs<'_>) -> Result<()> {
    let unknown = || Error::invalid("show", "an element that is not known");
    let (flags, origin) = (args.i32(8)?, args.i64(19)?);
    let origin = if args.i32(6)? == Element::U64 as i32 { origin.cast_unsigned().into() } else { origin.into() };
    let first = Numbers {
        bytes: args.memory(0)?,
        first: args.i64(1)?,
        strides: [args.i64(2)?, args.i64(3)?, args.i64(4)?],
        channels: args.i32(5)?.cast_unsigned(),
        element: Element::of_index(args.i32(6)?).ok_or_else(unknown)?,
        pair: [Pair::Magnitude, Pair::Phase].into_iter().find(|pair| args.i32(7).is_ok_and(|of| of == *pair as i32)),
        tone: Tone {
            colormap: Colormap::ALL
                .into_iter()
                .map(|(map, _)| map)
                .find(|map| flags >> MAP == *map as i32 && flags & MAPPED != 0),
            odd: flags & ODD != 0,
            marks: flags & MARKS != 0,
            range: (args.f64(9)?, args.f64(10)?),
            whole: (flags & WHOLE != 0).then_some((origin, origin + args.f64(10)? as i128)),
            gain: args.f32(11)?,
            exponent: args.f32(12)?,
        },
    };
    let of = |at| args.i32(at).map(i32::cast_unsigned);
    let grid = Grid { count: of(13)?, columns: of(14)?, width: of(15)?, height: of(16)?, stride: args.i64(17)? };
    first.check(grid.width, grid.height)?;
    let last = i64::from(grid.count) - 1;
    let last = last.checked_mul(grid.stride).and_then(|reach| reach.checked_add(first.first)).ok_or_else(unknown)?;
    Numbers { first: last, ..first }.check(grid.width, grid.height)?;
    (ROWS.get(out.format()).all)(out, &Pictures { first, grid })
}

fn write_row<P: Pixel>(pictures: &Pictures<'_>, y: u32, to: &mut [u8]) {
    if let Ok(pixels) = bytemuck::try_cast_slice_mut(to) {
        return pictures.row::<P>(y, pixels);
    }
    // The memory may not be aligned to its pixels.
    let mut pixels = vec![P::zeroed(); to.len() / size_of::<P>()];
    pictures.row(y, &mut pixels);
    to.copy_from_slice(bytemuck::cast_slice(&pixels));
}
