//! Timing of a frame, end to end.

use super::clock::Clock;
use super::verify::next_nonce;
use crate::describe::error::Result;
use crate::describe::pattern::Pattern;
use crate::describe::view::View;
use crate::path::{FrameLayout, OpenedPath, Pairing, SharingPath, pattern_frame};

/// Makes frames and draws the last: drivers build and allocate at the first use.
pub(super) fn warm_up(path: &mut OpenedPath, pairing: &Pairing<'_>, frames: usize) -> Result<()> {
    let frame = Frame::of(pairing)?;
    for _ in 0..frames {
        frame.make(path, pairing)?;
    }
    path.flush()?;
    pairing.display.draw_offscreen(path.surface())?;
    pairing.display.finish()
}

/// Microseconds a frame over a run of `frames`, until the display has drawn the last.
pub(super) fn time_run(path: &mut OpenedPath, pairing: &Pairing<'_>, clock: &Clock, frames: usize) -> Result<f64> {
    let frame = Frame::of(pairing)?;
    let start = clock.now();
    for _ in 0..frames {
        frame.make(path, pairing)?;
        pairing.display.draw_offscreen(path.surface())?;
    }
    if path.frames_behind() > 0 {
        path.flush()?;
        pairing.display.draw_offscreen(path.surface())?;
    }
    pairing.display.finish()?;
    Ok(clock.since(start).as_secs_f64() * 1e6 / frames as f64)
}

/// A whole surface of one colour, by the rule for unwritten pixels that the surface asks for.
struct Frame {
    whole: View,
    layout: FrameLayout,
}

impl Frame {
    fn of(pairing: &Pairing<'_>) -> Result<Self> {
        let layout = pairing.layout();
        Ok(Self { whole: layout.whole()?, layout })
    }

    fn make(&self, path: &mut OpenedPath, pairing: &Pairing<'_>) -> Result<()> {
        let pattern = Pattern::flat(&self.whole, next_nonce());
        pattern_frame(path, pairing.backend.as_ref(), &self.layout, &pattern)
    }
}
