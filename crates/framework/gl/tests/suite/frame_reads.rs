//! Reads of what was drawn, while other frames are drawn over it.

use crate::suite::canvas::read;
use crate::suite::common::displays;
use crate::suite::engine::Engine;
use crate::suite::state::{make_unusual, unchanged};
use glow::HasContext as _;
use interop_core::{Error, Extent};
use pixelferry_gl::Viewport;

/// A colour whose bytes are that number, and opaque.
fn grey(number: u8) -> [f32; 4] {
    let level = f32::from(number) / 255.0;
    [level, level, level, 1.0]
}

#[test]
fn reads_are_of_their_frames_in_order() {
    for display in displays() {
        let target = display.create_offscreen_target(33, 17).unwrap();
        let (mut reads, mut rows) = (display.frame_reads(3), Vec::new());
        let (mut started, mut taken) = (0, 0);
        target.bind().unwrap();
        while taken < 20 {
            display.clear(grey(started)).unwrap();
            // Sizes change between.
            let width = 33 - u32::from(started / 7);
            let is_started = reads.start(Viewport::full(width, 17)).unwrap();
            assert!(is_started || started - taken == 3, "{started} {taken}");
            started += u8::from(is_started);
            while let Some(extent) = reads.take(started - taken == 3, &mut rows).unwrap() {
                assert_eq!(extent, Extent::new(33 - u32::from(taken / 7), 17));
                assert_eq!(rows.len() as u64, extent.pixels() * 4);
                assert!(rows.chunks(4).all(|pixel| *pixel == [taken, taken, taken, 255]), "frame {taken}");
                taken += 1;
            }
        }
        assert!(matches!(reads.start(Viewport::full(0, 1)), Err(Error::InvalidInput { .. })));
        target.unbind().unwrap();
    }
}

#[test]
fn a_window_is_read_in_whatever_state_it_is() {
    let Some(engine) = Engine::with_framebuffer((40, 24), (8, 8)) else { return };
    let gl = engine.glow();
    let display = engine.pixelferry(None);
    let mut reads = display.frame_reads(1);
    // SAFETY: the engine's context is current.
    unsafe {
        gl.clear_color(0.2, 0.4, 0.6, 0.8);
        gl.clear(glow::COLOR_BUFFER_BIT);
        gl.enable(glow::SCISSOR_TEST);
        gl.scissor(3, 5, 20, 7);
        gl.clear_color(1.0, 0.0, 0.0, 1.0);
        gl.clear(glow::COLOR_BUFFER_BIT);
    }
    let expected = read(&gl, (2, 4, 30, 15));
    for on in [true, false] {
        make_unusual(&gl, on, true);
        let area = Viewport { x: 2, y: 4, width: 30, height: 15 };
        assert!(unchanged(&gl, "a read", || reads.start(area).unwrap()));
        let mut rows = Vec::new();
        let extent = unchanged(&gl, "taking a read", || reads.take(true, &mut rows).unwrap());
        assert_eq!((extent, &rows), (Some(Extent::new(30, 15)), &expected));
        assert_eq!(reads.take(true, &mut rows).unwrap(), None);
    }
    // In another context there is nothing that could be read.
    let Some(_other) = Engine::new() else { return };
    assert!(matches!(reads.start(Viewport::full(4, 4)), Err(Error::WrongContext { .. })));
    assert!(matches!(reads.take(true, &mut Vec::new()), Err(Error::WrongContext { .. })));
}
