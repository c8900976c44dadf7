//! Elements under a pointer, as the array stores them.

use crate::plane::{Grid, Plane};
use crate::rows::Numbers;
use crate::span::Span;
use crate::value::{Value, number};
use std::ops::Range;

/// Position of an element: picture of the grid, row, column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spot {
    /// Picture of the grid, from 0.
    pub image: u32,
    /// Row of that picture.
    pub row: u32,
    /// Column of that picture.
    pub column: u32,
}

impl Plane {
    /// Returns the element behind a pixel; `None` outside, and in an empty cell of a grid.
    pub fn spot(&self, x: u32, y: u32) -> Option<Spot> {
        let Grid { count, columns, width, height, .. } = self.grid;
        let image = (y / height).checked_mul(columns)?.checked_add(x / width)?;
        let inside = x < self.width && y < self.height && image < count;
        inside.then_some(Spot { image, row: y % height, column: x % width })
    }

    /// Returns the numbers of an element, one per channel. Reads nothing else of `bytes`, the bytes of the span.
    pub fn values(&self, bytes: &[u8], spot: Spot) -> Vec<Value> {
        (0..self.channels).map_while(|channel| self.value_at(bytes, spot, channel)).collect()
    }

    /// Returns one of these numbers.
    pub(crate) fn value_at(&self, bytes: &[u8], spot: Spot, channel: u32) -> Option<Value> {
        self.value(self.at(bytes, spot, channel)?)
    }

    /// Returns the pixel of an element; black if its bytes are missing.
    pub fn colour(&self, bytes: &[u8], spot: Spot) -> [u8; 4] {
        let mut pixel = [[0, 0, 0, u8::MAX]];
        if let Some(first) = self.first_of(spot, 0) {
            let one = Numbers { first, ..self.numbers(bytes) };
            if one.check(1, 1).is_ok() {
                one.row(0, &mut pixel);
            }
        }
        pixel[0]
    }

    /// Returns an element as a picture of its own with contiguous numbers, and where these are in the span's bytes: for
    /// memory from which only these should be read. `None` outside.
    pub fn element(&self, spot: Spot) -> Option<(Self, Vec<Range<usize>>)> {
        let bytes = self.numbers(&[]).bytes_of_one();
        let part = |channel| {
            let start = usize::try_from(self.first_of(spot, channel)?).ok()?;
            let end = start.checked_add(bytes).filter(|end| *end <= self.span.len)?;
            Some(start..end)
        };
        let parts = (0..self.channels).map(part).collect::<Option<Vec<_>>>()?;
        let mut one = *self;
        one.span = Span { first: 0, len: bytes * parts.len(), ..self.span };
        (one.width, one.height, one.strides) = (1, 1, [0, 0, bytes as i64]);
        one.grid = Grid { count: 1, columns: 1, stride: 0, width: 1, height: 1 };
        Some((one, parts))
    }

    fn first_of(&self, spot: Spot, channel: u32) -> Option<i64> {
        let [row, column, apart] = self.strides;
        let steps = [(spot.image, self.grid.stride), (spot.row, row), (spot.column, column), (channel, apart)];
        let all = steps.into_iter().map(|(n, stride)| i128::from(n) * i128::from(stride));
        i64::try_from(self.span.first as i128 + all.sum::<i128>()).ok()
    }

    fn at<'a>(&self, bytes: &'a [u8], spot: Spot, channel: u32) -> Option<&'a [u8]> {
        let start = usize::try_from(self.first_of(spot, channel)?).ok()?;
        bytes.get(start..start.checked_add(self.numbers(bytes).bytes_of_one())?)
    }

    fn value(&self, bytes: &[u8]) -> Option<Value> {
        if self.pair.is_some() {
            let (real, imaginary) = bytes.split_at_checked(self.element.bytes())?;
            return Some(Value::Complex(number(self.element, real)?.into(), number(self.element, imaginary)?.into()));
        }
        number(self.element, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layout, Look, MemoryLocation, Number, Raw};
    use pixelferry::PixelFormat;

    fn plane(bytes: &[u8], shape: &[i64], name: &str) -> Plane {
        let raw = Raw {
            address: bytes.as_ptr().addr(),
            shape: shape.to_vec(),
            strides: None,
            number: Number::of_name(name).unwrap(),
            place: MemoryLocation::Host,
        };
        Plane::new(&raw, Layout::GUESSED, PixelFormat::Rgba8, &Look::default()).unwrap()
    }

    #[test]
    fn values_are_exact_and_where_the_pointer_is() {
        let large: Vec<u8> = (0..6).flat_map(|n| (i64::MAX - n).to_ne_bytes()).collect();
        let of = plane(&large, &[2, 3], "int64");
        let spot = of.spot(1, 1).unwrap();
        assert_eq!((spot, of.spot(3, 0), of.spot(0, 2)), (Spot { image: 0, row: 1, column: 1 }, None, None));
        assert_eq!(of.values(&large, spot), [Value::Whole(i128::from(i64::MAX) - 4)]);
        assert_eq!(of.values(&large, spot)[0].to_string(), "9223372036854775803");
        // A file that is shorter than it says gives nothing.
        assert_eq!(of.values(&large[..8], spot), []);
        assert_eq!(of.element(Spot { row: 2, ..spot }), None);
        assert_eq!(of.colour(&large[..8], spot), [0, 0, 0, 255]);
        let complex: Vec<u8> = [1.5_f32, -0.25, 0.0, 3.0].into_iter().flat_map(f32::to_ne_bytes).collect();
        let of = plane(&complex, &[1, 2], "complex64");
        assert_eq!(of.values(&complex, of.spot(0, 0).unwrap())[0].to_string(), "1.5-0.25i");
    }

    #[test]
    fn pictures_of_a_grid_have_rows_and_columns_of_their_own() {
        // Three pictures of 2x2 RGB in two columns: the fourth place is empty.
        let bytes: Vec<u8> = (0..36).collect();
        let of = plane(&bytes, &[3, 2, 2, 3], "uint8");
        let spot = of.spot(1, 2).unwrap();
        assert_eq!((spot, of.spot(2, 2)), (Spot { image: 2, row: 0, column: 1 }, None));
        assert_eq!(of.values(&bytes, spot), [27, 28, 29].map(Value::Whole));
        assert_eq!(of.colour(&bytes, spot), [27, 28, 29, 255]);
        let (one, parts) = of.element(spot).unwrap();
        assert_eq!((parts.clone(), one.spot(0, 0)), (vec![27..28, 28..29, 29..30], Some(Spot::default())));
        let read = parts.into_iter().flat_map(|part| bytes[part].to_vec()).collect::<Vec<_>>();
        assert_eq!(
            (one.values(&read, Spot::default()), one.colour(&read, Spot::default())),
            (of.values(&bytes, spot), [27, 28, 29, 255])
        );
    }
}
