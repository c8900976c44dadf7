//! An array's description from its protocol, and the memory that it refers to.

use crate::element::Number;
use crate::refusal::Refusal;

/// Location of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryLocation {
    /// Memory that the host can read.
    Host,
    /// Memory of the CUDA device of this number.
    Cuda(u32),
    /// Memory of a backend, which the describer knows.
    Backend,
}

/// An array as its protocol describes it; unchecked.
#[derive(Debug, Clone)]
pub struct Raw {
    /// Address of the number with all indices 0.
    pub address: usize,
    /// Size of each axis.
    pub shape: Vec<i64>,
    /// In bytes, one for each axis; `None` for contiguous numbers.
    pub strides: Option<Vec<i64>>,
    /// Number type.
    pub number: Number,
    /// Location of the memory.
    pub place: MemoryLocation,
}

impl Raw {
    /// Returns the strides, explicit or computed.
    ///
    /// # Errors
    /// [`Refusal::Shape`] if the array exceeds the address space.
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

    /// Returns the range of all numbers.
    ///
    /// # Errors
    /// [`Refusal`] for an unsupported number type, a side below 1, and an invalid address.
    pub fn span(&self) -> Result<Span, Refusal> {
        let bytes = self.number.row()?.code.1 / 8;
        let strides = self.strides()?;
        if self.shape.iter().any(|side| *side < 1) || strides.len() != self.shape.len() {
            return Err(Refusal::Shape(format!("an array of shape {:?} has no numbers", self.shape)));
        }
        Span::new(self, &self.shape, &strides, bytes)
    }
}

/// The memory of an array. This is only a description: readers must make sure that the memory is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Lowest address of any byte.
    pub start: usize,
    /// Number of bytes from there to the end of the last one.
    pub len: usize,
    /// Offset from `start` of the number with all indices 0.
    pub first: usize,
    /// Location of the memory.
    pub place: MemoryLocation,
}

impl Span {
    /// Returns the span of numbers of `bytes` bytes each. Sides are at least 1; steps are in bytes.
    ///
    /// # Errors
    /// [`Refusal::Shape`] for an array with a null address, or outside of the address space.
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
        let outside =
            || Refusal::Shape(format!("an array of shape {:?} reaches outside of the address space", raw.shape));
        let first = usize::try_from(before).ok().filter(|before| *before <= raw.address).ok_or_else(outside)?;
        let len = usize::try_from(before + after).ok().filter(|len| *len <= isize::MAX as usize).ok_or_else(outside)?;
        let start = raw.address - first;
        start.checked_add(len).ok_or_else(outside)?;
        Ok(Self { start, len, first, place: raw.place })
    }
}
