//! Views of arrays, and layouts alone, which need no memory and may have any sides.

use super::{World, bad_shape, shape};
use crate::fuzz::{Choices, Turn, TurnResult, hold, hostile};
use compute_arrays::{Layout, View};
use std::ops::Range;

/// Elements that a view may have for its values to be compared.
const MOST: usize = 1 << 14;

/// Way in which a view is taken of another.
#[derive(Debug)]
enum ViewOperation {
    Slice(usize, Range<usize>, isize),
    Permute(Vec<usize>),
    Reshape(Vec<usize>),
    Broadcast(Vec<usize>),
    Transpose,
}

impl ViewOperation {
    fn any(t: &mut Choices, of: &Layout) -> Self {
        let (sides, axis) = (of.shape(), t.below(of.shape().len() + 1));
        match t.below(5) {
            0 => {
                let range = hostile::range(t, sides.get(axis).map_or(1, |side| (*side).max(1)));
                Self::Slice(axis, range, if t.one_in(2) { 1 } else { hostile::stride(t) })
            }
            1 => {
                let mut axes: Vec<usize> = (0..sides.len()).collect();
                // The axis is at most as many as there are.
                axes.rotate_left(axis);
                if t.one_in(6) {
                    axes.push(hostile::near(t, 3));
                }
                Self::Permute(axes)
            }
            2 => Self::Reshape(if t.one_in(2) { bad_shape(t) } else { vec![of.len(), 1] }),
            3 => {
                let more = if t.one_in(2) { hostile::near(t, 3) } else { t.below(4) };
                Self::Broadcast([&[more], sides].concat())
            }
            _ => Self::Transpose,
        }
    }

    fn of_layout(&self, layout: &Layout) -> pixelferry::Result<Layout> {
        match self {
            Self::Slice(axis, range, step) => layout.slice(*axis, range.clone(), *step),
            Self::Permute(axes) => layout.permute(axes),
            Self::Reshape(shape) => layout.reshape(shape),
            Self::Broadcast(shape) => layout.broadcast_to(shape),
            Self::Transpose => Ok(layout.transpose()),
        }
    }

    fn of_view<'a>(&self, view: &View<'a, u32>) -> pixelferry::Result<View<'a, u32>> {
        match self {
            Self::Slice(axis, range, 1) => view.slice(*axis, range.clone()),
            Self::Slice(axis, range, step) => view.slice_step(*axis, range.clone(), *step),
            Self::Permute(axes) => view.permute(axes),
            Self::Reshape(shape) => view.reshape(shape),
            Self::Broadcast(shape) => view.broadcast_to(shape),
            Self::Transpose => Ok(view.transpose()),
        }
    }
}

/// A chain of views. Whatever is taken must stay inside the elements that there are.
pub(super) fn walk(t: &mut Turn) -> TurnResult {
    let first = if t.one_in(2) { bad_shape(t) } else { shape(t) };
    t.op("layout: contiguous", format_args!("{first:?}"));
    let mut layout = t.end(Layout::contiguous(&first))?;
    let elements = layout.len();
    for _ in 0..t.below(6) {
        let next = ViewOperation::any(t, &layout);
        t.op("layout: view", format_args!("{next:?} of {layout:?}"));
        if let Ok(next) = t.end(next.of_layout(&layout)) {
            layout = next;
        }
        hold!(layout.is_empty() == layout.shape().contains(&0), "{layout:?} has {} elements", layout.len());
        hold!(layout.shape().len() == layout.strides().len(), "{layout:?}");
        let last: Vec<usize> = layout.shape().iter().map(|side| side.wrapping_sub(1)).collect();
        for index in [last, vec![0; layout.shape().len()]] {
            if let Ok(position) = layout.position(&index) {
                let contiguous = layout.is_contiguous();
                hold!(position < elements, "{index:?} of {layout:?}, contiguous: {contiguous}, is at {position}");
            }
        }
    }
    Ok(())
}

impl World<'_> {
    /// A chain of views, and what it comes to.
    pub(super) fn look(&mut self, t: &mut Turn) -> TurnResult {
        let slot = &self.slots[self.slot(t)];
        let mut view = slot.array.view();
        for _ in 0..t.below(4) {
            let next = ViewOperation::any(t, view.layout());
            t.op("arrays: view", format_args!("{next:?} of {:?}", view.layout()));
            if let Ok(next) = t.end(next.of_view(&view)) {
                view = next;
            }
        }
        let layout = view.layout();
        let index: Vec<usize> = view.shape().iter().map(|side| hostile::near(t, *side)).collect();
        t.op("arrays: item", format_args!("{index:?} of {:?}", view.shape()));
        if let Ok(value) = t.end(view.item(&index)) {
            let position = layout.position(&index)?;
            hold!(slot.values.get(position) == Some(&value), "{index:?} of {layout:?} is {value}");
        }
        if view.len() > MOST {
            return Ok(());
        }
        let mut wanted = Vec::new();
        for linear in 0..view.len() {
            let (mut rest, mut index) = (linear, vec![0; layout.shape().len()]);
            for (at, side) in index.iter_mut().zip(layout.shape()).rev() {
                (*at, rest) = (rest % side, rest / side);
            }
            wanted.push(slot.values.get(layout.position(&index)?).copied().unwrap_or(0));
        }
        t.op("arrays: to_vec of a view", format_args!("{layout:?}"));
        let values = t.end_with(view.to_vec())?;
        hold!(values == wanted, "{layout:?} of {:?} gives other values", slot.shape);
        Ok(())
    }
}
