//! The pattern that a kernel writes must be the reference, byte for byte, and touch nothing else.

use crate::{content, every_device, memory_with, on_every_device};
use interop_core::describe::pattern::Pattern;
use interop_core::{BufferView, ComputeBackend, Extent, ImageView, PixelFormat, Target, View};
use opencl_backend::OpenClBackend;
use proptest::prelude::*;

fn check(backend: &OpenClBackend, view: View, nonce: u32) {
    let len = view.span().end + 9;
    for pattern in [Pattern::for_view(&view, nonce), Pattern::flat(&view, nonce)] {
        let mut expected = vec![0xab; len];
        pattern.write(&view, &mut expected);
        let mut memory = memory_with(backend, &vec![0xab; len]);
        backend.write_pattern(Target::new(memory.as_mut(), view).unwrap(), &pattern).unwrap();
        let found = content(memory.as_mut());
        if let Some(at) = found.iter().zip(&expected).position(|(a, b)| a != b) {
            panic!("{view:?}, {pattern:?}: byte {at} is {:#x}, not {:#x}", found[at], expected[at]);
        }
    }
}

#[test]
fn usual_views() {
    on_every_device(|backend| {
        for format in PixelFormat::ALL {
            for (w, h) in [(1, 1), (5, 3), (64, 16), (101, 7)] {
                for reversed in [false, true] {
                    let view = ImageView::packed(Extent::new(w, h), format, 4, 0, reversed).unwrap();
                    check(backend, View::Image(view), w);
                }
            }
        }
        for len in [1, 3, 4, 4095, 4096, 4097, 10_001] {
            check(backend, View::Buffer(BufferView { offset: 0, len }), 5);
        }
    });
}

/// Every row in the memory of one: as many work items as there are rows, for ever.
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
    on_every_device(|backend| {
        let mut memory = memory_with(backend, &[1; 8]);
        let view = View::Buffer(BufferView { offset: 4, len: 0 });
        let target = Target::new(memory.as_mut(), view).unwrap();
        backend.write_pattern(target, &Pattern::for_view(&view, 0)).unwrap();
        assert_eq!(content(memory.as_mut()), [1; 8]);
    });
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
    for device in every_device() {
        let backend = OpenClBackend::open(&device).unwrap();
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) };
        proptest!(config, |(view in prop_oneof![3 => image_views(), 1 => buffer_views()], nonce: u32)| {
            check(&backend, view, nonce);
        });
    }
}
