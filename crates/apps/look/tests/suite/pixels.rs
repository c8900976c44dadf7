//! Arrays as pixels, for every description that the checks let through.

use half::f16;
use pixelferry::PixelFormat;
use pixelferry_look::{
    Element, End, Layout, Look, MemoryLocation, Number, Numbers, Pixel, Plane, Range, Raw, Spot, Tone,
};
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
        let numbers = Numbers { bytes: &bytes, first, strides, channels, element: Element::U8, pair: None, tone: Tone::plain(255.0) };
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
        layout in prop::sample::select(vec!["HWC", "CHW", "NHW", "NCHW", "guessed"]),
        format in prop::sample::select(PixelFormat::ALL.to_vec()),
    ) {
        let number = Number { code: 2, bits: 32, foreign: false };
        let layout = Layout::named(layout).unwrap_or(Layout::GUESSED);
        let raw = Raw { address, shape, strides: Some(strides), number, place: MemoryLocation::Host };
        let tight = Raw { strides: None, ..raw.clone() };
        for raw in [&raw, &tight] {
            if let Ok(Plane { span, .. }) = Plane::new(raw, layout, format, &Look::default()) {
                prop_assert!(span.start <= address && span.first < span.len && span.start.checked_add(span.len).is_some());
            }
        }
    }
}

#[test]
fn one_column_may_have_any_stride() {
    let bytes = [7, 8, 9];
    for stride in [i64::MAX, i64::MIN, 5] {
        let numbers = Numbers {
            bytes: &bytes,
            first: 1,
            strides: [0, stride, 1],
            channels: 1,
            element: Element::U8,
            pair: None,
            tone: Tone::plain(255.0),
        };
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
    let tone = Tone::plain(element.row().white.unwrap());
    let strides = [0, (column * size) as i64, (channel * size) as i64];
    let numbers =
        Numbers { bytes: bytemuck::cast_slice(numbers), first: 0, strides, channels, element, pair: None, tone };
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

/// Levels of a row of numbers over their range, and how that is told.
fn levels<T: bytemuck::Pod>(numbers: &[T], name: &str, range: Range) -> (Vec<u8>, String) {
    let bytes: &[u8] = bytemuck::cast_slice(numbers);
    let (address, number) = (bytes.as_ptr().addr(), Number::of_name(name).unwrap());
    let raw = Raw { address, shape: vec![1, numbers.len() as i64], strides: None, number, place: MemoryLocation::Host };
    let look = Look { range, ..Look::default() };
    let plane = Plane::new(&raw, Layout::GUESSED, PixelFormat::Rgba8, &look).unwrap().measured(bytes).unwrap();
    let level = |column| plane.colour(bytes, Spot { image: 0, row: 0, column })[0];
    ((0..numbers.len() as u32).map(level).collect(), plane.summary())
}

#[test]
fn numbers_that_lie_far_apart_or_close_together_have_every_level() {
    let steps: Vec<u8> = (0..=255).collect();
    let floats = |of: &dyn Fn(f64) -> f64| (0..=255).map(|n| of(f64::from(n))).collect::<Vec<f64>>();
    let percents = Range::Between(End::Percent(0.0), End::Percent(99.9));
    let symmetric = floats(&|n| (n / 127.5 - 1.0) * 1.5e308);
    for range in [Range::MINMAX, Range::Symmetric, percents] {
        let (found, said) = levels(&symmetric, "float64", range);
        let most = found.iter().zip(&steps).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(most <= Some(1) && said.len() < 120, "{range:?}: {most:?} {said}");
    }
    for of in [&|n| n * 5e-324, &|n| n * 1e-310, &|n: f64| 1e-300 + n * 1e-314] as [&dyn Fn(f64) -> f64; 3] {
        for range in [Range::MINMAX, percents] {
            let (found, said) = levels(&floats(of), "float64", range);
            let most = found.iter().zip(&steps).map(|(a, b)| a.abs_diff(*b)).max();
            assert!(most <= Some(1) && said.len() < 120, "{range:?}: {most:?} {said}");
        }
    }
}

#[test]
fn integers_that_floats_do_not_hold_have_every_level_and_their_own_range() {
    let steps: Vec<u8> = (0..=255).collect();
    for first in [1_700_000_000_000_000_000_i64, i64::MIN, i64::MAX - 255] {
        let (found, said) = levels(&(0..=255).map(|n| first + n).collect::<Vec<i64>>(), "int64", Range::MINMAX);
        assert!(found == steps && said.contains(&format!("range {first} to {}", first + 255)), "{said}");
    }
    let (found, said) = levels(&(0..=255).map(|n| u64::MAX - 255 + n).collect::<Vec<u64>>(), "uint64", Range::MINMAX);
    assert!(found == steps && said.contains("range 18446744073709551360 to 18446744073709551615"), "{said}");
    // The whole range of the type, and numbers that floats hold.
    let (found, _) = levels(&[i64::MIN, -1, i64::MAX], "int64", Range::MINMAX);
    assert_eq!(found, [0, 128, 255]);
    let (found, said) = levels(&[-1_i64, 0, 1], "int64", Range::MINMAX);
    assert!(found == [0, 128, 255] && said.contains("range -1 to 1"), "{said}");
}
