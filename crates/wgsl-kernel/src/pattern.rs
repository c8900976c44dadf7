//! The verification pattern, written by a kernel.

use crate::launch::{Launch, WORD};
use crate::limits::Limits;
use interop_core::describe::pattern::Pattern;
use interop_core::{Error, Result, View};

const OP: &str = "ComputeBackend::write_pattern";

/// Work items of a group, as the text has them.
const GROUP: u32 = 64;

/// The kernel's whole text: its entry point is `pattern`, its bindings are those of group 0.
pub const PATTERN: &str = include_str!("pattern.wgsl");

/// Plans its launch for a view of memory that 32 bits address.
///
/// # Errors
/// [`Error::InvalidInput`] where the view has more words than the device takes.
pub fn pattern(view: &View, pattern: &Pattern, limits: &Limits) -> Result<Launch> {
    let span = view.span();
    if span.is_empty() {
        return Ok(Launch::new([], [0, 0]));
    }
    let (pitch, row, lowest, step) = match view {
        View::Image(image) if image.is_reversed() => {
            (image.pitch(), image.row_len(), image.extent.height - 1, 1u32.wrapping_neg())
        }
        View::Image(image) => (image.pitch().max(image.row_len()), image.row_len(), 0, 1),
        View::Buffer(_) => (Pattern::BUFFER_ROW, Pattern::BUFFER_ROW, 0, 1),
    };
    let words = span.end.div_ceil(WORD) - span.start / WORD;
    let per_row = limits.groups as usize;
    let groups = words.div_ceil(GROUP as usize);
    let down = groups.div_ceil(per_row);
    let across = groups.div_ceil(down);
    if down > per_row {
        return Err(Error::invalid(OP, format!("{words} words are more than a device takes in one launch")));
    }
    // Memory is addressed by 32 bits.
    let [first, len, pitch, row, across, down] = [span.start, span.len(), pitch, row, across, down].map(|n| n as u32);
    let Pattern { and_mask, or_mask, nonce } = *pattern;
    let rows = [first, pitch, row, len, lowest, step, and_mask, or_mask, nonce, across * GROUP];
    Ok(Launch::new(rows, [across, down]))
}
