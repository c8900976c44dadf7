//! Counts in parts of a range, and percentiles from them, against plain loops.

use crate::suite::{Sample, has, on_every_language};
use compute_arrays::{Arrays, Float, Histogram};

fn counts<T: Sample + Float + Into<f64>>(arrays: &Arrays) {
    if !has::<T>(arrays) {
        return;
    }
    let numbers = |len: usize| -> Vec<T> { (0..len).map(|n| T::sample((n * n) as u32 ^ 0x9e37)).collect() };
    for len in [1, 255, 70_000] {
        let mut x = numbers(len);
        x.extend(T::edges());
        let finite: Vec<f64> = numbers(len).into_iter().map(Into::into).collect();
        let (low, high) = finite.iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
        let of = |number: f64| *numbers(len).iter().find(|v| (**v).into() == number).unwrap();
        let (a, all) = (arrays.from_slice(&x).unwrap(), x.iter().map(|v| (*v).into()));
        let found = a.histogram(of(low), of(high)).unwrap();
        let expected = Histogram::new(low, high).counted(&all.collect::<Vec<f64>>());
        let device = arrays.backend().device();
        let sums = |counted: &Histogram| -> Vec<u64> {
            let sum = |all: &mut u64, count: &u64| {
                *all += count;
                Some(*all)
            };
            counted.counts().iter().scan(0, sum).collect()
        };
        let (found_sums, sums) = (sums(&found), sums(&expected));
        assert_eq!(found_sums.last(), sums.last(), "{len} on {device}");
        // Rounding may take a value into the part beside its own.
        for (bin, sum) in found_sums.iter().enumerate() {
            let (least, most) = (bin.checked_sub(1).map_or(0, |bin| sums[bin]), sums[(bin + 1).min(sums.len() - 1)]);
            assert!((least..=most).contains(sum), "{bin} of {len} on {device}: {sum}, not {least} to {most}");
        }
        let mut sorted = x.iter().map(|v| (*v).into()).filter(|v| (low..=high).contains(v)).collect::<Vec<f64>>();
        sorted.sort_by(f64::total_cmp);
        for percent in [0.0, 1.0, 50.0, 99.0, 100.0] {
            let at = sorted[(percent / 100.0 * (sorted.len() - 1) as f64) as usize];
            let next = sorted[((percent / 100.0 * (sorted.len() - 1) as f64).ceil()) as usize];
            let value = found.percentile(percent);
            let off = 2.0 * found.error();
            assert!(
                (at - off..=next + off).contains(&value),
                "{percent} % of {len} on {device}: {value}, {at} to {next}"
            );
        }
    }
}

#[test]
fn values_are_counted_and_percentiles_found() {
    on_every_language(|arrays| {
        counts::<f32>(arrays);
        counts::<f64>(arrays);
    });
}

#[test]
fn ranges_without_numbers_count_nothing() {
    on_every_language(|arrays| {
        let a = arrays.from_slice(&[f32::NAN, 1.0, 1.0, 5.0]).unwrap();
        assert_eq!(a.histogram(2.0, 3.0).unwrap().counts().iter().sum::<u64>(), 0);
        let same = a.histogram(1.0, 1.0).unwrap();
        assert_eq!((same.counts().iter().sum::<u64>(), same.percentile(50.0)), (2, 1.0));
        let all = a.view().slice(0, 1..3).unwrap();
        assert_eq!(compute_arrays::Expr::from(all).histogram(0.0, 4.0).unwrap().counts()[16_384], 2);
    });
}
