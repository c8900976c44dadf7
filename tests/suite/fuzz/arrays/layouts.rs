//! Layouts alone, without memory: any numbers.

use super::{bad_shape, shape};
use crate::fuzz::{Checked, Log, Rng, hold, hostile};
use pixelferry::arrays::Layout;

/// A chain of views. Whatever is taken must stay inside the elements that there are.
pub(super) fn walk(rng: &mut Rng, log: &mut Log) -> Checked {
    let first = if rng.one_in(2) { bad_shape(rng) } else { shape(rng) };
    log.op("layout: contiguous", format_args!("{first:?}"));
    let Some(mut layout) = log.end(Layout::contiguous(&first)) else { return Ok(()) };
    let elements = layout.len();
    for _ in 0..rng.below(6) {
        let axis = rng.below(layout.shape().len() + 1);
        let side = layout.shape().get(axis).copied().unwrap_or(1);
        let next = match rng.below(5) {
            0 => {
                let (range, step) = (hostile::range(rng, side.max(1)), hostile::stride(rng));
                log.op("layout: slice", format_args!("{axis} {range:?} {step} of {layout:?}"));
                layout.slice(axis, range, step)
            }
            1 => {
                let mut axes: Vec<usize> = (0..layout.shape().len()).rev().collect();
                if rng.one_in(3) {
                    axes.push(hostile::near(rng, 3));
                }
                log.op("layout: permute", format_args!("{axes:?} of {layout:?}"));
                layout.permute(&axes)
            }
            2 => {
                let wanted = if rng.one_in(2) { bad_shape(rng) } else { vec![layout.len(), 1] };
                log.op("layout: reshape", format_args!("{layout:?} to {wanted:?}"));
                layout.reshape(&wanted)
            }
            3 => {
                let mut wanted = layout.shape().to_vec();
                wanted.insert(0, hostile::near(rng, 3));
                log.op("layout: broadcast", format_args!("{layout:?} to {wanted:?}"));
                layout.broadcast_to(&wanted)
            }
            _ => {
                log.op("layout: transpose", format_args!("{layout:?}"));
                Ok(layout.transpose())
            }
        };
        if let Some(next) = log.end(next) {
            layout = next;
        }
        let (len, contiguous) = (layout.len(), layout.is_contiguous());
        hold!(layout.is_empty() == (len == 0), "{layout:?} has {len} elements");
        hold!(layout.shape().len() == layout.strides().len(), "{layout:?}");
        let last: Vec<usize> = layout.shape().iter().map(|side| side.wrapping_sub(1)).collect();
        for index in [last, vec![0; layout.shape().len()]] {
            if let Ok(position) = layout.position(&index) {
                hold!(position < elements, "{index:?} of {layout:?}, contiguous: {contiguous}, is at {position}");
            }
        }
    }
    Ok(())
}
