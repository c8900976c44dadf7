//! Measures the range of the shown numbers.

use crate::element::Element;
use crate::look::Range;
use crate::paint::{Float, TOGETHER};
use crate::plane::Plane;
use crate::pool;
use crate::raw::simd::{self, Loops};
use crate::rows::Numbers;
use crate::spot::Spot;
use crate::value::Value;
use compute_arrays::Histogram;
use pixelferry::Result;
use rayon::prelude::*;

impl Plane {
    /// Returns the picture with its range, if that depends on the numbers. Minimum and maximum of the finite numbers
    /// are exact. The error of a percentile is at most 1/65536 of the distance between the two, and much smaller if few
    /// numbers are far from all others. A picture without finite numbers has the range 0 to 1.
    ///
    /// # Errors
    /// [`Error::InvalidInput`](pixelferry::Error::InvalidInput) if `bytes` are fewer than the span.
    pub fn measured(mut self, bytes: &[u8]) -> Result<Self> {
        if self.range.fixed().is_some() {
            return Ok(self);
        }
        self.check(bytes)?;
        let single = self.numbers(bytes).is_single();
        let least = if single { self.extent::<f32>(bytes) } else { self.extent::<f64>(bytes) };
        let (low, high) = if least.0 <= least.1 { least } else { (0.0, 1.0) };
        if let Some(whole) = self.whole(bytes, (low, high)) {
            self.tone.range = (whole.0 as f64, whole.1 as f64);
            self.tone.whole = Some(whole);
            return Ok(self);
        }
        let count = |into: Histogram| Ok(self.fold(bytes, || into.clone(), Histogram::counted, Histogram::merged));
        self.tone.range = self.range.measured((low, high), count)?;
        Ok(self)
    }

    /// Returns whether a range between these needs integers that floats cannot represent, which devices do not measure.
    pub fn is_whole(&self, (low, high): (f64, f64)) -> bool {
        /// Floats represent every integer up to this one.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let is_long = matches!(self.element, Element::I64 | Element::U64) && self.pair.is_none();
        is_long && self.range == Range::MINMAX && low.abs().max(high.abs()) >= EXACT
    }

    /// Minimum and maximum as integers that floats cannot represent, if the ends ask for them.
    fn whole(&self, bytes: &[u8], ends: (f64, f64)) -> Option<(i128, i128)> {
        if !self.is_whole(ends) {
            return None;
        }
        let rows = u64::from(self.grid.count) * u64::from(self.grid.height);
        let of_row = |row: u64| {
            let (image, row) = ((row / u64::from(self.grid.height)) as u32, (row % u64::from(self.grid.height)) as u32);
            let spots = (0..self.grid.width).map(move |column| Spot { image, row, column });
            let all = spots.flat_map(|spot| (0..self.channels.min(3)).map(move |channel| (spot, channel)));
            let wholes = all.filter_map(|(spot, channel)| match self.value_at(bytes, spot, channel)? {
                Value::Whole(whole) => Some((whole, whole)),
                _ => None,
            });
            wholes.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
        };
        (0..rows).into_par_iter().filter_map(of_row).reduce_with(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Counts the numbers of colour channels in the bins of a range.
    ///
    /// # Errors
    /// Those of [`Plane::measured`].
    pub fn counts(&self, bytes: &[u8], low: f64, high: f64) -> Result<Counts> {
        self.check(bytes)?;
        let none = || Counts { inside: Histogram::new(low, high), below: 0, above: 0, infinite: [0; 2], nan: 0 };
        Ok(self.fold(bytes, none, Counts::counted, Counts::merged))
    }

    /// Minimum and maximum of the finite numbers.
    fn extent<F: Float>(&self, bytes: &[u8]) -> (f64, f64) {
        let each = |mut found: (f64, f64), values: &[F]| {
            simd::run(Extent { values, found: &mut found });
            found
        };
        self.fold(bytes, || (f64::INFINITY, f64::NEG_INFINITY), each, |a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Folds over the numbers of all colour channels with several threads.
    fn fold<T: Send, F: Float>(
        &self,
        bytes: &[u8],
        start: impl Fn() -> T + Send + Sync,
        each: impl Fn(T, &[F]) -> T + Send + Sync,
        both: impl Fn(T, T) -> T + Send + Sync,
    ) -> T {
        let grid = self.grid;
        let rows = u64::from(grid.count) * u64::from(grid.height);
        let piece = |piece: u64, pieces: u64| {
            let mut values = [F::default(); TOGETHER];
            let mut done = start();
            for row in rows * piece / pieces..rows * (piece + 1) / pieces {
                let (image, y) = (row / u64::from(grid.height), (row % u64::from(grid.height)) as u32);
                let of = self.image(bytes, image as u32);
                for channel in 0..of.colours() as u32 {
                    for x in (0..grid.width as usize).step_by(TOGETHER) {
                        let values = &mut values[..TOGETHER.min(grid.width as usize - x)];
                        of.values(y, x, channel, values);
                        done = each(done, values);
                    }
                }
            }
            done
        };
        pool::run(|| {
            // Use a few pieces per thread: the results to merge may be large.
            let pieces = (rayon::current_num_threads() as u64 * 2).min(rows).max(1);
            (0..pieces).into_par_iter().map(|at| piece(at, pieces)).reduce(&start, &both)
        })
    }

    /// The numbers of one picture of the grid.
    pub(crate) fn image<'a>(&self, bytes: &'a [u8], image: u32) -> Numbers<'a> {
        let numbers = self.numbers(bytes);
        Numbers { first: numbers.first + i64::from(image) * self.grid.stride, ..numbers }
    }

    /// Refuses a description that reaches outside of the bytes: all readers rely on this check.
    pub(crate) fn check(&self, bytes: &[u8]) -> Result<()> {
        let last = self.grid.count.saturating_sub(1);
        let first = i128::from(self.numbers(bytes).first) + i128::from(last) * i128::from(self.grid.stride);
        let of = i64::try_from(first).ok().map(|first| Numbers { first, ..self.numbers(bytes) });
        let outside = || pixelferry::Error::invalid("show", "the array's description reaches outside of its memory");
        of.ok_or_else(outside)?.check(self.grid.width, self.grid.height)?;
        self.numbers(bytes).check(self.grid.width, self.grid.height)
    }
}

/// Counts of a picture's numbers. Channels count together.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// Numbers in the range.
    pub inside: Histogram,
    /// Finite numbers below the range.
    pub below: u64,
    /// Finite numbers above it.
    pub above: u64,
    /// Minus infinity, and infinity.
    pub infinite: [u64; 2],
    /// NaN.
    pub nan: u64,
}

impl Counts {
    fn counted(mut self, numbers: &[f64]) -> Self {
        self.inside = self.inside.counted(numbers);
        let (low, high) = self.inside.range();
        for number in numbers {
            match *number {
                f64::NEG_INFINITY => self.infinite[0] += 1,
                f64::INFINITY => self.infinite[1] += 1,
                number if number < low => self.below += 1,
                number if number > high => self.above += 1,
                number => self.nan += u64::from(number.is_nan()),
            }
        }
        self
    }

    fn merged(self, other: Self) -> Self {
        Self {
            inside: self.inside.merged(other.inside),
            below: self.below + other.below,
            above: self.above + other.above,
            infinite: [0, 1].map(|at| self.infinite[at] + other.infinite[at]),
            nan: self.nan + other.nan,
        }
    }
}

/// Extends a minimum and maximum of finite numbers.
struct Extent<'a, F> {
    values: &'a [F],
    found: &'a mut (f64, f64),
}

impl<F: Float> Loops for Extent<'_, F> {
    #[inline(always)]
    fn run(self) {
        const LANES: usize = 16;
        let nothing = (F::of_double(f64::INFINITY), F::of_double(f64::NEG_INFINITY));
        let (mut lows, mut highs) = ([nothing.0; LANES], [nothing.1; LANES]);
        let mut look = |values: &[F]| {
            for ((value, low), high) in values.iter().zip(&mut lows).zip(&mut highs) {
                let is_finite = value.is_finite();
                *low = if is_finite & (*value < *low) { *value } else { *low };
                *high = if is_finite & (*value > *high) { *value } else { *high };
            }
        };
        let (whole, rest) = self.values.as_chunks::<LANES>();
        whole.iter().for_each(|values| look(values));
        look(rest);
        let (low, high) = *self.found;
        let low = lows.into_iter().fold(low, |low, value| low.min(value.double()));
        *self.found = (low, highs.into_iter().fold(high, |high, value| high.max(value.double())));
    }
}
