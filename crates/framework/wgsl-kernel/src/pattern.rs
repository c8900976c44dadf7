//! The verification pattern, written by a kernel.

use crate::launch::Launch;
use crate::limits::Limits;
use crate::params::{Numbers, WORD};
use crate::text::{KernelText, TextSource};
use interop_core::describe::color::load;
use interop_core::describe::pattern::Pattern;
use interop_core::{Error, PixelFormat, Result, View};

/// Work items of a group, as the text declares them: horizontally and vertically in the entries for words, horizontally
/// in the entry for bytes.
const GROUP: [u32; 2] = [64, 4];
/// Words of a work item in the entry that fills with one word.
const PER_ITEM: usize = 4;

/// The kernels' whole text; it uses the bindings of group 0.
pub const PATTERN: &str = concat!(include_str!("pattern.wgsl"), include_str!("numbers.wgsl"));

/// A kernel `flat` that fills the target with one colour, given by its arguments from [`flat_color`].
pub const FLAT: &str = "@compute @workgroup_size(16, 16)
fn flat(@builtin(global_invocation_id) id: vec3<u32>) {
  pf_store(id.xy, vec4<f32>(pf_arg_f32(0), pf_arg_f32(1), pf_arg_f32(2), pf_arg_f32(3)));
}";

/// Returns the colour of every pixel of a flat pattern; `None` for other patterns.
pub fn flat_color(format: PixelFormat, pattern: &Pattern) -> Option<[f32; 4]> {
    let (word, pixel) = (pattern.or_mask.to_ne_bytes(), format.bytes_per_pixel());
    pattern.is_flat().then(|| load(format, &word.repeat(pixel.div_ceil(WORD))[..pixel]))
}

/// An entry point of [`PATTERN`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternEntry {
    /// For rows that are whole words, as nearly all frames have.
    Words,
    /// For one word everywhere in such rows.
    Flat,
    /// For all others; several times slower.
    Bytes,
}

impl PatternEntry {
    /// Number of entry points.
    pub const COUNT: usize = 3;
    /// Words of a launch's numbers.
    pub(crate) const WORDS: usize = 12;

    /// Returns its name in the text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Flat => "flat_words",
            Self::Bytes => "bytes",
        }
    }
}

impl KernelText {
    /// Returns a kernel of [`PATTERN`].
    pub(crate) fn pattern(entry: PatternEntry) -> Self {
        let mut new = Self::new((entry.name(), None), PATTERN, (Vec::new(), [1, 1]), TextSource::Whole);
        new.numbers = Numbers::of_block(PatternEntry::WORDS);
        new
    }
}

/// Plans its launch for a view of memory within 32-bit addresses.
///
/// # Errors
/// [`Error::InvalidInput`] where the view has more words than the device supports.
pub fn pattern(view: &View, pattern: &Pattern, limits: &Limits) -> Result<(PatternEntry, Launch)> {
    let span = view.span();
    if span.is_empty() {
        return Ok((PatternEntry::Words, Launch::new([], [0, 0])));
    }
    let (pitch, row, lowest, step) = match view {
        View::Image(image) if image.is_reversed() => {
            (image.pitch(), image.row_len(), image.extent.height - 1, 1u32.wrapping_neg())
        }
        View::Image(image) => (image.pitch().max(image.row_len()), image.row_len(), 0, 1),
        View::Buffer(_) => (Pattern::BUFFER_ROW, Pattern::BUFFER_ROW, 0, 1),
    };
    let (usual, per_item) = if pattern.is_flat() { (PatternEntry::Flat, PER_ITEM) } else { (PatternEntry::Words, 1) };
    let (entry, [across, down]) = match words(span.start, span.len(), pitch, row, per_item, limits) {
        Some(groups) => (usual, groups),
        None => (PatternEntry::Bytes, bytes(span.end.div_ceil(WORD) - span.start / WORD, limits)?),
    };
    // Memory has 32-bit addresses.
    let [first, len, pitch, row] = [span.start, span.len(), pitch, row].map(|n| n as u32);
    let Pattern { and_mask, or_mask, nonce } = *pattern;
    let rows = [first, pitch, row, len, lowest, step, and_mask, or_mask, nonce, across * GROUP[0]];
    Ok((entry, Launch::new(rows, [across, down])))
}

/// Returns the grid for words, `per_item` of them for each work item; `None` if the rows are not whole words.
fn words(first: usize, len: usize, pitch: usize, row: usize, per_item: usize, limits: &Limits) -> Option<[u32; 2]> {
    let [wide, high] = GROUP.map(|items| items as usize);
    let rows = len.div_ceil(pitch);
    let [across, down] = [row.div_ceil(WORD * per_item).div_ceil(wide), rows.div_ceil(high)];
    let whole = [first, len, pitch, row].iter().all(|bytes| bytes.is_multiple_of(WORD));
    // The last group may have items below the last row; they also count in 32 bits.
    let counts = pitch.checked_mul(rows + high).is_some_and(|end| u32::try_from(end).is_ok());
    (whole && counts && across.max(down) <= limits.groups as usize).then_some([across as u32, down as u32])
}

/// Returns the grid for this number of words, in as few rows as the device supports.
fn bytes(words: usize, limits: &Limits) -> Result<[u32; 2]> {
    let per_row = limits.groups as usize;
    let groups = words.div_ceil(GROUP[0] as usize);
    let down = groups.div_ceil(per_row);
    let across = groups.div_ceil(down);
    if down > per_row {
        return Err(Error::refused(format!("{words} words are more than a device supports in one launch")));
    }
    Ok([across as u32, down as u32])
}

#[cfg(test)]
mod tests {
    use super::*;
    use interop_core::{BufferView, Extent, ImageView, PixelFormat};

    fn entry(view: View, groups: u32) -> [PatternEntry; 2] {
        let limits = Limits { device: "d".into(), memories: 8, groups, items: 256 };
        let of = |wanted| pattern(&view, &wanted, &limits).unwrap().0;
        [of(Pattern::for_view(&view, 1)), of(Pattern::flat(&view, 1))]
    }

    fn image(width: u32, format: PixelFormat, offset: usize, pitch: isize) -> View {
        View::Image(ImageView { offset, row_pitch: pitch, extent: Extent::new(width, 8), format })
    }

    #[test]
    fn rows_of_whole_words_have_the_plain_kernel() {
        let (words, bytes) = ([PatternEntry::Words, PatternEntry::Flat], [PatternEntry::Bytes; 2]);
        for (view, expected) in [
            (image(5, PixelFormat::Rgba8, 0, 20), words),
            (image(5, PixelFormat::Rgba8, 8, 64), words),
            (image(5, PixelFormat::Rgba8, 700, -64), words),
            (image(8, PixelFormat::R8, 0, 8), words),
            (image(5, PixelFormat::R8, 0, 8), bytes),
            (image(5, PixelFormat::Rgba8, 2, 20), bytes),
            (image(5, PixelFormat::Rgba8, 0, 22), bytes),
            (View::Buffer(BufferView { offset: 4, len: 5000 }), words),
            (View::Buffer(BufferView { offset: 4, len: 5001 }), bytes),
        ] {
            assert_eq!(entry(view, 65_535), expected, "{view:?}");
        }
        // A grid that the device does not take.
        assert_eq!(entry(image(5, PixelFormat::Rgba8, 0, 20), 1), bytes);
    }

    #[test]
    fn no_work_item_for_words_counts_beyond_32_bits() {
        let limits = Limits { device: "d".into(), memories: 8, groups: u32::MAX, items: 256 };
        let pitch = 1 << 16;
        let fits = |len| [1, PER_ITEM].map(|each| words(0, len, pitch, pitch, each, &limits).is_some());
        assert_eq!((fits((1 << 32) - 8 * pitch), fits((1 << 32) - pitch)), ([true; 2], [false; 2]));
    }
}
