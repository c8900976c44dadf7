//! Layout of any array (vertices, indices and so on) as bytes in the order of its indices.

use crate::failure::Failure;
use pixelferry_look::{MemoryLocation, Raw, Span};

/// An axis of pieces with a fixed distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    pub side: i64,
    /// Bytes from one piece to the next.
    pub stride: i64,
}

/// An array as bytes, the last index fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Items {
    pub span: Span,
    /// Contiguous bytes of a piece.
    pub piece: usize,
    /// Axes of the pieces, the last one fastest. Unused axes have one piece.
    pub axes: [Axis; 3],
    /// Bytes of all pieces.
    pub len: usize,
}

impl Items {
    /// Describes an array as bytes.
    pub fn new(raw: &Raw) -> Result<Self, Failure> {
        let strides = raw.strides()?;
        let wrong = |what: &str| Failure::Shape(format!("an array of shape {:?} {what}", raw.shape));
        if raw.shape.len() != strides.len() {
            return Err(wrong("does not have one stride per dimension"));
        }
        if raw.shape.iter().any(|side| *side <= 0) {
            return Err(wrong("is empty"));
        }
        let bytes = raw.number.bits / 8;
        if bytes == 0 || !raw.number.bits.is_multiple_of(8) {
            return Err(Failure::Dtype(format!("elements of {} bits are not whole bytes", raw.number.bits)));
        }
        let span = Span::new(raw, &raw.shape, &strides, bytes)?;
        let too_large = || wrong("is too large");
        let mut piece = bytes as i64;
        let mut apart: Vec<Axis> = Vec::new();
        for (side, stride) in raw.shape.iter().zip(strides).rev().filter(|(side, _)| **side > 1) {
            match apart.last_mut() {
                None if stride == piece => piece = piece.checked_mul(*side).ok_or_else(too_large)?,
                Some(inner) if inner.stride.checked_mul(inner.side) == Some(stride) => {
                    inner.side = inner.side.checked_mul(*side).ok_or_else(too_large)?;
                }
                _ => apart.push(Axis { side: *side, stride }),
            }
        }
        let mut axes = [Axis { side: 1, stride: 0 }; 3];
        if apart.len() > axes.len() {
            return Err(wrong("has more than three axes whose elements are not contiguous; give a copy of it"));
        }
        for (axis, found) in axes.iter_mut().rev().zip(apart) {
            *axis = found;
        }
        let len = axes.iter().try_fold(piece, |len, axis| len.checked_mul(axis.side)).ok_or_else(too_large)?;
        Ok(Self { span, piece: piece as usize, axes, len: len as usize })
    }

    /// Describes tight rows, in order or reversed. The memory has no address: only
    /// [`crate::content::Content::arguments`] uses the result.
    pub fn rows(rows: u32, bytes: usize, reversed: bool) -> Self {
        let (rows, stride) = (rows.max(1) as usize, bytes as i64);
        let len = rows * bytes;
        let one = Axis { side: 1, stride: 0 };
        let span = |first| Span { start: 0, len, first, place: MemoryLocation::Host };
        if !reversed {
            return Self { span: span(0), piece: len, axes: [one; 3], len };
        }
        let axis = Axis { side: rows as i64, stride: -stride };
        Self { span: span(len - bytes), piece: bytes, axes: [one, one, axis], len }
    }

    /// Copies to `to` from position `at`; `bytes` are those of the span.
    pub fn copy(&self, bytes: &[u8], at: usize, to: &mut [u8]) {
        let mut done = 0;
        while done < to.len() {
            let (number, inside) = ((at + done) / self.piece, (at + done) % self.piece);
            let now = (self.piece - inside).min(to.len() - done);
            let from = self.place_of(number).saturating_add(inside);
            // Both ranges are valid by construction.
            if let (Some(to), Some(from)) = (to.get_mut(done..done + now), bytes.get(from..from.saturating_add(now))) {
                to.copy_from_slice(from);
            }
            done += now;
        }
    }

    /// Returns the position of a piece's first byte.
    fn place_of(&self, number: usize) -> usize {
        let mut rest = number as i64;
        let mut place = self.span.first as i64;
        for axis in self.axes.iter().rev() {
            place += rest % axis.side * axis.stride;
            rest /= axis.side;
        }
        usize::try_from(place).unwrap_or(usize::MAX)
    }
}
