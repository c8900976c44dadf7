//! Values at and beyond the edges of what a call takes.

use crate::fuzz::Choices;
use pixelferry::{BufferView, Extent, ImageView, PixelFormat, Region, View};
use std::ops::Range;

const HUGE: [usize; 9] = [
    usize::MAX,
    usize::MAX - 1,
    usize::MAX / 2,
    isize::MAX as usize,
    isize::MAX as usize + 1,
    1 << 32,
    (1 << 32) - 1,
    (1 << 31) - 1,
    1 << 48,
];

/// A size that an allocation may have, small most of the time.
pub fn size(t: &mut Choices, most: usize) -> usize {
    match t.below(8) {
        0 => t.within(1..17),
        1 => 1 << t.below(most.ilog2() as usize + 1),
        _ => t.within(1..most + 1),
    }
}

/// A size that no allocation has.
pub fn bad_size(t: &mut Choices) -> usize {
    t.pick(&[0, usize::MAX, usize::MAX - 1, usize::MAX / 2, isize::MAX as usize, isize::MAX as usize + 1, 1 << 48])
}

/// A number near `len`, near 0, or huge.
pub fn near(t: &mut Choices, len: usize) -> usize {
    match t.below(6) {
        0 => len,
        1 => len.wrapping_add(1),
        2 => len.wrapping_sub(1),
        3 => t.below(3),
        4 => t.pick(&HUGE),
        _ => t.below(len.saturating_mul(2)),
    }
}

/// A range inside `len`, not empty.
pub fn inside(t: &mut Choices, len: usize) -> Range<usize> {
    if t.one_in(4) {
        return 0..len;
    }
    let start = t.below(len);
    start..start + 1 + t.below(len - start)
}

/// A range inside `len` most of the time, else any.
pub fn range(t: &mut Choices, len: usize) -> Range<usize> {
    if t.one_in(6) { near(t, len)..near(t, len) } else { inside(t, len) }
}

/// A range inside `len` whose ends are multiples of `unit` most of the time.
pub fn range_of(t: &mut Choices, len: usize, unit: usize) -> Range<usize> {
    let range = range(t, len);
    if t.one_in(8) {
        return range;
    }
    let down = |n: usize| n / unit * unit;
    down(range.start)..down(range.end)
}

/// Any side of an image.
pub fn side(t: &mut Choices) -> u32 {
    t.pick(&[0, 1, 2, 3, 64, 1 << 14, i32::MAX as u32, 1 << 31, u32::MAX - 1, u32::MAX])
}

/// Any stride or pitch.
pub fn stride(t: &mut Choices) -> isize {
    let small = t.below(64) as isize - 32;
    let huge = t.pick(&[0, 1, -1, isize::MAX, isize::MIN, isize::MIN + 1, isize::MAX / 2, 1 << 32, -(1 << 32)]);
    if t.one_in(2) { small } else { huge }
}

/// A format.
pub fn format(t: &mut Choices) -> PixelFormat {
    t.pick(&PixelFormat::ALL)
}

/// A region of `extent` most of the time, else any.
pub fn region(t: &mut Choices, extent: Extent) -> Region {
    if t.one_in(6) {
        return Region::new(side(t), side(t), side(t), side(t));
    }
    inner_region(t, extent)
}

/// A region of `extent`.
pub fn inner_region(t: &mut Choices, extent: Extent) -> Region {
    let (x, y) = (inside(t, extent.width as usize), inside(t, extent.height as usize));
    Region::new(x.start as u32, y.start as u32, x.len() as u32, y.len() as u32)
}

/// An image view that fits `len` bytes most of the time, else any.
pub fn image_view(t: &mut Choices, len: usize) -> ImageView {
    let format = format(t);
    let bpp = format.bytes_per_pixel();
    if t.one_in(5) {
        // Pitches of 0 and rows that overlap fit small memory with any number of rows.
        let row_pitch = if t.one_in(3) { 0 } else { stride(t) };
        let extent = Extent::new(side(t), side(t));
        return ImageView { offset: near(t, len), row_pitch, extent, format };
    }
    let width = 1 + t.below((len / bpp).clamp(1, 40));
    let pitch = (width + t.below(4)) * bpp;
    let height = 1 + t.below((len / pitch).clamp(1, 40));
    let back = pitch * (height - 1);
    let room = len.saturating_sub(back + width * bpp);
    let start = t.below(room + 1) / bpp * bpp;
    let extent = Extent::new(width as u32, height as u32);
    let (offset, row_pitch) = if t.one_in(2) { (start, pitch as isize) } else { (start + back, -(pitch as isize)) };
    ImageView { offset, row_pitch, extent, format }
}

/// A view that fits `len` bytes most of the time, else any.
pub fn view(t: &mut Choices, len: usize) -> View {
    if t.one_in(2) {
        return View::Image(image_view(t, len));
    }
    let range = range(t, len);
    View::Buffer(BufferView { offset: range.start, len: range.end.wrapping_sub(range.start) })
}
