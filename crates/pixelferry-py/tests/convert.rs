//! Arrays as pixels, for every description that the checks let through. The modules are taken as sources: the library
//! itself runs inside Python only.

#![allow(dead_code)] // a test does not use all of the modules
#![allow(clippy::unwrap_used)] // how tests fail

/// In the place of the library's own, which makes Python's exceptions.
mod failure {
    #[derive(Debug)]
    pub enum Failure {
        Dtype(String),
        Shape(String),
    }
}

#[path = "../src/convert.rs"]
mod convert;
#[path = "../src/plane.rs"]
mod plane;

use convert::Numbers;
use plane::{Axes, Element, Place, Plane};
use proptest::prelude::*;

/// A row by the definition, in numbers of 128 bits.
fn row_by_definition(numbers: &Numbers<'_>, y: u32, width: u32) -> Vec<[u8; 4]> {
    let at = |x: u32, channel: u32| {
        let steps = [y, x, channel].map(i128::from).into_iter().zip(numbers.strides);
        let place = i128::from(numbers.first) + steps.map(|(n, stride)| n * i128::from(stride)).sum::<i128>();
        numbers.bytes[usize::try_from(place).unwrap()]
    };
    let pixel = |x| match numbers.channels {
        1 => [at(x, 0), at(x, 0), at(x, 0), 255],
        3 => [at(x, 0), at(x, 1), at(x, 2), 255],
        _ => [at(x, 0), at(x, 1), at(x, 2), at(x, 3)],
    };
    (0..width).map(pixel).collect()
}

fn stride() -> impl Strategy<Value = i64> {
    prop_oneof![4 => -40i64..40, 1 => any::<i64>(), 1 => prop::sample::select(vec![i64::MIN, i64::MAX])]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_passes_the_check_is_converted_as_described(
        first in prop_oneof![3 => 0i64..200, 1 => any::<i64>()],
        strides in [stride(), stride(), stride()],
        channels in prop::sample::select(vec![1u32, 3, 4]),
        (width, height) in (0u32..6, 0u32..6),
    ) {
        let bytes: Vec<u8> = (0..=255).collect();
        let numbers = Numbers { bytes: &bytes, first, strides, channels, element: Element::U8 };
        if numbers.check(width, height).is_ok() {
            for y in 0..height {
                let mut row = vec![[0u8; 4]; width as usize];
                numbers.row(y, &mut row);
                prop_assert_eq!(row, row_by_definition(&numbers, y, width));
            }
        }
    }

    #[test]
    fn any_array_is_described_or_refused(
        address in prop_oneof![3 => 1usize..1 << 40, 1 => any::<usize>()],
        shape in prop::collection::vec(prop_oneof![4 => -1i64..9, 1 => any::<i64>()], 0..5),
        strides in prop::collection::vec(stride(), 0..5),
        axes in prop::sample::select(vec![Axes::Hwc, Axes::Chw]),
    ) {
        let plane = Plane::new(address, &shape, &strides, Element::F32, axes, Place::Host);
        if let Ok(plane) = plane {
            prop_assert!(plane.start <= address && plane.first < plane.len && plane.start.checked_add(plane.len).is_some());
        }
        let _ = Plane::tight(&shape, Element::F32);
    }
}

#[test]
fn one_column_may_have_any_stride() {
    let bytes = [7, 8, 9];
    for stride in [i64::MAX, i64::MIN, 5] {
        let numbers = Numbers { bytes: &bytes, first: 1, strides: [0, stride, 1], channels: 1, element: Element::U8 };
        numbers.check(1, 1).unwrap();
        let mut row = [[0u8; 4]];
        numbers.row(0, &mut row);
        assert_eq!(row, [[8, 8, 8, 255]], "{stride}");
    }
}
