//! Slices, transposes and repeats as parts of expressions.

use crate::{on_every_backend, samples};

#[test]
fn views_are_read_where_they_lie() {
    on_every_backend(|arrays| {
        let (rows, columns) = (61, 83);
        let x = samples::<f32>(rows * columns, 13);
        let at = |r: usize, c: usize| x[r * columns + c];
        let a = arrays.from_slice(&x).unwrap().reshape(&[rows, columns]).unwrap();
        let v = a.view();
        let t = v.transpose();
        let expected: Vec<f32> =
            (0..columns).flat_map(|c| (0..rows).map(move |r| (r, c))).map(|(r, c)| at(r, c)).collect();
        assert_eq!(t.to_vec().unwrap(), expected);
        assert_eq!(t.item(&[7, 5]).unwrap(), at(5, 7));
        let part = v.slice(0, 3..50).unwrap().slice_step(1, 2..80, -3).unwrap();
        let expected: Vec<f32> =
            (3..50).flat_map(|r| (2..80).rev().step_by(3).map(move |c| (r, c))).map(|(r, c)| at(r, c)).collect();
        assert_eq!(part.to_vec().unwrap(), expected);
        // A slice that is not aligned to anything, and its neighbour, in one expression.
        let flat = v.reshape(&[rows * columns]).unwrap();
        let n = rows * columns;
        let steps = arrays.eval(flat.slice(0, 1..n).unwrap() - flat.slice(0, 0..n - 1).unwrap()).unwrap();
        let expected: Vec<f32> = x.windows(2).map(|w| w[1] - w[0]).collect();
        assert_eq!(steps.to_vec().unwrap(), expected);
        // A column's worth added to each row.
        let row = v.slice(0, 4..5).unwrap().broadcast_to(&[rows, columns]).unwrap();
        let column = v.slice(1, 9..10).unwrap().broadcast_to(&[rows, columns]).unwrap();
        let sums = arrays.eval(row + column).unwrap();
        assert_eq!(sums.shape(), [rows, columns]);
        let expected: Vec<f32> =
            (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))).map(|(r, c)| at(4, c) + at(r, 9)).collect();
        assert_eq!(sums.to_vec().unwrap(), expected);
        let least = (0..expected.len()).reduce(|a, b| if expected[b] < expected[a] { b } else { a }).unwrap();
        assert_eq!(sums.argmin().unwrap(), least as u64);
        assert_eq!(t.contiguous().unwrap().view().transpose().to_vec().unwrap(), x);
    });
}

#[test]
fn three_axes_in_any_order() {
    on_every_backend(|arrays| {
        let x: Vec<i32> = (0..2 * 3 * 5).collect();
        let a = arrays.from_slice(&x).unwrap().reshape(&[2, 3, 5]).unwrap();
        for axes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let v = a.view().permute(&axes).unwrap();
            let mut expected = Vec::new();
            let s = v.shape().to_vec();
            for i in 0..s[0] {
                for j in 0..s[1] {
                    for k in 0..s[2] {
                        let mut index = [0; 3];
                        (index[axes[0]], index[axes[1]], index[axes[2]]) = (i, j, k);
                        expected.push((index[0] * 15 + index[1] * 5 + index[2]) as i32);
                    }
                }
            }
            assert_eq!(v.to_vec().unwrap(), expected, "{axes:?}");
            assert_eq!(v.item(&[1, 1, 1]).unwrap(), 21);
        }
    });
}

#[test]
fn nothing_is_an_array_too() {
    on_every_backend(|arrays| {
        let none = arrays.from_slice::<f32>(&[]).unwrap();
        assert!(none.is_empty() && none.to_vec().unwrap().is_empty());
        assert!(arrays.eval(&none * 2.0).unwrap().to_vec().unwrap().is_empty());
        assert!(none.expr().cumulative_sum().unwrap().to_vec().unwrap().is_empty());
        let a = arrays.from_slice(&[1, 2, 3]).unwrap();
        assert!(a.view().slice(0, 2..2).unwrap().to_vec().unwrap().is_empty());
        assert_eq!(a.view().broadcast_to(&[0, 3]).unwrap().expr().sum().unwrap(), 0);
    });
}
