//! Slices, transposes and repeats as parts of expressions.

use crate::suite::{on_every_language, samples};

#[test]
fn views_are_read_where_they_lie() {
    on_every_language(|arrays| {
        let (rows, columns) = (61, 83);
        let n = rows * columns;
        let x = samples::<f32>(n, 13);
        let at = |r: usize, c: usize| x[r * columns + c];
        let a = arrays.from_slice(&x).unwrap().reshape(&[rows, columns]).unwrap();
        let v = a.view();
        let t = v.transpose();
        assert_eq!(
            (t.item(&[7, 5]).unwrap(), t.contiguous().unwrap().view().transpose().to_vec().unwrap()),
            (at(5, 7), x.clone())
        );
        let part = v.slice(0, 3..50).unwrap().slice_step(1, 2..80, -3).unwrap();
        let expected: Vec<f32> =
            (3..50).flat_map(|r| (2..80).rev().step_by(3).map(move |c| (r, c))).map(|(r, c)| at(r, c)).collect();
        assert_eq!(part.to_vec().unwrap(), expected);
        // A slice that is not aligned to anything, and its neighbour, in one expression.
        let flat = v.reshape(&[n]).unwrap();
        let steps = arrays.eval(flat.slice(0, 1..n).unwrap() - flat.slice(0, 0..n - 1).unwrap()).unwrap();
        assert_eq!(steps.to_vec().unwrap(), x.windows(2).map(|w| w[1] - w[0]).collect::<Vec<_>>());
        // A column's worth added to each row.
        let row = v.slice(0, 4..5).unwrap().broadcast_to(&[rows, columns]).unwrap();
        let column = v.slice(1, 9..10).unwrap().broadcast_to(&[rows, columns]).unwrap();
        let sums = arrays.eval(row + column).unwrap();
        assert_eq!(sums.shape(), [rows, columns]);
        let expected: Vec<f32> = (0..n).map(|i| at(4, i % columns) + at(i / columns, 9)).collect();
        assert_eq!(sums.to_vec().unwrap(), expected);
        let least = (0..n).reduce(|a, b| if expected[b] < expected[a] { b } else { a }).unwrap();
        assert_eq!(sums.argmin().unwrap(), least as u64);
    });
}

#[test]
fn three_axes_in_any_order() {
    on_every_language(|arrays| {
        let x: Vec<i32> = (0..2 * 3 * 5).collect();
        let a = arrays.from_slice(&x).unwrap().reshape(&[2, 3, 5]).unwrap();
        for axes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let v = a.view().permute(&axes).unwrap();
            let s = v.shape().to_vec();
            let strides = axes.map(|axis| [15, 5, 1][axis]);
            let place = |i: usize| [i / (s[1] * s[2]), i / s[2] % s[1], i % s[2]];
            let expected: Vec<i32> =
                (0..30).map(|i| place(i).iter().zip(strides).map(|(at, stride)| *at as i32 * stride).sum()).collect();
            assert_eq!(v.to_vec().unwrap(), expected, "{axes:?}");
            assert_eq!(v.item(&[1, 1, 1]).unwrap(), 21);
        }
    });
}

/// A side of 0 makes the others harmless, though their product cannot be counted.
#[test]
fn nothing_is_an_array_too() {
    on_every_language(|arrays| {
        for shape in [&[0][..], &[3, 0], &[usize::MAX, 2, 0]] {
            let mut none = arrays.empty::<f32>(shape).unwrap();
            assert_eq!((none.len(), none.is_empty(), none.to_vec().unwrap()), (0, true, vec![]));
            none.update(|old| old + 1.0).unwrap();
            let turned = arrays.eval(none.view().transpose().expr() * 2.0).unwrap();
            assert_eq!((turned.len(), turned.shape().first()), (0, Some(&0)));
            assert_eq!((none.sum().unwrap(), none.product().unwrap()), (0.0, 1.0));
            assert_eq!(none.view().expr().cumulative_sum().unwrap().len(), 0);
            assert!(none.view().item(&vec![0; shape.len()]).unwrap_err().to_string().contains("outside"));
            for result in [none.minimum().map(|_| 0), none.maximum().map(|_| 0), none.argmin(), none.argmax()] {
                assert!(result.unwrap_err().to_string().contains("no elements"));
            }
        }
        let a = arrays.from_slice(&[1, 2, 3]).unwrap();
        assert!(a.view().slice(0, 2..2).unwrap().to_vec().unwrap().is_empty());
        assert_eq!(a.view().broadcast_to(&[0, 3]).unwrap().expr().sum().unwrap(), 0);
    });
}
