//! One draw of a display: by a triangle or by stores, and timed while it is found out which is quicker.

use crate::attachment::{Attachment, StoreFormat};
use crate::context_state::ContextState;
use crate::draw_program::ProgramKey;
use crate::quad::{Draw, Quad};
use crate::store;
use crate::timeline::Pair;
use crate::timer::TimerFns;
use glow::HasContext as _;
use interop_core::Result;
use interop_core::draw::{Drawn, Manner, Manners, Obstacle, Why};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Most timed draws that are on their way; a driver that never tells is not asked for more.
const ON_THEIR_WAY: usize = 32;

/// What a draw's time depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Class {
    kind: ProgramKey,
    weighs: bool,
    format: StoreFormat,
    size: u32,
}

struct Timed {
    class: Class,
    manner: Manner,
    pair: Pair,
}

/// The choices of a display.
#[derive(Default)]
pub(crate) struct Drawing {
    manners: Manners<Class>,
    /// What the framebuffers of our own targets hold, of which the context need not be asked.
    targets: RefCell<Vec<(glow::Framebuffer, Attachment)>>,
    timed: RefCell<Vec<Timed>>,
    /// Timestamps of the GPU's; `None` where the host's clock must do.
    timers: OnceCell<Option<TimerFns>>,
}

impl Drawing {
    pub(crate) fn last(&self) -> Option<Drawn> {
        self.manners.last()
    }

    /// Remembers what a framebuffer holds that is bound and ours, until [`Drawing::forget`]. The context must be current.
    pub(crate) fn remember(&self, shared: &ContextState, framebuffer: glow::Framebuffer) {
        let found = Attachment::bound(shared, Some(framebuffer)).ok();
        self.targets.borrow_mut().extend(found.map(|attachment| (framebuffer, attachment)));
    }

    pub(crate) fn forget(&self, framebuffer: glow::Framebuffer) {
        self.targets.borrow_mut().retain(|(known, _)| *known != framebuffer);
    }

    /// What draws reach.
    fn target(&self, shared: &ContextState) -> Result<Attachment, Obstacle> {
        // SAFETY: the context is current.
        let bound = unsafe { shared.gl.get_parameter_framebuffer(glow::DRAW_FRAMEBUFFER_BINDING) };
        let known = self.targets.borrow().iter().find(|(known, _)| Some(*known) == bound).map(|(_, target)| *target);
        known.map_or_else(|| Attachment::bound(shared, bound), Ok)
    }

    /// Draws into the bound draw framebuffer. The context must be current.
    pub(crate) fn draw(
        &self,
        shared: &Rc<ContextState>,
        quad: &Quad,
        draw: &Draw<'_>,
        asked: Option<Manner>,
    ) -> Result<Drawn> {
        self.draw_unless(None, shared, quad, draw, asked)
    }

    fn draw_unless(
        &self,
        obstacle: Option<Obstacle>,
        shared: &Rc<ContextState>,
        quad: &Quad,
        draw: &Draw<'_>,
        asked: Option<Manner>,
    ) -> Result<Drawn> {
        self.collect();
        let able = || {
            obstacle.map_or(Ok(()), Err)?;
            let target = self.target(shared)?;
            draw.plan.may_store(target.storing(), &target.format)?;
            let kind = store::kind(draw.plan, draw.image, &target);
            let size = Manners::<Class>::size_class(draw.plan.drawn.extent().pixels());
            Ok((Class { kind, weighs: draw.plan.weighs, format: target.format, size }, target))
        };
        let (mut drawn, found) = self.manners.choose(asked, able)?;
        let by_triangle = || quad.draw(shared, draw);
        let Some((class, target)) = found else { return by_triangle().map(|()| drawn) };
        let ready = match drawn.manner {
            Manner::Triangle => None,
            Manner::Compute => match store::Ready::new(shared, &quad.programs, class.kind, &target) {
                Ok(ready) => Some(ready),
                Err(error) => {
                    tracing::warn!(%error, "no compute shader for draws of this kind");
                    drawn = self.manners.refuse(class, error.to_string());
                    None
                }
            },
        };
        let run = || match &ready {
            None => by_triangle(),
            Some(ready) => {
                store::draw(shared, ready, quad.sampler.get(), &target, draw);
                Ok(())
            }
        };
        if drawn.why == Why::Measuring {
            self.time(shared, class, drawn.manner, run)?
        } else {
            run()?
        }
        Ok(drawn)
    }

    /// Draws into the bound draw framebuffer, whose content nobody looks at; see [`Manners::settle`]. The context must be
    /// current.
    pub(crate) fn settled(
        &self,
        shared: &Rc<ContextState>,
        quad: &Quad,
        draw: &Draw<'_>,
        asked: Option<Manner>,
    ) -> Result<()> {
        self.manners.settle(asked, shared.device.software, |obstacle| {
            let drawn = self.draw_unless(obstacle, shared, quad, draw, asked)?;
            if drawn.why == Why::Measuring {
                // SAFETY: the context is current.
                unsafe { shared.gl.finish() };
                self.collect();
            }
            Ok(drawn)
        })
    }

    /// Runs a draw and takes its time, or has it taken.
    fn time(
        &self,
        shared: &Rc<ContextState>,
        class: Class,
        manner: Manner,
        run: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let Some(timers) = self.timers(shared) else {
            // SAFETY: the context is current.
            let finish = || unsafe { shared.gl.finish() };
            finish();
            let start = Instant::now();
            run()?;
            finish();
            self.manners.told(class, manner, start.elapsed());
            return Ok(());
        };
        if self.timed.borrow().len() == ON_THEIR_WAY {
            return run();
        }
        let pair = Pair::new(shared)?;
        // SAFETY: the context is current and the queries of it.
        unsafe { timers.mark(pair.start.get()) };
        run()?;
        // SAFETY: as above.
        unsafe { timers.mark(pair.end.get()) };
        self.timed.borrow_mut().push(Timed { class, manner, pair });
        Ok(())
    }

    /// Where a CPU draws, a timestamp is not taken between two draws, and waiting costs nothing.
    fn timers(&self, shared: &ContextState) -> Option<TimerFns> {
        *self.timers.get_or_init(|| {
            // SAFETY: the context is current.
            shared.raw.timers.filter(|timers| !shared.device.software && unsafe { timers.bits() } > 0)
        })
    }

    /// Takes the times that are there, and lets go of those that nobody needs any more. Does not wait.
    fn collect(&self) {
        let Some(timers) = self.timers.get().copied().flatten() else { return };
        self.timed.borrow_mut().retain(|timed| {
            if !self.manners.is_measuring(&timed.class) {
                return false;
            }
            // SAFETY: the context is current; the queries are of it and were marked.
            let times = unsafe {
                timers
                    .is_done(timed.pair.end.get())
                    .then(|| (timers.time(timed.pair.start.get()), timers.time(timed.pair.end.get())))
            };
            let Some((start, end)) = times else { return true };
            self.manners.told(timed.class, timed.manner, Duration::from_nanos(end.saturating_sub(start)));
            false
        });
    }
}
