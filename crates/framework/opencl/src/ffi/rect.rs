//! Boxes of bytes in linear memory: where they lie and that they lie inside.

use std::ops::Range;

/// Layout of a box of rows in linear memory (`clEnqueueReadBufferRect` and its like).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RectLayout {
    /// First byte in a row, first row, first slice (`buffer_origin` or `host_origin` of `clEnqueueReadBufferRect`).
    pub origin: [usize; 3],
    /// Bytes from row to row; 0 for rows without gaps (`buffer_row_pitch` or `host_row_pitch` of
    /// `clEnqueueReadBufferRect`).
    pub row_pitch: usize,
    /// Bytes from slice to slice; 0 for slices without gaps (`buffer_slice_pitch` or `host_slice_pitch` of
    /// `clEnqueueReadBufferRect`).
    pub slice_pitch: usize,
}

impl RectLayout {
    /// The pitches with their defaults, and the bytes from the first to the last of the box. `None` where a side is 0
    /// or the box ends beyond all addresses. Also where a pitch breaks the rules of `clEnqueueReadBufferRect`: it is
    /// too small, or a slice's is no multiple of a row's.
    pub fn resolve(&self, region: [usize; 3]) -> Option<(Self, Range<usize>)> {
        let [bytes, rows, slices] = region;
        let row_pitch = if self.row_pitch == 0 { bytes } else { self.row_pitch };
        let least_slice = rows.checked_mul(row_pitch)?;
        let slice_pitch = if self.slice_pitch == 0 { least_slice } else { self.slice_pitch };
        let fits = row_pitch >= bytes && slice_pitch >= least_slice && slice_pitch.is_multiple_of(row_pitch.max(1));
        if !fits || bytes == 0 || rows == 0 || slices == 0 {
            return None;
        }
        let at = |x: usize, y: usize, z: usize| {
            z.checked_mul(slice_pitch)?.checked_add(y.checked_mul(row_pitch)?)?.checked_add(x)
        };
        let [x, y, z] = self.origin;
        let start = at(x, y, z)?;
        let end = start.checked_add(at(0, rows - 1, slices - 1)?)?.checked_add(bytes)?;
        Some((Self { row_pitch, slice_pitch, ..*self }, start..end))
    }

    /// The box where the memory begins so many bytes earlier; pitches must be resolved.
    pub(crate) fn moved(self, bytes: usize) -> Option<Self> {
        let [x, y, z] = self.origin;
        Some(Self { origin: [x.checked_add(bytes)?, y, z], ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_where_the_specification_puts_them() {
        let layout = RectLayout { origin: [4, 2, 1], row_pitch: 10, slice_pitch: 50 };
        let (_, span) = layout.resolve([3, 2, 2]).unwrap();
        assert_eq!(span, 50 + 20 + 4..50 + 20 + 4 + 50 + 10 + 3);
        let (tight, span) = RectLayout::default().resolve([3, 4, 5]).unwrap();
        assert_eq!((tight.row_pitch, tight.slice_pitch, span), (3, 12, 0..60));
    }

    #[test]
    fn pitches_that_cannot_be_are_refused() {
        let layout = |row_pitch, slice_pitch| RectLayout { row_pitch, slice_pitch, ..RectLayout::default() };
        for (layout, region) in [
            (layout(2, 0), [3, 1, 1]),
            (layout(4, 7), [3, 2, 1]),
            (layout(4, 10), [3, 2, 1]),
            (layout(0, 0), [0, 1, 1]),
            (layout(usize::MAX, 0), [1, 3, 1]),
            (RectLayout { origin: [usize::MAX, 0, 0], ..layout(0, 0) }, [1, 1, 1]),
        ] {
            assert_eq!(layout.resolve(region), None, "{layout:?} {region:?}");
        }
    }
}
