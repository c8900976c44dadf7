//! Measures the range of the shown numbers, and counts them, on the array's device.

use crate::kernel::kernel;
use crate::look::{End, Range};
use crate::measure::Counts;
use crate::plane::Plane;
use bytemuck::{bytes_of, bytes_of_mut, cast_slice_mut};
use compute_arrays::Histogram;
use pixelferry::{BufferView, ComputeBackend, ComputeMemory, Error, Kernel, Result, Target, View};
use std::sync::Arc;

/// Work items per group, which share a row.
const ROW: usize = 256;
/// Maximum number of groups: enough for every device, and few enough to combine their results one after the other.
const MOST_GROUPS: usize = 1024;
/// Bytes that each kernel writes.
const EXTENT: usize = size_of_val(&NO_ENDS);
const COUNTS: usize = 4 * (Histogram::BINS + OUTSIDE);
/// Number of counters for numbers that are in no bin.
const OUTSIDE: usize = 5;
/// Initial minimum and maximum, as bits in the order of the numbers.
const NO_ENDS: [u64; 2] = [u64::MAX, 0];

/// Measures arrays on one device.
pub struct Gauge {
    extent: Arc<dyn Kernel>,
    count: Arc<dyn Kernel>,
    found: Box<dyn ComputeMemory>,
    /// Initial content of the results: ends, and counts.
    fresh: [Box<dyn ComputeMemory>; 2],
    /// The most recent counts.
    counts: Vec<u32>,
}

impl Gauge {
    /// Builds the kernels for a backend, which must support PTX or OpenCL C.
    ///
    /// # Errors
    /// Errors of the backend, also if a device lacks numbers of 64 bits, or atomics of them.
    pub fn new(backend: &dyn ComputeBackend) -> Result<Self> {
        let built = |name| {
            // SAFETY: items read the array at indices that `Plane` checked against its memory, and write to the first
            // 16 bytes, or to one of 65541 words; `run` provides a buffer of that size.
            backend.build(&unsafe { kernel(name) })
        };
        let of = |bytes: &[u8]| {
            let mut memory = backend.allocate(bytes.len())?;
            memory.write(0, bytes)?;
            Ok::<_, Error>(memory)
        };
        Ok(Self {
            extent: built("pf_extent")?,
            count: built("pf_count")?,
            found: backend.allocate(COUNTS)?,
            fresh: [of(bytes_of(&NO_ENDS))?, of(&vec![0; COUNTS])?],
            counts: vec![0; COUNTS / 4],
        })
    }

    /// Returns the picture with its range, like [`Plane::measured`]; `memory` is that of its span. Waits for the
    /// device.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn measure(
        &mut self,
        mut plane: Plane,
        backend: &dyn ComputeBackend,
        memory: &dyn ComputeMemory,
    ) -> Result<Plane> {
        if plane.range.fixed().is_some() {
            return Ok(plane);
        }
        let mut ends = NO_ENDS;
        self.run(&plane, backend, memory, EXTENT)?;
        self.found.read(0, bytes_of_mut(&mut ends))?;
        let [low, high] = ends.map(of_ordered);
        let (low, high) = if ends[0] <= ends[1] { (low, high) } else { (0.0, 1.0) };
        plane.tone.range = plane.range.measured((low, high), |into| {
            let range = into.range();
            Ok(into.with_counts(self.counted(plane, range, backend, memory)?))
        })?;
        Ok(plane)
    }

    /// Counts like [`Plane::counts`], up to 2^32 numbers of each kind; `memory` is that of the span. Waits for the
    /// device.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn counts(
        &mut self,
        plane: &Plane,
        (low, high): (f64, f64),
        backend: &dyn ComputeBackend,
        memory: &dyn ComputeMemory,
    ) -> Result<Counts> {
        let counts = self.counted(*plane, (low, high), backend, memory)?;
        let (inside, outside) = counts.split_at(Histogram::BINS);
        let [below, above, minus, plus, nan] = [0, 1, 2, 3, 4].map(|at| u64::from(outside[at]));
        Ok(Counts { inside: Histogram::of_counts(low, high, inside), below, above, infinite: [minus, plus], nan })
    }

    fn counted(
        &mut self,
        mut plane: Plane,
        range: (f64, f64),
        backend: &dyn ComputeBackend,
        memory: &dyn ComputeMemory,
    ) -> Result<&[u32]> {
        (plane.tone.range, plane.tone.whole) = (range, None);
        self.run(&plane, backend, memory, COUNTS)?;
        let counts = cast_slice_mut(&mut self.counts);
        self.found.map_read(0..COUNTS, &mut |bytes| {
            counts.copy_from_slice(bytes);
            Ok(())
        })?;
        Ok(&self.counts)
    }

    fn run(
        &mut self,
        plane: &Plane,
        backend: &dyn ComputeBackend,
        memory: &dyn ComputeMemory,
        bytes: usize,
    ) -> Result<()> {
        let (kernel, fresh) =
            if bytes == EXTENT { (&self.extent, &self.fresh[0]) } else { (&self.count, &self.fresh[1]) };
        backend.copy(fresh.as_ref(), self.found.as_mut(), 0..bytes)?;
        let rows = u64::from(plane.grid.count) * u64::from(plane.grid.height) * u64::from(plane.channels.min(3));
        let groups = usize::try_from(rows).unwrap_or(MOST_GROUPS).min(MOST_GROUPS);
        let target = Target::new(self.found.as_mut(), View::Buffer(BufferView { offset: 0, len: bytes }))?;
        backend.launch(kernel.as_ref(), target.with_items(groups * ROW), &plane.arguments(memory, None))
    }
}

/// Converts bits in the order of the numbers back to a number.
fn of_ordered(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits ^ (1 << 63) } else { !bits })
}

impl Range {
    /// Returns the range between these ends. `count` counts numbers: for percentiles, and then again within a bin as
    /// long as most numbers are close together there.
    pub(crate) fn measured(
        self,
        (low, high): (f64, f64),
        mut count: impl FnMut(Histogram) -> Result<Histogram>,
    ) -> Result<(f64, f64)> {
        /// Maximum number of counts: each makes the bins up to 65536 times narrower.
        const COUNTS: usize = 4;
        let percents: Vec<f64> = match self {
            Self::Between(first, second) => [first, second].into_iter().filter_map(inside).collect(),
            _ => Vec::new(),
        };
        let mut counted = Histogram::new(low, high);
        if !percents.is_empty() {
            counted = count(counted)?;
            for _ in 1..COUNTS {
                let Some(narrowed) = counted.narrowed(&percents) else { break };
                counted = count(narrowed)?;
            }
        }
        let of = |end| match end {
            End::Value(value) => value,
            End::Percent(part) if part <= 0.0 => low,
            End::Percent(part) if part >= 100.0 => high,
            End::Percent(part) => counted.percentile(part),
        };
        Ok(match self {
            Self::Symmetric => {
                // If all numbers are zero, zero is in the middle, too.
                let most = Some(low.abs().max(high.abs())).filter(|most| *most > 0.0).unwrap_or(1.0);
                (-most, most)
            }
            Self::OfData if 0.0 <= low && high <= 1.0 => (0.0, 1.0),
            Self::OfType | Self::OfData => (low, high),
            Self::Between(first, second) => (of(first), of(second)),
        })
    }
}

/// Returns the percentile of an end that is between minimum and maximum.
fn inside(end: End) -> Option<f64> {
    match end {
        End::Percent(part) => Some(part).filter(|part| *part > 0.0 && *part < 100.0),
        End::Value(_) => None,
    }
}

#[test]
fn numbers_come_back_from_their_order() {
    for number in [-f64::MAX, -1.5, -0.0, 0.0, 1e-300, 2.0, f64::MAX] {
        let bits = number.to_bits();
        assert_eq!(of_ordered(if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }).to_bits(), bits);
    }
}

#[test]
fn percentiles_are_near_whatever_lies_far_outside() {
    let mut numbers: Vec<f64> = (0..10_000).map(|n| f64::from(n) / 100.0).collect();
    let mut passes = 0;
    let mut range = |numbers: &[f64], low, high| {
        passes = 0;
        let ends = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), n| (a.min(*n), b.max(*n)));
        let count = |into: Histogram| {
            passes += 1;
            Ok(into.counted(numbers))
        };
        let found = Range::Between(low, high).measured(ends, count).unwrap();
        (found, passes)
    };
    let (low, high) = (End::Percent(1.0), End::Percent(99.0));
    let ((one, many), passes) = range(&numbers, low, high);
    assert!((one - 1.0).abs() < 0.02 && (many - 98.99).abs() < 0.02 && passes == 1, "{one} to {many} in {passes}");
    for outlier in [1e6, 1e9, -1e12, 1e15] {
        numbers.push(outlier);
        let ((one, many), passes) = range(&numbers, low, high);
        assert!(
            (one - 1.0).abs() < 0.05 && (many - 99.0).abs() < 0.05 && passes <= 4,
            "{outlier}: {one} to {many} in {passes}"
        );
        // Of one end alone, too.
        let ((zero, many), _) = range(&numbers, End::Value(0.0), high);
        assert!(zero == 0.0 && (many - 99.0).abs() < 0.05, "{outlier}: to {many}");
    }
    // Where most are one number, and where all are.
    let most: Vec<f64> = [7.0; 1000].into_iter().chain([1e9, -1e9]).collect();
    assert!((range(&most, low, high).0.0 - 7.0).abs() < 1e-3);
    assert_eq!(range(&[7.0; 10], low, high).0, (7.0, 7.0));
}

#[test]
fn numbers_outside_of_the_types_range_have_a_range_of_their_own() {
    let range = |low, high| Range::OfData.measured((low, high), |_| panic!("nothing is counted")).unwrap();
    for inside in [(0.0, 1.0), (0.25, 0.5), (0.0, 0.0)] {
        assert_eq!(range(inside.0, inside.1), (0.0, 1.0));
    }
    for outside in [(-0.9, 0.9), (0.0, 255.0), (3.0, 3.0)] {
        assert_eq!(range(outside.0, outside.1), outside);
    }
}
