//! Launches of the kernels, with checks of where each reads and writes.

use crate::display_state::DisplayState;
use crate::kernels::Work;
use crate::memory::part_of;
use interop_core::draw::{Plan, Shading};
use interop_core::{Arg, ComputeMemory, Error, Extent, ImageView, PixelFormat, Region, Result, Target, View};

/// A picture in memory that is read.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub memory: &'a dyn ComputeMemory,
    pub view: ImageView,
}

/// Memory that a draw writes, and its layout.
pub struct Canvas<'a> {
    pub memory: &'a mut dyn ComputeMemory,
    pub view: ImageView,
}

/// Formats of 1, 2, 4, 8 and 16 bytes, for copies of unchanged bytes.
const WORDS: [PixelFormat; 5] =
    [PixelFormat::R8, PixelFormat::R16, PixelFormat::R32F, PixelFormat::Rg32F, PixelFormat::Rgba32F];

impl DisplayState {
    /// Draws `source` into `canvas`, whose pixel `at` is the first of the plan's viewport.
    pub fn draw(&self, plan: &Plan, source: Source<'_>, canvas: Canvas<'_>, at: (u32, u32)) -> Result<()> {
        let drawn = plan.drawn;
        let region = Region { x: at.0.saturating_add(drawn.x), y: at.1.saturating_add(drawn.y), ..drawn };
        region.check_inside(canvas.view.extent)?;
        let planned = Extent::new(plan.picture.width, plan.picture.height);
        if plan.one_to_one && planned != source.view.extent {
            let problem = format!("the plan is for an image of {planned}, but {} was given", source.view.extent);
            return Err(Error::refused(problem));
        }
        let to = part_of(&canvas.view, region);
        // Offset of the target's first pixel in the picture.
        let (left, top) = (offset(drawn.x, plan.picture.x), offset(drawn.y, plan.picture.y));
        if plan.is_copy() && source.view.format == to.format {
            let seen = Region { x: left.unsigned_abs(), y: top.unsigned_abs(), ..drawn };
            seen.check_inside(source.view.extent)?;
            let view = part_of(&source.view, seen);
            return self.copy_pixels(Source { view, ..source }, Canvas { view: to, ..canvas });
        }
        let side = |side: u32| Arg::I32(i32::try_from(side).unwrap_or(i32::MAX));
        let number = |format: PixelFormat| Arg::I32(format.info().shader_id.cast_signed());
        let shading = plan.shading;
        let [red, green, blue] = plan.background.unwrap_or_default().map(Arg::F32);
        let first = first(&source)?;
        let args = [
            first[0],
            first[1],
            first[2],
            number(source.view.format),
            side(source.view.extent.width),
            side(source.view.extent.height),
            number(to.format),
            Arg::I32(left),
            Arg::I32(top),
            side(plan.picture.width),
            side(plan.picture.height),
            Arg::U32(steps(plan)),
            Arg::F32(shading.map_or(1.0, |s| s.gain)),
            Arg::F32(shading.map_or(0.0, |s| s.tone.inverse_white_squared())),
            red,
            green,
            blue,
        ];
        self.launch(Work::Draw, Canvas { view: to, ..canvas }, &args)
    }

    /// Copies pixels of the same format and size unchanged.
    pub fn copy_pixels(&self, source: Source<'_>, canvas: Canvas<'_>) -> Result<()> {
        let (from, to) = (source.view, canvas.view);
        if from.extent != to.extent || from.format.bytes_per_pixel() != to.format.bytes_per_pixel() {
            return Err(Error::refused(format!("the sizes differ: {from:?} and {to:?}")));
        }
        let range = to.span();
        if from.is_contiguous() && to.is_contiguous() && from.offset == to.offset && range.end <= canvas.memory.len() {
            // The driver's own copy takes half the time of a kernel on a CPU.
            return self.backend.copy(source.memory, canvas.memory, range);
        }
        // Copies as many bytes at once as the alignment of both sides allows.
        let places = from.offset | to.offset | from.pitch() | to.pitch() | to.row_len();
        let bytes = 1 << (places.trailing_zeros() as usize).min(WORDS.len() - 1);
        let width = u32::try_from(to.row_len() / bytes).unwrap_or(u32::MAX);
        let words = |view: ImageView| ImageView {
            extent: Extent { width, ..view.extent },
            format: WORDS[bytes.trailing_zeros() as usize],
            ..view
        };
        let [memory, offset, pitch] = first(&Source { view: words(from), ..source })?;
        let to = words(to);
        self.launch(Work::Copy, Canvas { view: to, ..canvas }, &[memory, offset, pitch, shift(to)])
    }

    /// Copies bytes between any positions.
    pub fn copy_bytes(
        &self,
        from: (&dyn ComputeMemory, usize),
        to: (&mut dyn ComputeMemory, usize),
        len: usize,
    ) -> Result<()> {
        let ((source, start), (target, end)) = (from, to);
        if start == end {
            return self.backend.copy(source, target, start..start.saturating_add(len));
        }
        // Copies whole words of both sides, then the rest.
        let word = 1 << ((start | end).trailing_zeros() as usize).min(WORDS.len() - 1);
        let whole = len / word * word;
        for (at, len) in [(0, whole), (whole, len - whole)].into_iter().filter(|(_, len)| *len > 0) {
            let row = |offset| ImageView {
                offset,
                row_pitch: len.cast_signed(),
                extent: Extent::new(u32::try_from(len).unwrap_or(u32::MAX), 1),
                format: PixelFormat::R8,
            };
            let source = Source { memory: source, view: row(start + at) };
            self.copy_pixels(source, Canvas { memory: &mut *target, view: row(end + at) })?;
        }
        Ok(())
    }

    /// Writes the bytes of one pixel to every pixel.
    pub fn clear(&self, canvas: Canvas<'_>, pixel: [u8; 16]) -> Result<()> {
        // The bytes of a small pixel are the lowest of its word, whatever the byte order.
        let unused = 4_usize.saturating_sub(canvas.view.format.bytes_per_pixel());
        let by = if cfg!(target_endian = "big") { 8 * unused } else { 0 };
        let word = |n: usize| Arg::U32(u32::from_ne_bytes(std::array::from_fn(|byte| pixel[4 * n + byte])) >> by);
        let args = [word(0), word(1), word(2), word(3), shift(canvas.view)];
        self.launch(Work::Clear, canvas, &args)
    }

    /// Kernels see their target as bytes; an argument gives the size of a pixel.
    fn launch(&self, work: Work, Canvas { memory, view }: Canvas<'_>, args: &[Arg<'_>]) -> Result<()> {
        View::Image(view).check_inside(memory.len())?;
        let bytes = view.format.bytes_per_pixel();
        if !(view.offset | view.pitch()).is_multiple_of(bytes) {
            return Err(Error::refused(format!("{view:?} is not aligned to its pixels of {bytes} bytes")));
        }
        let target = Target::new(memory, View::Image(ImageView { format: PixelFormat::R8, ..view }))?;
        self.backend.launch(self.kernels.get(self.backend.as_ref(), work)?, target, args)
    }
}

/// Binary logarithm of the pixel's size in bytes.
fn shift(view: ImageView) -> Arg<'static> {
    Arg::I32(view.format.bytes_per_pixel().trailing_zeros().cast_signed())
}

/// Returns the memory, the position of pixel (0, 0) in it, and the bytes from row to row; all pixels lie inside.
fn first<'a>(source: &Source<'a>) -> Result<[Arg<'a>; 3]> {
    View::Image(source.view).check_inside(source.memory.len())?;
    // The values fit because the view is addressable.
    let place = [source.view.offset.cast_signed(), source.view.row_pitch].map(|n| Arg::I64(n as i64));
    Ok([Arg::Memory(source.memory), place[0], place[1]])
}

/// Returns the position of a viewport's pixel in the picture.
fn offset(at: u32, start: i32) -> i32 {
    i32::try_from(i64::from(at) - i64::from(start)).unwrap_or(i32::MAX)
}

/// Returns the plan's steps as bits, as the macros of the kernels define them.
fn steps(plan: &Plan) -> u32 {
    // Linear curves, stored alpha and no tone mapping are zero as numbers.
    let shading =
        |s: Shading| s.decode.code() << 8 | s.encode.code() << 10 | s.alpha.code() << 12 | s.tone.code() << 14;
    let flags = [
        plan.weighs,
        plan.one_to_one,
        plan.grey,
        plan.bars,
        plan.blends,
        plan.format_encodes,
        plan.shading.is_some(),
        plan.shading.is_some_and(|s| s.alpha.is_translucent()) && plan.background.is_some(),
    ];
    let flags = flags.iter().enumerate().map(|(bit, is_set)| u32::from(*is_set) << bit).sum::<u32>();
    flags | plan.shading.map_or(0, shading)
}
