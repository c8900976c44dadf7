//! What a frame takes, end to end.

use crate::display::Part;
use crate::error::Result;
use crate::path::{OpenedPath, Pairing, SharingPath};
use crate::pattern::Pattern;
use crate::verify::next_nonce;
use crate::view::View;
use std::time::Instant;

/// Makes frames and draws the last: drivers build and allocate at the first use.
pub(super) fn warm_up(path: &mut OpenedPath, pairing: &Pairing<'_>, frames: usize) -> Result<()> {
    let frame = Frame::of(pairing)?;
    for _ in 0..frames {
        frame.make(path, pairing)?;
    }
    path.flush()?;
    pairing.display.draw_unseen(path.surface())?;
    pairing.display.finish()
}

/// Microseconds a frame over a run of `frames`, until the display has drawn the last.
pub(super) fn time_run(path: &mut OpenedPath, pairing: &Pairing<'_>, frames: usize) -> Result<f64> {
    let frame = Frame::of(pairing)?;
    let start = Instant::now();
    for _ in 0..frames {
        frame.make(path, pairing)?;
        pairing.display.draw_unseen(path.surface())?;
    }
    if path.frames_late() > 0 {
        path.flush()?;
        pairing.display.draw_unseen(path.surface())?;
    }
    pairing.display.finish()?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / frames as f64)
}

/// A whole surface of pattern.
struct Frame {
    whole: View,
    all: Part,
}

impl Frame {
    fn of(pairing: &Pairing<'_>) -> Result<Self> {
        Ok(Self { whole: pairing.layout().whole()?, all: pairing.layout().full() })
    }

    fn make(&self, path: &mut OpenedPath, pairing: &Pairing<'_>) -> Result<()> {
        path.begin(&self.all)?;
        let pattern = Pattern::for_view(&self.whole, next_nonce());
        let written = path.target().and_then(|target| pairing.backend.write_pattern(target, &pattern));
        if let Err(error) = written {
            path.cancel();
            return Err(error);
        }
        path.finish()
    }
}
