//! Links: every path, resizes, parts of frames, faults of both sides, contexts that are not current.

mod draws;
mod frames;
mod trouble;

use crate::fuzz::{Checked, Failure, Log, Rng, drivers::Drivers, hold, hostile, kernels::Engine};
use pixelferry::api::gl::GlDisplay;
use pixelferry::driver::conformance::tight;
use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::{
    AlphaMode, ComputeBackend, Display, Encoding, ImageAccess, ImageDesc, Link, LinkOptions, MemoryDisplay, Mode,
    PathId, Policy, Profiles, RowOrder, SurfaceDesc,
};
use pixelferry_tests::faults::{BackendDouble, DisplayDouble, Faults};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Display that draws a surface by itself.
enum Screen {
    Memory(Rc<MemoryDisplay>),
    Gl(Rc<GlDisplay>),
}

impl Screen {
    fn display(&self) -> Rc<dyn Display> {
        match self {
            Self::Memory(display) => Rc::clone(display) as Rc<dyn Display>,
            Self::Gl(display) => Rc::clone(display) as Rc<dyn Display>,
        }
    }

    fn enter(&self) -> Checked {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Gl(display) => Ok(display.make_current()?),
        }
    }
}

/// A link, and what it must show.
struct Open {
    link: Link,
    faults: Faults,
    desc: SurfaceDesc,
    /// `None` before the first frame.
    seen: Option<Vec<u8>>,
    /// `seen` is of the newest size.
    fresh: bool,
    late: bool,
    /// Some fault was armed: paths may have been left.
    troubled: bool,
}

/// Some links between one backend and one display.
pub struct World<'a> {
    engine: &'a Engine,
    screen: Screen,
    /// Another display of the same kind.
    other: Screen,
    open: Vec<Open>,
}

impl super::World for World<'_> {
    fn step(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        if self.open.is_empty() || (self.open.len() < 3 && rng.one_in(15)) {
            return self.open(rng, log);
        }
        let at = rng.below(self.open.len());
        match rng.below(32) {
            0..7 => self.frame(rng, log, at),
            7..10 => self.acquired(rng, log, at),
            10..14 => self.part(rng, log, at),
            14..16 => self.resize(rng, log, at),
            16..22 => self.look(log, at),
            22 | 23 => self.draw(rng, log, at),
            24 => self.ask(rng, log, at),
            25 | 26 => self.fault(rng, log, at),
            27 => self.elsewhere(rng, log, at),
            28 => self.give_up(rng, log, at),
            29 => self.refused(rng, log, at),
            30 => self.let_go(rng, log, at),
            _ => self.recalibrate(rng, log, at),
        }
    }

    fn end(mut self: Box<Self>, log: &mut Log) -> Checked {
        for at in 0..self.open.len() {
            self.open[at].faults.disarm();
            self.look(log, at)?;
        }
        Ok(())
    }
}

impl<'a> World<'a> {
    /// With no link yet.
    pub fn new(engines: &'a [Engine], drivers: &Drivers, rng: &mut Rng) -> Checked<Self> {
        let memory = || Screen::Memory(MemoryDisplay::new());
        let gl = drivers.gl.iter().map(|[a, b]| [a, b].map(|d| d.gl().cloned().map(Screen::Gl)));
        let gl = gl.filter_map(|[a, b]| a.zip(b));
        let mut pairs: Vec<_> = std::iter::once((memory(), memory())).chain(gl).collect();
        let (screen, other) = pairs.swap_remove(rng.below(pairs.len()));
        let (screen, other) = if rng.one_in(2) { (screen, other) } else { (other, screen) };
        screen.enter()?;
        Ok(Self { engine: &engines[rng.below(engines.len())], screen, other, open: Vec::new() })
    }

    fn desc(&self, rng: &mut Rng) -> SurfaceDesc {
        if rng.one_in(4) {
            return SurfaceDesc::buffer(hostile::size(rng, 8 << 10) as u64);
        }
        let sides =
            if rng.one_in(3) { (1 + rng.below(4), 1 + rng.below(4)) } else { (1 + rng.below(90), 1 + rng.below(60)) };
        let image = ImageDesc::new(sides.0 as u32, sides.1 as u32, hostile::format(rng))
            .with_row_order(rng.pick(&[RowOrder::TopDown, RowOrder::BottomUp]))
            .with_access(rng.pick(&[ImageAccess::Texture, ImageAccess::Any]));
        let encoding = rng.pick(&[Encoding::Unmanaged, Encoding::Unmanaged, Encoding::Srgb, Encoding::Linear]);
        let alpha = rng.pick(&[AlphaMode::Stored, AlphaMode::Stored, AlphaMode::Opaque, AlphaMode::Premultiplied]);
        SurfaceDesc::Image(image.with_encoding(encoding).with_alpha(alpha))
    }

    fn bad_desc(&self, rng: &mut Rng) -> SurfaceDesc {
        match rng.below(3) {
            0 => SurfaceDesc::buffer(rng.pick(&[0, u64::MAX, 1 << 63, 1 << 50])),
            1 => SurfaceDesc::image(0, hostile::side(rng), hostile::format(rng)),
            _ => SurfaceDesc::image(rng.pick(&[u32::MAX, i32::MAX as u32, 1 << 24]), u32::MAX, hostile::format(rng)),
        }
    }

    fn open(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let faults = Faults::default();
        let (backend, display): (Arc<dyn ComputeBackend>, Rc<dyn Display>) = if rng.one_in(2) {
            let backend = BackendDouble::over(Arc::clone(&self.engine.backend), &faults);
            (backend, DisplayDouble::over(self.screen.display(), &faults))
        } else {
            (Arc::clone(&self.engine.backend), self.screen.display())
        };
        let bad = rng.one_in(10);
        let desc = if bad { self.bad_desc(rng) } else { self.desc(rng) };
        let late = rng.one_in(4);
        let mode = match (late, rng.below(8)) {
            (true, 0) => Mode::Throughput { most: 2 },
            (true, n) => Mode::FramesBehind(n % 4),
            (false, 0) if bad => Mode::FramesBehind(hostile::near(rng, 16)),
            (false, _) => Mode::Latency,
        };
        let force = rng.one_in(2).then(|| rng.pick(&PathId::ALL));
        // Nothing is timed: what is taken must not depend on the load.
        let policy = Policy::default()
            .with_force(force)
            .with_mode(mode)
            .with_budget(Duration::ZERO)
            .with_profiles(Profiles::Off);
        log.op("links: open", format_args!("{desc:?} {force:?} {mode:?}"));
        let opened = log.end(Link::open(backend, display, desc, LinkOptions::new(policy)));
        let Some(link) = opened else {
            hold!(bad || force.is_some(), "{desc} was refused");
            return Ok(());
        };
        hold!(!bad, "{desc:?} {mode:?} was taken");
        hold!(force.is_none_or(|forced| forced == link.path()), "{} was taken instead of {force:?}", link.path());
        self.open.push(Open { link, faults, desc, seen: None, fresh: false, late, troubled: false });
        Ok(())
    }

    /// Checks that the frame written last is shown.
    fn look(&mut self, log: &mut Log, at: usize) -> Checked {
        let open = &mut self.open[at];
        let what = format!("{} by {}", open.desc, open.link.path());
        if !open.catch_up(log)? {
            return Ok(());
        }
        log.op("links: read back", format_args!("{what}"));
        let shown = open.link.read_back();
        match (log.end_with(shown), &open.seen) {
            (Ok(shown), Some(seen)) => match shown.iter().zip(seen).position(|(a, b)| a != b) {
                None if shown.len() == seen.len() => Ok(()),
                None => Err(Failure(format!("{what}: {} bytes are shown instead of {}", shown.len(), seen.len()))),
                Some(at) => Err(Failure(format!("{what}: byte {at} is {}, and should be {}", shown[at], seen[at]))),
            },
            (Ok(_), None) => Err(Failure(format!("{what}: something is shown before the first frame"))),
            (Err(error), seen) => {
                let expected = seen.is_none() || Faults::injected(&error);
                hold!(expected, "{what}: cannot be read back: {error}");
                Ok(())
            }
        }
    }
}

impl Open {
    /// Shows the frame finished last, where frames are shown late; what stays on show after a resize is the frame that
    /// was shown. False where an injected fault prevents it.
    fn catch_up(&mut self, log: &mut Log) -> Checked<bool> {
        if !self.late || self.seen.is_none() {
            return Ok(true);
        }
        log.op("links: flush", format_args!("{} by {}", self.desc, self.link.path()));
        let flushed = log.end_with(self.link.flush());
        self.forgive("flush", flushed)
    }

    /// Tells whether it worked; a failure is one only where no fault was injected.
    fn forgive<T>(&self, what: &str, result: pixelferry::Result<T>) -> Checked<bool> {
        match result {
            Ok(_) => Ok(true),
            Err(error) if Faults::injected(&error) => Ok(false),
            Err(error) => Err(Failure(format!("{} by {}: {what}: {error}", self.desc, self.link.path()))),
        }
    }

    /// Pixels or bytes that every display shows as they are.
    fn content(&self, rng: &mut Rng, desc: &SurfaceDesc) -> Checked<Vec<u8>> {
        let view = tight(desc)?;
        let mut bytes = vec![0; view.payload_len()];
        Pattern::for_view(&view, rng.word()).write(&view, &mut bytes);
        Ok(bytes)
    }

    fn shows(&mut self, bytes: Vec<u8>) {
        (self.seen, self.fresh) = (Some(bytes), true);
    }

    /// Returns what surrounds a first part: the frame before, where it has this size, else zero.
    fn before(&self) -> Checked<Vec<u8>> {
        match &self.seen {
            Some(seen) if self.fresh => Ok(seen.clone()),
            _ => Ok(vec![0; tight(&self.desc)?.payload_len()]),
        }
    }
}
