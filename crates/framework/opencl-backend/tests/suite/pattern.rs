//! The pattern that a kernel writes must be the reference, byte for byte, and touch nothing else.

use crate::suite::{content, memory_with, on_every_device};
use interop_core::conformance::pattern_in;
use interop_core::{BufferView, Extent, ImageView, PixelFormat, Target, View};
use pixelferry_testing::by_level;
use proptest::prelude::*;

/// Every row in the memory of one: as many work items as there are rows, forever.
#[test]
fn rows_that_overlap_never_reach_the_driver() {
    on_every_device(|backend| {
        let mut memory = memory_with(backend, &[1; 64]);
        for (row_pitch, height) in [(0, u32::MAX), (0, i32::MAX as u32), (4, 3), (-4, 3)] {
            let extent = Extent::new(4, height);
            let view = View::Image(ImageView { offset: 16, row_pitch, extent, format: PixelFormat::Rgba8 });
            let target = Target::new(memory.as_mut(), view).map(drop);
            let refusal = target.unwrap_err().to_string();
            assert!(refusal.contains("overlap"), "{refusal}");
        }
        assert_eq!(content(memory.as_mut()), [1; 64]);
    });
}

#[test]
fn nothing_is_written_to_an_empty_view() {
    on_every_device(|backend| pattern_in(backend, View::Buffer(BufferView { offset: 4, len: 0 }), 0).unwrap());
}

fn image_views() -> impl Strategy<Value = View> {
    let format = prop::sample::select(&PixelFormat::ALL[..]);
    // Pitches and offsets are any number of bytes, also such as split words.
    (1u32..70, 1u32..20, format, 0usize..40, 0usize..30, any::<bool>()).prop_map(
        |(width, height, format, offset, padding, reversed)| {
            let pitch = width as usize * format.bytes_per_pixel() + padding;
            let (offset, row_pitch) = if reversed {
                (offset + pitch * (height as usize - 1), -(pitch as isize))
            } else {
                (offset, pitch as isize)
            };
            View::Image(ImageView { offset, row_pitch, extent: Extent::new(width, height), format })
        },
    )
}

fn buffer_views() -> impl Strategy<Value = View> {
    (0usize..70, 1usize..13_000).prop_map(|(offset, len)| View::Buffer(BufferView { offset, len }))
}

#[test]
fn any_view() {
    on_every_device(|backend| {
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(by_level(8, 200, 2000)) };
        proptest!(config, |(view in prop_oneof![3 => image_views(), 1 => buffer_views()], nonce: u32)| {
            pattern_in(backend, view, nonce).unwrap();
        });
    });
}
