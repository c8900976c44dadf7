//! Reads single elements of an array, for the pointer and for numbers in pixels. From memory of a device it reads only
//! the needed bytes.

use crate::array::Array;
use pixelferry::Result;
use pixelferry_look::{Plane, Spot, Value};
use std::ops::Range;

/// Elements less than this many bytes apart are read together: another read costs a device more.
const GAP: usize = 4096;

/// The bytes of one element, with how to interpret them.
pub struct Element {
    plane: Plane,
    bytes: Vec<u8>,
}

impl Element {
    /// Returns the numbers of the element.
    pub fn values(&self) -> Vec<Value> {
        self.plane.values(&self.bytes, Spot::default())
    }

    /// Returns the pixel that shows the element.
    pub fn colour(&self) -> [u8; 4] {
        self.plane.colour(&self.bytes, Spot::default())
    }
}

impl Array {
    /// Reads the elements at these positions of the picture, in the same order; `None` for positions outside.
    pub(crate) fn elements(&self, plane: &Plane, spots: &[Spot]) -> Result<Vec<Option<Element>>> {
        let found: Vec<_> = spots.iter().map(|spot| plane.element(*spot)).collect();
        let runs = runs(found.iter().flatten().flat_map(|(_, parts)| parts.iter().cloned()).collect());
        let read = runs.iter().map(|run| self.bytes_at(&plane.span, run)).collect::<Result<Vec<_>>>()?;
        let bytes = |part: &Range<usize>| {
            // Runs are not empty, and each part is in one of them.
            let at = runs.partition_point(|run| run.end <= part.start);
            runs.get(at).and_then(|run| read[at].get(part.start - run.start..part.end - run.start)).unwrap_or_default()
        };
        let made = |(plane, parts): (Plane, Vec<Range<usize>>)| Element {
            plane,
            bytes: parts.iter().flat_map(|part| bytes(part).iter().copied()).collect(),
        };
        Ok(found.into_iter().map(|element| element.map(made)).collect())
    }
}

/// Merges parts that are close to each other.
fn runs(mut parts: Vec<Range<usize>>) -> Vec<Range<usize>> {
    parts.sort_unstable_by_key(|part| part.start);
    let mut runs: Vec<Range<usize>> = Vec::new();
    for part in parts {
        match runs.last_mut() {
            Some(run) if part.start <= run.end.saturating_add(GAP) => run.end = run.end.max(part.end),
            _ => runs.push(part),
        }
    }
    runs
}

#[test]
fn elements_near_each_other_are_read_at_once() {
    assert_eq!(runs(vec![9000..9004, 0..4, 8..12, 2..6, 4107..4109]), [0..4109, 9000..9004]);
    assert!(runs(Vec::new()).is_empty());
}
