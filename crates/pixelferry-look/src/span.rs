//! Description of an array as its protocol gives it, and the memory that it names.

use crate::element::Number;
use crate::refusal::Refusal;

/// Location of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Memory that the host reads.
    Host,
    /// CUDA's number of the device.
    Cuda(u32),
    /// Memory of a backend that whoever describes it knows.
    Backend,
}

/// An array as its protocol describes it. Nothing of it was checked.
#[derive(Debug, Clone)]
pub struct Raw {
    /// Address of the number with all indices 0.
    pub address: usize,
    /// A side for each axis.
    pub shape: Vec<i64>,
    /// In bytes, one for each side; `None` where numbers follow each other without a gap.
    pub strides: Option<Vec<i64>>,
    /// Storage of a number.
    pub number: Number,
    /// Where the memory is.
    pub place: Place,
}

impl Raw {
    /// The strides, stated or not.
    ///
    /// # Errors
    /// [`Refusal::Shape`] for more than there is of memory.
    pub fn strides(&self) -> Result<Vec<i64>, Refusal> {
        if let Some(strides) = &self.strides {
            return Ok(strides.clone());
        }
        let mut step = (self.number.bits / 8) as i64;
        let mut strides = vec![0; self.shape.len()];
        for (stride, side) in strides.iter_mut().zip(&self.shape).rev() {
            *stride = step;
            let next = step.checked_mul((*side).max(1));
            step = next.ok_or_else(|| Refusal::Shape(format!("an array of shape {:?} is too large", self.shape)))?;
        }
        Ok(strides)
    }

    /// All of its numbers.
    ///
    /// # Errors
    /// [`Refusal`] for numbers that are not shown, a side below 1, and memory that is not there.
    pub fn span(&self) -> Result<Span, Refusal> {
        let bytes = self.number.row()?.code.1 / 8;
        let strides = self.strides()?;
        if self.shape.iter().any(|side| *side < 1) || strides.len() != self.shape.len() {
            return Err(Refusal::Shape(format!("an array of shape {:?} has no numbers", self.shape)));
        }
        Span::new(self, &self.shape, &strides, bytes)
    }
}

/// The memory of an array. Only a description: whoever reads it sees to it that it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Lowest address of any byte.
    pub start: usize,
    /// Bytes from there to the end of the last one.
    pub len: usize,
    /// From `start` to the number with all indices 0.
    pub first: usize,
    /// Where the memory is.
    pub place: Place,
}

impl Span {
    /// Returns the span of numbers of so many `bytes`. Sides are 1 or more; steps are in bytes.
    ///
    /// # Errors
    /// [`Refusal::Shape`] for an array that has no memory, or more than there is.
    pub fn new(raw: &Raw, sides: &[i64], steps: &[i64], bytes: usize) -> Result<Self, Refusal> {
        if raw.address == 0 {
            return Err(Refusal::Shape("the array has no memory (its address is null)".into()));
        }
        // Bytes before and after the first number.
        let (mut before, mut after) = (0_i128, bytes as i128);
        for (side, step) in sides.iter().zip(steps) {
            let reach = i128::from(side - 1) * i128::from(*step);
            if reach < 0 { before -= reach } else { after += reach }
        }
        let outside = || Refusal::Shape(format!("an array of shape {:?} reaches outside of memory", raw.shape));
        let first = usize::try_from(before).ok().filter(|before| *before <= raw.address).ok_or_else(outside)?;
        let len = usize::try_from(before + after).ok().filter(|len| *len <= isize::MAX as usize).ok_or_else(outside)?;
        let start = raw.address - first;
        start.checked_add(len).ok_or_else(outside)?;
        Ok(Self { start, len, first, place: raw.place })
    }
}
