//! Layout of an N-dimensional view: shape, strides and offset, all in elements.

use interop_core::{Error, Result};
use std::ops::Range;

/// A rectangular selection of elements of one memory. Row-major: the last axis is the fastest.
///
/// Every constructor checks that all elements lie inside the memory, so that kernels need not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    shape: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
}

/// Returns the number of elements of a shape.
///
/// # Errors
/// [`Error::InvalidInput`] where it exceeds `usize`.
pub(crate) fn count(shape: &[usize]) -> Result<usize> {
    // A side of zero makes the product zero, whatever the other sides are.
    if shape.contains(&0) {
        return Ok(0);
    }
    shape
        .iter()
        .try_fold(1usize, |n, side| n.checked_mul(*side))
        .filter(|n| isize::try_from(*n).is_ok())
        .ok_or_else(|| Error::invalid("Layout", format!("shape {shape:?} has more elements than can be counted")))
}

/// Returns the number of elements of a shape that [`count`] has accepted.
pub(crate) fn elements(shape: &[usize]) -> usize {
    // The product of the other sides may overflow.
    if shape.contains(&0) { 0 } else { shape.iter().product() }
}

fn row_major(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![0isize; shape.len()];
    let mut stride = 1isize;
    for (out, side) in strides.iter_mut().zip(shape).rev() {
        *out = stride;
        // Checked by `count` before; with a zero side, strides are meaningless but unused.
        stride = stride.saturating_mul((*side).max(1) as isize);
    }
    strides
}

impl Layout {
    /// Returns the layout of all elements of a tight memory.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the elements cannot be counted.
    pub fn contiguous(shape: &[usize]) -> Result<Self> {
        count(shape)?;
        Ok(Self { strides: row_major(shape), shape: shape.to_vec(), offset: 0 })
    }

    /// Returns the layout of the first element.
    pub(crate) const fn single() -> Self {
        Self { shape: Vec::new(), strides: Vec::new(), offset: 0 }
    }

    /// Returns the lengths of the axes, the slowest first; empty for a single element.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the distance in elements from one index to the next along each axis.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Returns the position of the element whose indices are all 0.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        elements(&self.shape)
    }

    /// Returns true where there are no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Returns true where the elements are contiguous in memory.
    pub fn is_contiguous(&self) -> bool {
        self.is_empty() || matches!(self.collapsed().as_slice(), [] | [(_, 1)])
    }

    fn axis(&self, axis: usize, operation: &'static str) -> Result<usize> {
        self.shape
            .get(axis)
            .copied()
            .ok_or_else(|| Error::invalid(operation, format!("there is no axis {axis} in shape {:?}", self.shape)))
    }

    /// Selects every `step`-th index of `range` along one axis; a negative step begins at the range's end.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an axis that does not exist, a range outside it, or a step of 0.
    pub fn slice(&self, axis: usize, range: Range<usize>, step: isize) -> Result<Self> {
        const OP: &str = "Layout::slice";
        let side = self.axis(axis, OP)?;
        if range.start > range.end || range.end > side {
            return Err(Error::invalid(
                OP,
                format!("{}..{} reaches outside axis {axis} of {side} elements", range.start, range.end),
            ));
        }
        if step == 0 {
            return Err(Error::invalid(OP, "the step is 0; use 1 for all elements"));
        }
        let mut sliced = self.clone();
        let len = range.len().div_ceil(step.unsigned_abs());
        sliced.shape[axis] = len;
        if len > 0 {
            let first = if step > 0 { range.start } else { range.end - 1 };
            let along = self.strides[axis];
            sliced.offset = self.offset.wrapping_add_signed((first as isize).wrapping_mul(along));
            sliced.strides[axis] = if len > 1 { along.wrapping_mul(step) } else { along };
        }
        Ok(sliced)
    }

    /// Reorders the axes.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where `axes` does not name each axis once.
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..self.shape.len()) {
            return Err(Error::invalid(
                "Layout::permute",
                format!("{axes:?} does not name each of the {} axes once", self.shape.len()),
            ));
        }
        Ok(Self {
            shape: axes.iter().map(|a| self.shape[*a]).collect(),
            strides: axes.iter().map(|a| self.strides[*a]).collect(),
            offset: self.offset,
        })
    }

    /// Reverses the order of the axes.
    #[must_use]
    pub fn transpose(&self) -> Self {
        let mut turned = self.clone();
        turned.shape.reverse();
        turned.strides.reverse();
        turned
    }

    /// Changes the shape and keeps the order of the elements.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the number of elements differs, or no strides exist for the shape: copy the view
    /// to a contiguous array first.
    pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
        const OP: &str = "Layout::reshape";
        if count(shape)? != self.len() {
            return Err(Error::invalid(
                OP,
                format!("{:?} and {shape:?} have different numbers of elements", self.shape),
            ));
        }
        if self.is_empty() {
            return Ok(Self { shape: shape.to_vec(), strides: row_major(shape), offset: self.offset });
        }
        // Each run of memory axes that are contiguous is split into new axes, the fastest first.
        let mut runs = self.collapsed();
        let mut strides = vec![0isize; shape.len()];
        let (mut left, mut stride) = runs.pop().unwrap_or((1, 1));
        for (side, out) in shape.iter().zip(&mut strides).rev() {
            if *side == 1 {
                *out = stride;
                continue;
            }
            if left == 1 {
                (left, stride) = runs.pop().unwrap_or((1, 1));
            }
            if left % side != 0 {
                return Err(Error::invalid(
                    OP,
                    format!(
                        "{:?} with strides {:?} cannot be reshaped to {shape:?} in place",
                        self.shape, self.strides
                    ),
                ));
            }
            *out = stride;
            left /= side;
            stride = stride.wrapping_mul(*side as isize);
        }
        Ok(Self { shape: shape.to_vec(), strides, offset: self.offset })
    }

    /// Repeats axes of length 1, and adds axes in front, until the shape is `shape`.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where an axis is neither 1 nor the requested length.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self> {
        count(shape)?;
        let fits = shape.len() >= self.shape.len();
        let new = shape.len().saturating_sub(self.shape.len());
        let mut strides = vec![0isize; shape.len()];
        for ((side, stride), (out, wanted)) in
            self.shape.iter().zip(&self.strides).zip(strides.iter_mut().zip(shape).skip(new))
        {
            match (*side, *wanted) {
                (a, b) if a == b => *out = *stride,
                (1, _) => {}
                _ => return Err(self.no_broadcast(shape)),
            }
        }
        if !fits {
            return Err(self.no_broadcast(shape));
        }
        Ok(Self { shape: shape.to_vec(), strides, offset: self.offset })
    }

    fn no_broadcast(&self, shape: &[usize]) -> Error {
        Error::invalid("Layout::broadcast_to", format!("{:?} cannot be broadcast to {shape:?}", self.shape))
    }

    /// Returns the position in memory of an index.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an index outside the shape.
    pub fn position(&self, index: &[usize]) -> Result<usize> {
        let inside = index.len() == self.shape.len() && index.iter().zip(&self.shape).all(|(i, side)| i < side);
        if !inside {
            return Err(Error::invalid("Layout::position", format!("{index:?} lies outside shape {:?}", self.shape)));
        }
        let moved = index.iter().zip(&self.strides).map(|(i, stride)| *i as isize * stride).sum();
        Ok(self.offset.wrapping_add_signed(moved))
    }

    /// Returns the axes longer than 1, with neighbours joined where one stride covers both, as (side, stride), the
    /// slowest first. The linear order stays the same.
    pub(crate) fn collapsed(&self) -> Vec<(usize, isize)> {
        if self.is_empty() {
            return vec![(0, 1)];
        }
        let mut axes: Vec<(usize, isize)> = Vec::new();
        for (side, stride) in self.shape.iter().copied().zip(self.strides.iter().copied()).filter(|(n, _)| *n != 1) {
            match axes.last_mut() {
                Some((outer, outer_stride)) if *outer_stride == stride.wrapping_mul(side as isize) => {
                    (*outer, *outer_stride) = (*outer * side, stride);
                }
                _ => axes.push((side, stride)),
            }
        }
        axes
    }

    /// Returns the lowest and the highest element of memory that is used; `None` for an empty layout.
    pub(crate) fn reach(&self) -> Option<(usize, usize)> {
        if self.is_empty() {
            return None;
        }
        let (mut low, mut high) = (self.offset, self.offset);
        for (side, stride) in self.shape.iter().zip(&self.strides) {
            let far = (*side as isize - 1) * stride;
            if far < 0 { low = low.wrapping_add_signed(far) } else { high = high.wrapping_add_signed(far) }
        }
        Some((low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Elements of memory in row-major order of the view, by the definition.
    fn elements_of(layout: &Layout) -> Vec<usize> {
        let mut all = Vec::new();
        for linear in 0..layout.len() {
            let (mut rest, mut index) = (linear, vec![0; layout.shape().len()]);
            for (i, side) in index.iter_mut().zip(layout.shape()).rev() {
                (*i, rest) = (rest % side, rest / side);
            }
            all.push(layout.position(&index).unwrap());
        }
        all
    }

    fn through_collapsed(layout: &Layout) -> Vec<usize> {
        let axes = layout.collapsed();
        (0..layout.len())
            .map(|linear| {
                let (mut rest, mut at) = (linear as isize, layout.offset() as isize);
                for (side, stride) in axes.iter().rev() {
                    at += rest % *side as isize * stride;
                    rest /= *side as isize;
                }
                at as usize
            })
            .collect()
    }

    #[test]
    fn views_name_the_elements_that_they_should() {
        let whole = Layout::contiguous(&[3, 4]).unwrap();
        assert_eq!(elements_of(&whole.transpose()), [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
        assert_eq!(elements_of(&whole.slice(1, 1..4, 2).unwrap()), [1, 3, 5, 7, 9, 11]);
        assert_eq!(elements_of(&whole.slice(0, 0..3, -1).unwrap()), [8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3]);
        assert_eq!(elements_of(&whole.slice(0, 1..2, 1).unwrap().broadcast_to(&[2, 4]).unwrap())[4..], [4, 5, 6, 7]);
        assert!(whole.is_contiguous() && !whole.transpose().is_contiguous());
        assert!(whole.slice(0, 1..3, 1).unwrap().is_contiguous());
        assert_eq!(whole.transpose().reshape(&[12]).unwrap_err().to_string().matches("cannot be reshaped").count(), 1);
        assert_eq!(elements_of(&whole.transpose().reshape(&[2, 2, 3]).unwrap()), elements_of(&whole.transpose()));
    }

    #[test]
    fn misuse_is_refused() {
        let whole = Layout::contiguous(&[3, 4]).unwrap();
        assert!(whole.slice(2, 0..1, 1).is_err() && whole.slice(0, 0..4, 1).is_err());
        assert!(whole.slice(0, 0..3, 0).is_err() && whole.permute(&[0, 0]).is_err() && whole.permute(&[0]).is_err());
        assert!(whole.reshape(&[5]).is_err() && whole.broadcast_to(&[4]).is_err());
        assert!(whole.broadcast_to(&[2, 3, 5]).is_err() && whole.position(&[3, 0]).is_err());
        assert!(Layout::contiguous(&[usize::MAX, 2]).is_err());
        assert!(Layout::contiguous(&[usize::MAX, 0]).unwrap().is_empty());
    }

    /// The product of the other sides cannot be counted.
    #[test]
    fn layouts_of_no_elements_have_none_whatever_their_sides() {
        for shape in [[usize::MAX, 2, 0], [0, usize::MAX, usize::MAX], [1 << 40, 0, 1 << 40]] {
            let layout = Layout::contiguous(&shape).unwrap();
            for view in [layout.clone(), layout.transpose(), layout.slice(1, 0..0, -3).unwrap()] {
                assert_eq!((view.len(), view.is_empty(), view.is_contiguous()), (0, true, true));
                assert_eq!((view.collapsed(), view.reach()), (vec![(0, 1)], None));
                assert!(view.reshape(&[0]).unwrap().is_empty() && view.position(&[0, 0, 0]).is_err());
                assert!(view.broadcast_to(&shape).is_ok() || view.shape() != shape);
            }
        }
    }

    proptest! {
        #[test]
        fn chains_of_views_stay_inside_and_collapse_to_the_same(
            shape in prop::collection::vec(0usize..5, 0..4),
            steps in prop::collection::vec((0usize..4, 0usize..5, 0usize..5, -3isize..4), 0..4),
        ) {
            let mut view = Layout::contiguous(&shape).unwrap();
            let memory = view.len();
            for (axis, a, b, step) in steps {
                view = match view.slice(axis, a..b, step) {
                    Ok(sliced) => sliced,
                    Err(_) => view.transpose(),
                };
            }
            let all = elements_of(&view);
            prop_assert!(all.iter().all(|at| *at < memory));
            prop_assert_eq!(&through_collapsed(&view), &all);
            prop_assert_eq!(view.reach(), all.iter().min().copied().zip(all.iter().max().copied()));
            let flat = [view.len()];
            if let Ok(reshaped) = view.reshape(&flat) {
                prop_assert_eq!(elements_of(&reshaped), all);
            } else {
                prop_assert!(!view.is_contiguous());
            }
        }
    }
}
