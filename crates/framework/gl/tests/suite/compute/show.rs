//! Frame and draw as one call: what is stored into the target is what a draw puts there.

use super::common::{Both, both};
use crate::suite::kernels::PAINT;
use crate::suite::shows::{self, ALL, Board, SIZE, Scene, Screen, goes, untimed};
use interop_core::{
    ComputeBackend, Detour, Display, DrawOptions, Fit, LinkCore, Manner, PixelFormat, Policy, Result, ShowOutcome,
    WriteFrame,
};
use pixelferry_gl::{GlDisplay, OffscreenTarget, Viewport};
use std::sync::Arc;

/// A framebuffer, and a viewport that is no whole of it.
struct Target<'d> {
    display: &'d GlDisplay,
    target: OffscreenTarget,
    viewport: Viewport,
}

impl Board for Target<'_> {
    fn first(&self) -> (usize, usize) {
        // Row 0 is the top one there.
        (7, 3)
    }

    fn show(
        &mut self,
        link: &mut LinkCore,
        options: DrawOptions,
        frame: &mut dyn FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<ShowOutcome> {
        self.target.bind()?;
        let shown = link.show(&mut self.display.bound_target(self.viewport), options, frame);
        self.target.unbind()?;
        shown
    }

    fn pixels(&mut self) -> Vec<u8> {
        self.target.read_pixels().unwrap()
    }
}

impl Both {
    fn target(&self, format: PixelFormat, viewport: Viewport) -> Target<'_> {
        let target = self.display.create_offscreen_target_of(ALL.0, ALL.1, format).unwrap();
        target.bind().unwrap();
        self.display.clear([0.25; 4]).unwrap();
        target.unbind().unwrap();
        Target { display: &self.display, target, viewport }
    }

    fn plain(&self) -> Scene {
        Scene::plain(self, Policy::default())
    }
}

const OWN: Viewport = Viewport { x: 3, y: 2, width: SIZE.0, height: SIZE.1 };

impl Screen for Both {
    fn sides(&self) -> (Arc<dyn ComputeBackend>, Arc<dyn Display>) {
        (self.backend.clone(), self.display.clone())
    }

    fn board(&self, format: PixelFormat) -> Option<Box<dyn Board + '_>> {
        Some(Box::new(self.target(format, OWN)))
    }
}

#[test]
fn a_frame_that_goes_straight_is_what_a_draw_gives() {
    let Some(both) = both() else { return };
    let scene = |drawn: bool, desc, rule| {
        let mut scene = Scene::new(&both, desc, rule, PAINT, Policy::default());
        scene.options.manner = drawn.then_some(Manner::Triangle);
        scene
    };
    let mut straight = 0;
    for (format, [ways, _]) in shows::a_frame_that_goes_straight_is_what_a_draw_gives(&both, PixelFormat::ALL, scene) {
        match &ways {
            [ShowOutcome::Drawn(Detour::First), one, other] if format != PixelFormat::Bgra8 => {
                assert_eq!(one, other, "{format}");
                straight += usize::from(goes(one));
            }
            all => assert!(all.iter().all(|way| matches!(way, ShowOutcome::Drawn(_))), "{format}: {all:?}"),
        }
    }
    assert!(straight > 0, "none went straight");
}

#[test]
fn what_a_draw_does_beside_placing_is_drawn() {
    let Some(both) = both() else { return };
    shows::what_needs_a_draw_is_drawn_and_says_why(&both, true);
    let mut scene = both.plain();
    let plain = scene.options;
    let larger = Viewport { width: SIZE.0 + 2, ..OWN };
    let none = plain.with_fit(Fit::None);
    for (options, viewport, expected) in [
        (plain, larger, "scales"),
        (none.with_background([0.0; 3]), larger, "around"),
        (none, Viewport { width: SIZE.0 - 2, ..OWN }, "cuts the picture"),
        (plain, Viewport { x: -1, ..OWN }, "edge"),
        (plain, Viewport { y: 10, ..OWN }, "edge"),
        (plain.with_manner(Manner::Compute), OWN, "compute was requested"),
    ] {
        scene.options = options;
        let way = scene.show(&mut both.target(PixelFormat::Rgba8, viewport), 0.5);
        assert!(matches!(way, ShowOutcome::Drawn(_)) && way.to_string().contains(expected), "{way}");
    }
}

#[test]
fn no_surface_has_a_frame_that_went_straight() {
    let Some(both) = both() else { return };
    shows::no_surface_has_a_frame_that_went_straight(&both, &mut Scene::plain(&both, untimed()));
}

#[test]
fn frames_that_fail_leave_a_link_that_works() {
    let Some(both) = both() else { return };
    shows::frames_that_fail_leave_a_link_that_works(&both, &mut both.plain());
}

#[test]
fn targets_take_turns_and_names_stand_for_others() {
    let Some(both) = both() else { return };
    shows::targets_take_turns::<3>(&both, &mut both.plain(), (4, 7), |_, _, _| ());
}
