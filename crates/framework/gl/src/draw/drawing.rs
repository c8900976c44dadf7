//! One draw of a display: with a triangle or with stores, and timed while the faster manner is measured.

use crate::api::host_state::QUERIES;
use crate::api::timer::TimerFns;
use crate::context::context_state::ContextState;
use crate::draw::canvas::{Canvas, WindowTarget};
use crate::draw::draw_program::ProgramKey;
use crate::draw::quad::{Draw, Quad};
use crate::draw::{canvas, store};
use crate::objects::attachment::{Attachment, StoreFormat};
use crate::objects::neutral_state::NeutralState;
use crate::objects::timeline::Pair;
use glow::HasContext as _;
use interop_core::Result;
use interop_core::describe::PlainMutex;
use interop_core::draw::{DrawReport, Manner, MannerReason, Manners, Obstacle};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Most timed draws in progress; a driver that never returns times gets no more.
const ON_THEIR_WAY: usize = 32;

/// Properties that a draw's time depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Class {
    kind: ProgramKey,
    weighs: bool,
    format: StoreFormat,
    size: u32,
    /// True for a window's own framebuffer.
    window: bool,
}

/// Target of a draw.
#[derive(Clone, Copy)]
enum Target {
    Texture(Attachment),
    Window(WindowTarget),
}

impl Target {
    const fn format(&self) -> StoreFormat {
        match self {
            Self::Texture(texture) => texture.format,
            Self::Window(window) => window.format,
        }
    }

    /// Rejects draws that a compute shader cannot do to this target.
    fn takes(&self, draw: &Draw<'_>) -> Result<(), Obstacle> {
        match self {
            Self::Texture(texture) => draw.plan.may_store(texture.storing(), &texture.format),
            Self::Window(window) => window.takes(draw),
        }
    }
}

/// Objects that a draw with a compute shader needs.
enum Ready {
    Texture(store::Ready, Attachment),
    Window(canvas::Ready, WindowTarget),
}

struct TimedDraw {
    class: Class,
    manner: Manner,
    pair: Pair,
}

/// The manners of a display's draws.
#[derive(Default)]
pub(crate) struct DrawChoices {
    manners: Manners<Class>,
    /// Framebuffers of this crate's targets with their storable textures, so that the context need not be queried.
    targets: PlainMutex<Vec<(glow::Framebuffer, Option<Attachment>)>>,
    /// The texture for draws into a window.
    canvas: Canvas,
    timed: PlainMutex<Vec<TimedDraw>>,
    /// GPU timestamps; `None` where the host's clock is used.
    timers: OnceLock<Option<TimerFns>>,
}

impl DrawChoices {
    pub(crate) fn last(&self) -> Option<DrawReport> {
        self.manners.last()
    }

    /// Remembers the texture of a bound framebuffer of this crate, until [`DrawChoices::forget`]. The context must be
    /// current.
    pub(crate) fn remember(&self, shared: &ContextState, framebuffer: glow::Framebuffer) {
        let found = shared.features.compute.then(|| Attachment::bound(shared).ok()).flatten();
        self.targets.lock().push((framebuffer, found));
    }

    /// True for a framebuffer of this crate.
    pub(crate) fn knows(&self, framebuffer: glow::Framebuffer) -> bool {
        self.targets.lock().iter().any(|(known, _)| *known == framebuffer)
    }

    pub(crate) fn forget(&self, framebuffer: glow::Framebuffer) {
        self.targets.lock().retain(|(known, _)| *known != framebuffer);
    }

    /// Returns the framebuffer object that draws write; `None` for a window's own framebuffer.
    fn bound(shared: &ContextState) -> Result<Option<glow::Framebuffer>, Obstacle> {
        if !shared.features.compute {
            let have = if shared.features.es { "in OpenGL ES a triangle draws" } else { "OpenGL 4.3 has them" };
            return Err(Obstacle::NoShader(have.into()));
        }
        // SAFETY: the context is current.
        Ok(unsafe { shared.gl.get_parameter_framebuffer(glow::DRAW_FRAMEBUFFER_BINDING) })
    }

    /// Returns the target that draws write.
    fn target(&self, shared: &ContextState) -> Result<Target, Obstacle> {
        match Self::bound(shared)? {
            None => WindowTarget::bound(shared).map(Target::Window),
            Some(framebuffer) => self.texture(shared, framebuffer).map(Target::Texture),
        }
    }

    /// Returns the texture behind the bound framebuffer object.
    fn texture(&self, shared: &ContextState, framebuffer: glow::Framebuffer) -> Result<Attachment, Obstacle> {
        let known = self.targets.lock().iter().find(|(known, _)| *known == framebuffer).and_then(|(_, target)| *target);
        known.map_or_else(|| Attachment::bound(shared), Ok)
    }

    /// Returns the texture that draws write. The context must be current.
    pub(crate) fn attachment(&self, shared: &ContextState) -> Result<Attachment, Obstacle> {
        let framebuffer =
            Self::bound(shared)?.ok_or(Obstacle::Window("shaders cannot store into its own framebuffer"))?;
        self.texture(shared, framebuffer)
    }

    /// Draws into the bound draw framebuffer. The context must be current.
    pub(crate) fn draw(
        &self,
        shared: &Arc<ContextState>,
        quad: &Quad,
        draw: &Draw<'_>,
        asked: Option<Manner>,
    ) -> Result<DrawReport> {
        self.draw_unless(None, shared, quad, draw, asked)
    }

    fn draw_unless(
        &self,
        obstacle: Option<Obstacle>,
        shared: &Arc<ContextState>,
        quad: &Quad,
        draw: &Draw<'_>,
        asked: Option<Manner>,
    ) -> Result<DrawReport> {
        self.collect(shared);
        let able = || {
            obstacle.map_or(Ok(()), Err)?;
            let target = self.target(shared)?;
            target.takes(draw)?;
            let (format, window) = (target.format(), matches!(target, Target::Window(_)));
            let kind = store::kind(draw.plan, draw.image, format);
            let size = Manners::<Class>::size_class(draw.plan.drawn.extent().pixels());
            Ok((Class { kind, weighs: draw.plan.weighs, format, size, window }, target))
        };
        let (mut drawn, found) = self.manners.choose(asked, able)?;
        let by_triangle = || quad.draw(shared, draw);
        let Some((class, target)) = found else { return by_triangle().map(|()| drawn) };
        let ready = match drawn.manner {
            Manner::Triangle => {
                if class.window && drawn.why != MannerReason::Measuring {
                    self.canvas.forget();
                }
                None
            }
            Manner::Compute => match self.ready(shared, quad, class.kind, target, draw) {
                Ok(ready) => {
                    if class.window {
                        drawn = self.manners.copied(drawn);
                    }
                    Some(ready)
                }
                Err(error) => {
                    tracing::warn!(%error, "no compute shader for draws of this kind");
                    drawn = self.manners.refuse(class, error.to_string());
                    None
                }
            },
        };
        let sampler = quad.sampler.get();
        let run = || {
            match &ready {
                None => return by_triangle(),
                Some(Ready::Texture(ready, target)) => store::draw(shared, ready, sampler, target, draw),
                Some(Ready::Window(ready, window)) => canvas::draw(shared, ready, sampler, *window, draw),
            }
            Ok(())
        };
        if drawn.why == MannerReason::Measuring {
            self.time(shared, class, drawn.manner, run)?
        } else {
            run()?
        }
        Ok(drawn)
    }

    fn ready(
        &self,
        shared: &Arc<ContextState>,
        quad: &Quad,
        kind: ProgramKey,
        target: Target,
        draw: &Draw<'_>,
    ) -> Result<Ready> {
        Ok(match target {
            Target::Texture(target) => {
                Ready::Texture(store::Ready::new(shared, &quad.programs, kind, &target)?, target)
            }
            Target::Window(window) => {
                Ready::Window(self.canvas.ready(shared, &quad.programs, kind, window, draw)?, window)
            }
        })
    }

    /// Draws into the bound offscreen framebuffer; see [`Manners::settle`]. The context must be current.
    pub(crate) fn settled(
        &self,
        shared: &Arc<ContextState>,
        quad: &Quad,
        draw: &Draw<'_>,
        asked: Option<Manner>,
    ) -> Result<()> {
        self.manners.settle(asked, shared.device.software, |obstacle| {
            let drawn = self.draw_unless(obstacle, shared, quad, draw, asked)?;
            if drawn.why == MannerReason::Measuring {
                // SAFETY: the context is current.
                unsafe { shared.gl.finish() };
                self.collect(shared);
            }
            Ok(drawn)
        })
    }

    /// Runs a draw, and measures its time or has it measured.
    fn time(
        &self,
        shared: &Arc<ContextState>,
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
        if self.timed.lock().len() == ON_THEIR_WAY {
            return run();
        }
        let pair = Pair::new(shared)?;
        // SAFETY: the context is current and the queries of it.
        unsafe { timers.mark(pair.start.get()) };
        run()?;
        // SAFETY: as above.
        unsafe { timers.mark(pair.end.get()) };
        self.timed.lock().push(TimedDraw { class, manner, pair });
        Ok(())
    }

    /// `None` where a CPU draws: timestamps between two draws are not reliable there, and waiting costs nothing.
    fn timers(&self, shared: &ContextState) -> Option<TimerFns> {
        *self.timers.get_or_init(|| {
            // SAFETY: the context is current.
            shared.raw.timers.filter(|timers| !shared.device.software && unsafe { timers.bits() } > 0)
        })
    }

    /// Collects the available times, and frees those that are no longer needed. Does not wait.
    fn collect(&self, shared: &ContextState) {
        let Some(timers) = self.timers.get().copied().flatten().filter(|_| !self.timed.lock().is_empty()) else {
            return;
        };
        let _calmed = NeutralState::set(shared, QUERIES, shared.is_engine());
        self.timed.lock().retain(|timed| {
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
