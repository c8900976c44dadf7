//! [`NdView`]: a buffer's values in N dimensions.

use super::Buffer;
use crate::Element;
use interop_core::{Error, Result};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

const OP: &str = "NdView";

/// Values of a buffer as an array of any number of dimensions, row-major unless reordered. A view only describes part
/// of the buffer, for [`super::Queue::copy_view`] and similar methods: it holds the numbers for a later
/// `clEnqueueCopyBufferRect` or copy kernel. No method here makes an OpenCL call or copies a value. It keeps the
/// buffer. Strides count values, and may be negative.
pub struct NdView<T> {
    buffer: Buffer,
    /// The offset, in values.
    offset: usize,
    shape: Vec<usize>,
    strides: Vec<isize>,
    values: PhantomData<T>,
}

impl<T> Clone for NdView<T> {
    fn clone(&self) -> Self {
        Self {
            buffer: self.buffer.clone(),
            offset: self.offset,
            shape: self.shape.clone(),
            strides: self.strides.clone(),
            values: PhantomData,
        }
    }
}

fn invalid(problem: impl Into<String>) -> Error {
    Error::invalid(OP, problem)
}

/// Returns the number of values; `None` where it overflows.
fn count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |a, b| a.checked_mul(*b))
}

fn row_major(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1isize; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i].saturating_mul(isize::try_from(shape[i]).unwrap_or(isize::MAX));
    }
    strides
}

impl<T: Element> NdView<T> {
    /// Returns a view of the whole buffer (its `CL_MEM_SIZE` in values of this type).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the shape has a side of 0, or another number of values than the buffer has.
    pub fn new(buffer: &Buffer, shape: &[usize]) -> Result<Self> {
        let bytes = count(shape).and_then(|n| n.checked_mul(size_of::<T>()));
        if bytes != Some(buffer.len()) || shape.contains(&0) {
            let problem = format!("{shape:?} values of {} bytes do not make {} bytes", size_of::<T>(), buffer.len());
            return Err(invalid(problem));
        }
        Self::with_strides(buffer, 0, shape, &row_major(shape))
    }

    /// Returns a view of any values of a buffer: the first is number `offset`; dimension `i` steps by `strides[i]`
    /// values. If `clEnqueueCopyBufferRect` does not support the strides as pitches, a kernel copies the view.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where a value lies outside the buffer, a side is 0, or the lists differ in length.
    pub fn with_strides(buffer: &Buffer, offset: usize, shape: &[usize], strides: &[isize]) -> Result<Self> {
        let view = Self {
            buffer: buffer.clone(),
            offset,
            shape: shape.to_vec(),
            strides: strides.to_vec(),
            values: PhantomData,
        };
        if size_of::<T>() == 0 || shape.len() != strides.len() || shape.contains(&0) || count(shape).is_none() {
            return Err(invalid(format!("{shape:?} values with strides {strides:?} are not an array")));
        }
        match view.extent() {
            Some(range) if range.end <= buffer.len() / size_of::<T>() => Ok(view),
            _ => Err(invalid(format!(
                "{shape:?} values from {offset} with strides {strides:?} reach outside a buffer of {}",
                buffer.len() / size_of::<T>()
            ))),
        }
    }

    /// Returns the range from the first to the last value in the buffer; `None` where it begins before the buffer or
    /// overflows.
    fn extent(&self) -> Option<Range<usize>> {
        let (mut low, mut high) = (isize::try_from(self.offset).ok()?, isize::try_from(self.offset).ok()?);
        for (side, stride) in self.shape.iter().zip(&self.strides) {
            let reach = stride.checked_mul(isize::try_from(side - 1).ok()?)?;
            let end = if reach < 0 { &mut low } else { &mut high };
            *end = end.checked_add(reach)?;
        }
        Some(usize::try_from(low).ok()?..usize::try_from(high).ok()?.checked_add(1)?)
    }

    /// Returns the buffer, whose `cl_mem` copies use.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Returns the sides, from which the `region` of `clEnqueueCopyBufferRect` is derived.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the strides in values; the pitches of `clEnqueueCopyBufferRect` are these in bytes.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Returns the first value's index in the buffer; the origin of `clEnqueueCopyBufferRect` is this in bytes.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the number of values, without an OpenCL call.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns the bytes of the buffer from the first to the last value, without an OpenCL call.
    pub fn bytes(&self) -> Range<usize> {
        // Checked when the view was created.
        self.extent().map_or(0..0, |values| values.start * size_of::<T>()..values.end * size_of::<T>())
    }

    /// Returns true where the values follow each other without gaps, row-major: `clEnqueueReadBuffer` can then read
    /// them directly.
    pub fn is_contiguous(&self) -> bool {
        let wanted = row_major(&self.shape);
        self.shape.iter().zip(&self.strides).zip(&wanted).all(|((side, has), wants)| *side == 1 || has == wants)
    }

    /// Changes the shape, without an OpenCL call.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the number of values differs, or this is not contiguous: copy it first
    /// ([`super::Queue::contiguous`]).
    pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
        if count(shape) != Some(self.len()) {
            return Err(invalid(format!("values of shape {:?} cannot have the shape {shape:?}", self.shape)));
        }
        if !self.is_contiguous() {
            return Err(invalid("a view with gaps or reordered axes cannot be reshaped; make it contiguous first"));
        }
        Self::with_strides(&self.buffer, self.offset, shape, &row_major(shape))
    }

    /// Selects the values `range` of dimension `axis`, every `step`-th one; a negative step goes from the end to the
    /// start. Only the offset and the strides change, which later copies pass to `clEnqueueCopyBufferRect`.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the range is empty or outside, or the step is 0.
    pub fn slice(&self, axis: usize, range: Range<usize>, step: isize) -> Result<Self> {
        let (side, stride) = self.axis(axis)?;
        if range.start >= range.end || range.end > side || step == 0 {
            return Err(invalid(format!("{range:?} by {step} is not inside dimension {axis}, which has {side}")));
        }
        let mut view = self.clone();
        view.shape[axis] = range.len().div_ceil(step.unsigned_abs());
        view.strides[axis] = stride.checked_mul(step).ok_or_else(|| invalid("the step is too large"))?;
        let first = if step > 0 { range.start } else { range.end - 1 };
        view.offset = view.at(axis, first, stride)?;
        Ok(view)
    }

    /// Selects one index of dimension `axis`, which is removed: the origin of `clEnqueueCopyBufferRect` moves.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where there is no such index or dimension.
    pub fn index(&self, axis: usize, index: usize) -> Result<Self> {
        let (side, stride) = self.axis(axis)?;
        if index >= side {
            return Err(invalid(format!("index {index} is outside dimension {axis}, which has {side}")));
        }
        let mut view = self.clone();
        view.offset = view.at(axis, index, stride)?;
        view.shape.remove(axis);
        view.strides.remove(axis);
        Ok(view)
    }

    /// Selects one value, as an array without dimensions; [`super::Queue::read_view`] reads it by
    /// `clEnqueueReadBuffer`.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where no such value exists.
    pub fn item(&self, indices: &[usize]) -> Result<Self> {
        if indices.len() != self.shape.len() {
            return Err(invalid(format!("{indices:?} does not name a value of {:?}", self.shape)));
        }
        indices.iter().try_fold(self.clone(), |view, index| view.index(0, *index))
    }

    /// Reorders the dimensions: dimension `i` becomes the former dimension `axes[i]`. Makes no OpenCL call.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where `axes` does not name each dimension once.
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        let mut named = axes.to_vec();
        named.sort_unstable();
        if !named.into_iter().eq(0..self.shape.len()) {
            return Err(invalid(format!("{axes:?} does not name each of {} dimensions once", self.shape.len())));
        }
        let mut view = self.clone();
        view.shape = axes.iter().map(|axis| self.shape[*axis]).collect();
        view.strides = axes.iter().map(|axis| self.strides[*axis]).collect();
        Ok(view)
    }

    /// Reverses the order of the dimensions, without an OpenCL call.
    #[must_use]
    pub fn transpose(&self) -> Self {
        let mut view = self.clone();
        view.shape.reverse();
        view.strides.reverse();
        view
    }

    /// Returns the value with these indices, counted from the first of [`NdView::bytes`]; `None` where it does not
    /// exist.
    pub(super) fn in_span(&self, indices: &[usize]) -> Option<usize> {
        if indices.len() != self.shape.len() || indices.iter().zip(&self.shape).any(|(index, side)| index >= side) {
            return None;
        }
        let steps = indices.iter().zip(&self.strides).map(|(index, stride)| index.cast_signed().wrapping_mul(*stride));
        let start = self.extent()?.start;
        // The value is inside the extent, so nothing overflows.
        Some(steps.fold(self.offset.wrapping_sub(start), |at, step| at.wrapping_add_signed(step)))
    }

    /// Returns all values, row-major, counted like [`NdView::in_span`].
    pub(super) fn places(&self) -> impl Iterator<Item = usize> + use<T> {
        let view = self.clone();
        let mut indices = vec![0; view.shape.len()];
        (0..view.len()).filter_map(move |_| {
            let place = view.in_span(&indices);
            for (index, side) in indices.iter_mut().zip(&view.shape).rev() {
                *index += 1;
                if *index < *side {
                    break;
                }
                *index = 0;
            }
            place
        })
    }

    fn axis(&self, axis: usize) -> Result<(usize, isize)> {
        let found = self.shape.get(axis).copied().zip(self.strides.get(axis).copied());
        found.ok_or_else(|| invalid(format!("there is no dimension {axis} of {:?}", self.shape)))
    }

    fn at(&self, axis: usize, index: usize, stride: isize) -> Result<usize> {
        let step = isize::try_from(index).ok().and_then(|index| index.checked_mul(stride));
        let offset = step.and_then(|step| self.offset.checked_add_signed(step));
        offset.ok_or_else(|| invalid(format!("index {index} of dimension {axis} is outside")))
    }
}

impl<T> fmt::Debug for NdView<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NdView({:?}, strides {:?}, from {})", self.shape, self.strides, self.offset)
    }
}
