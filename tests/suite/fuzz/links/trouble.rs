//! Resizes, faults, contexts that are not current, panics in closures.

use super::{Screen, World};
use crate::fuzz::{Turn, TurnResult, hold, payload};
use pixelferry::driver::describe::panics::catch;
use pixelferry::{Error, Extent, SurfaceDesc};
use pixelferry_tests::faults::{Fault, FaultKind, FaultStep, Faults};

impl World<'_> {
    pub(super) fn resize(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let bad = t.one_in(5);
        let desc = if bad { self.bad_desc(t) } else { self.desc(t) };
        let open = &mut self.open[at];
        if !open.catch_up(t)? {
            return Ok(());
        }
        t.op("links: resize", format_args!("{} to {desc:?} by {}", open.desc, open.link.path()));
        match t.end_with(open.link.resize(desc)) {
            // A minimised window. The old size is there at once, whatever fails by now.
            Ok(()) if open.link.is_paused() => {
                hold!(
                    matches!(desc, SurfaceDesc::Image(image) if image.extent == Extent::new(0, 0)),
                    "{desc:?} paused the link"
                );
                hold!(matches!(open.link.acquire(), Err(Error::Paused)), "a paused link gave a frame");
                hold!(t.end_with(open.link.resize(open.desc)).is_ok(), "a paused link did not go on");
                hold!(!open.link.is_paused(), "the link is still paused");
            }
            Ok(()) => {
                hold!(!bad, "{desc:?} was taken");
                // Another rule for unwritten pixels goes on from the same picture.
                open.fresh &= desc == open.desc.with_unwritten(desc.unwritten());
                open.desc = desc;
            }
            // A path that is forced need not carry everything, nor what is left after faults.
            Err(Error::NoPath { .. }) if !bad => {}
            Err(error) => hold!(bad || Faults::injected(&error), "a resize to {desc} failed: {error}"),
        }
        hold!(
            *open.link.desc() == open.desc,
            "the link is for a {} and should be for a {}",
            open.link.desc(),
            open.desc
        );
        Ok(())
    }

    /// A call of one of the sides fails from now on; or no more, and then a frame must work.
    pub(super) fn fault(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let fault = Fault {
            step: t.pick(FaultStep::ALL),
            nth: 1 + t.below(3) as u32,
            lasting: t.one_in(3),
            kind: t.pick(&[FaultKind::Driver, FaultKind::Timeout, FaultKind::OutOfMemory]),
        };
        let open = &mut self.open[at];
        if !open.troubled {
            t.did("links: arm a fault", format_args!("{fault:?}"));
            open.faults.arm(fault);
            open.troubled = true;
            return Ok(());
        }
        t.did("links: disarm", format_args!(""));
        open.faults.disarm();
        open.troubled = false;
        // An earlier failure is reported once.
        let _ = open.link.frame(|_| Err(Error::invalid("frame", "given up on purpose")));
        self.frame(t, at)
    }

    /// Another context is current: nothing is done, and nothing is lost.
    pub(super) fn elsewhere(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        if matches!(self.screen, Screen::Memory(_)) {
            return Ok(());
        }
        let what = t.below(5);
        let desc = self.open[at].desc;
        let bytes = self.open[at].content(t, &desc)?;
        self.other.enter()?;
        let open = &mut self.open[at];
        t.op("links: in another context", format_args!("{what}"));
        let refused = match what {
            0 | 2 => {
                let made = match what {
                    0 => open.link.frame(|frame| frame.write(&bytes)),
                    _ => open.link.acquire().and_then(|mut frame| frame.write(&bytes).and_then(|()| frame.finish())),
                };
                if made.is_ok() && open.late {
                    // A frame that is shown later needs no context yet.
                    let _ = t.end(made);
                    open.shows(bytes);
                    return self.screen.enter();
                }
                made
            }
            1 => open.link.read_back().map(|_| ()),
            3 => {
                // Freed later, when the context is current again.
                drop(self.open.swap_remove(at));
                Err(Error::NothingShown)
            }
            _ => open.link.flush().and(open.link.read_back().map(|_| ())),
        };
        let refused = t.end_with(refused);
        self.screen.enter()?;
        hold!(refused.is_err(), "a call was taken while another context is current");
        Ok(())
    }

    /// A closure fails or panics when it has written a frame, and what was shown stays.
    pub(super) fn give_up(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let desc = self.open[at].desc;
        let (way, _) = self.way(t, at, &desc)?;
        let open = &mut self.open[at];
        let panics = t.one_in(2).then(|| payload::kind(t));
        t.op("links: a frame's closure fails", format_args!("{panics:?}"));
        let made = catch(|| {
            open.link.frame(|frame| match (way.apply(frame), panics) {
                (Ok(()), Some(kind)) => payload::go_off(kind),
                (written, _) => written.and(Err(Error::invalid("frame", "given up on purpose"))),
            })
        });
        match made {
            Ok(made) => hold!(t.end_with(made).is_err(), "the closure's error was lost"),
            Err(_) => drop(t.end(Ok(()))),
        }
        self.look(t, at)
    }

    pub(super) fn recalibrate(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        if !t.one_in(4) {
            return Ok(());
        }
        let open = &mut self.open[at];
        if !open.catch_up(t)? {
            return Ok(());
        }
        t.op("links: recalibrate", format_args!("{}", open.desc));
        match t.end_with(open.link.recalibrate()) {
            Ok(()) | Err(Error::NoPath { .. }) => Ok(()),
            made => open.forgive("recalibrate", made).map(|_| ()),
        }
    }

    pub(super) fn let_go(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        if t.one_in(3) {
            let (link, forget) = (self.open.swap_remove(at).link, t.one_in(8));
            // A leaked link keeps its textures: few of them, or nothing is left for the others.
            t.gone(["links: drop a link", "links: forget a link"], link, forget);
        }
        Ok(())
    }
}
