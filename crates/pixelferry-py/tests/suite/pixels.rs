//! Arrays as pixels, for every description that the checks let through.

use crate::convert::{Numbers, Pixel};
use crate::items::Items;
use crate::plane::{Axes, Element, Plane};
use crate::span::{Number, Place, Raw, Sort};
use half::f16;
use pixelferry::PixelFormat;
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
        2 => [at(x, 0), at(x, 1), 0, 255],
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
        channels in prop::sample::select(vec![1u32, 2, 3, 4]),
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
        format in prop::sample::select(PixelFormat::ALL.to_vec()),
    ) {
        let number = Number { sort: Sort::Float, bits: 32, foreign: false };
        let raw = Raw { address, shape, strides: Some(strides), number, place: Place::Host };
        let tight = Raw { strides: None, ..raw.clone() };
        for raw in [&raw, &tight] {
            let spans = [Plane::new(raw, axes, format).map(|plane| plane.span), Items::new(raw).map(|items| items.span)];
            for span in spans.into_iter().flatten() {
                prop_assert!(span.start <= address && span.first < span.len && span.start.checked_add(span.len).is_some());
            }
        }
    }

    #[test]
    fn items_are_the_bytes_in_the_order_of_the_indices(
        sides in prop::collection::vec((1i64..4, -60i64..60), 0..5),
        bytes in 1usize..5,
        // An offset into all, and how many bytes are taken at a time.
        cut in 1usize..40,
    ) {
        let memory: Vec<u8> = (0..2000).map(|n| (n % 251) as u8).collect();
        let (shape, strides): (Vec<i64>, Vec<i64>) = sides.into_iter().unzip();
        let number = Number { sort: Sort::Other("any"), bits: bytes * 8, foreign: true };
        let first = 1000;
        let raw = Raw { address: first, shape: shape.clone(), strides: Some(strides.clone()), number, place: Place::Host };
        let mut expected = Vec::new();
        for n in 0..shape.iter().product::<i64>() {
            let (mut rest, mut at) = (n, first as i64);
            for (side, stride) in shape.iter().zip(&strides).rev() {
                at += rest % side * stride;
                rest /= side;
            }
            expected.extend_from_slice(&memory[at as usize..at as usize + bytes]);
        }
        match Items::new(&raw) {
            Ok(items) => {
                let mut found = vec![0; items.len];
                for (n, part) in found.chunks_mut(cut).enumerate() {
                    items.copy(&memory[items.span.start..items.span.start + items.span.len], n * cut, part);
                }
                prop_assert_eq!(found, expected);
            }
            // More axes than the kernels take.
            Err(_) => prop_assert!(shape.iter().filter(|side| **side > 1).count() > 3),
        }
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

/// A row of `count` pixels of these numbers, `[column, channel]` apart in numbers.
fn row<P: Pixel, N: bytemuck::Pod>(
    numbers: &[N],
    [column, channel]: [usize; 2],
    channels: u32,
    element: Element,
    count: usize,
) -> Vec<P> {
    let size = size_of::<N>();
    let strides = [0, (column * size) as i64, (channel * size) as i64];
    let numbers = Numbers { bytes: bytemuck::cast_slice(numbers), first: 0, strides, channels, element };
    numbers.check(count as u32, 1).unwrap();
    let mut out = vec![P::zeroed(); count];
    numbers.row(0, &mut out);
    out
}

/// By the definition.
fn byte(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

#[test]
fn every_half_and_the_borders_of_every_byte_are_converted() {
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let singles: Vec<f32> = row(&halves, [1, 1], 1, Element::F16, halves.len());
    for (half, single) in halves.iter().zip(&singles) {
        assert!(single.to_bits() == half.to_f32().to_bits() || single.is_nan() && half.is_nan(), "{half:?} {single}");
    }
    // Two steps to each side of where a byte ends, and what is outside of all.
    let borders = (0..=256).flat_map(|level| {
        let border = (level as f32 - 0.5) / 255.0;
        [border.next_down().next_down(), border.next_down(), border, border.next_up(), border.next_up().next_up()]
    });
    let odd = [f32::NAN, -f32::NAN, f32::INFINITY, -f32::INFINITY, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, -0.0];
    let mut values: Vec<f32> = borders.chain(odd).chain(singles).collect();
    values.truncate(values.len() / 12 * 12);
    let bytes: Vec<u8> = values.iter().map(|value| byte(*value)).collect();
    let (count, third, fourth) = (values.len(), values.len() / 3, values.len() / 4);
    let grey: Vec<[u8; 4]> = row(&values, [1, 1], 1, Element::F32, count);
    assert!(grey.iter().zip(&bytes).all(|(found, byte)| *found == [*byte, *byte, *byte, 255]));
    assert_eq!(row::<u8, _>(&values, [1, 1], 1, Element::F32, count), bytes);
    let four: Vec<[u8; 4]> = row(&values, [4, 1], 4, Element::F32, fourth);
    assert_eq!(four.as_flattened(), bytes);
    let three: Vec<[u8; 4]> = row(&values, [3, 1], 3, Element::F32, third);
    let apart: Vec<[u8; 4]> = row(&values, [1, third], 3, Element::F32, third);
    for x in 0..third {
        assert_eq!(three[x], [bytes[3 * x], bytes[3 * x + 1], bytes[3 * x + 2], 255]);
        assert_eq!(apart[x], [bytes[x], bytes[third + x], bytes[2 * third + x], 255]);
    }
    // The last pixels are fewer than are made together.
    let halves = &halves[100..100 + 3 * 333];
    let three: Vec<[u8; 4]> = row(halves, [3, 1], 3, Element::F16, 333);
    for (x, found) in three.iter().enumerate() {
        let [r, g, b] = [0, 1, 2].map(|c| byte(halves[3 * x + c].to_f32()));
        assert_eq!(*found, [r, g, b, 255]);
    }
}
