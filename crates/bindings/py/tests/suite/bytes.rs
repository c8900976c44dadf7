//! Arrays as bytes, for every description that the checks let through.

use crate::items::Items;
use pixelferry_look::{MemoryLocation, Number, Raw};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn items_are_the_bytes_in_the_order_of_the_indices(
        sides in prop::collection::vec((1i64..4, -60i64..60), 0..5),
        bytes in 1usize..5,
        // An offset into all, and how many bytes are taken at a time.
        cut in 1usize..40,
    ) {
        let memory: Vec<u8> = (0..2000).map(|n| (n % 251) as u8).collect();
        let (shape, strides): (Vec<i64>, Vec<i64>) = sides.into_iter().unzip();
        let number = Number { code: Number::NONE, bits: bytes * 8, foreign: true };
        let first = 1000;
        let raw = Raw { address: first, shape: shape.clone(), strides: Some(strides.clone()), number, place: MemoryLocation::Host };
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
