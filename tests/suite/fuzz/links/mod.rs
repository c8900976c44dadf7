//! Links: every path, resizes, parts of frames, faults of both sides, contexts that are not current.

mod draws;
mod frames;
mod trouble;

use crate::fuzz::{
    Choices, Machine, Things, Turn, TurnResult, WeightedOperation, fail, hold, hostile, kernels::Engine, operations,
};
use pixelferry::api::gl::GlDisplay;
use pixelferry::driver::conformance::tight;
use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::{
    AlphaMode, ComputeBackend, Display, Encoding, ImageAccess, ImageDesc, Link, LinkOptions, MemoryDisplay, Mode,
    PathId, Policy, Profiles, RowOrder, SurfaceDesc, Unwritten,
};
use pixelferry_tests::faults::{BackendDouble, DisplayDouble, Faults};
use std::sync::Arc;
use std::time::Duration;

/// Display that draws a surface by itself.
enum Screen {
    Memory(Arc<MemoryDisplay>),
    Gl(Arc<GlDisplay>),
}

impl Screen {
    fn display(&self) -> Arc<dyn Display> {
        match self {
            Self::Memory(display) => Arc::clone(display) as Arc<dyn Display>,
            Self::Gl(display) => Arc::clone(display) as Arc<dyn Display>,
        }
    }

    fn enter(&self) -> TurnResult {
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

impl<'a> Machine<'a> for World<'a> {
    fn operations() -> Vec<WeightedOperation<Self>> {
        operations! {
            7 => |w, t| w.one(t, Self::frame),
            3 => |w, t| w.one(t, Self::acquired),
            7 => |w, t| w.one(t, Self::part),
            3 => |w, t| w.one(t, Self::nothing),
            4 => |w, t| w.one(t, Self::resize),
            6 => |w, t| w.one(t, Self::look),
            2 => |w, t| w.one(t, Self::draw),
            1 => |w, t| w.one(t, Self::ask),
            2 => |w, t| w.one(t, Self::fault),
            1 => |w, t| w.one(t, Self::elsewhere),
            1 => |w, t| w.one(t, Self::give_up),
            1 => |w, t| w.one(t, Self::refused),
            1 => |w, t| w.one(t, Self::let_go),
            1 => |w, t| w.one(t, Self::recalibrate),
        }
    }

    fn new(things: &'a Things, t: &mut Turn) -> TurnResult<Option<Self>> {
        let memory = || Screen::Memory(MemoryDisplay::new());
        let gl = things.drivers.gl.iter().map(|[a, b]| [a, b].map(|d| d.gl().cloned().map(Screen::Gl)));
        let gl = gl.filter_map(|[a, b]| a.zip(b));
        let mut pairs: Vec<_> = std::iter::once((memory(), memory())).chain(gl).collect();
        let (screen, other) = pairs.swap_remove(t.below(pairs.len()));
        let (screen, other) = if t.one_in(2) { (screen, other) } else { (other, screen) };
        screen.enter()?;
        let engine = &things.engines[t.below(things.engines.len())];
        Ok(Some(Self { engine, screen, other, open: Vec::new() }))
    }

    fn supply(&mut self, t: &mut Turn) -> TurnResult<bool> {
        let enough = !self.open.is_empty() && (self.open.len() >= 3 || !t.one_in(15));
        if !enough {
            self.open(t)?;
        }
        Ok(enough)
    }

    fn end(mut self, t: &mut Turn) -> TurnResult {
        for at in 0..self.open.len() {
            self.open[at].faults.disarm();
            self.look(t, at)?;
        }
        Ok(())
    }
}

impl World<'_> {
    /// An operation on one of the links.
    fn one(&mut self, t: &mut Turn, operation: fn(&mut Self, &mut Turn, usize) -> TurnResult) -> TurnResult {
        let at = t.below(self.open.len());
        operation(self, t, at)
    }

    fn desc(&self, t: &mut Choices) -> SurfaceDesc {
        let rule = t.pick(&Unwritten::ALL);
        if t.one_in(4) {
            return SurfaceDesc::buffer(hostile::size(t, 8 << 10) as u64).with_unwritten(rule);
        }
        let sides = if t.one_in(3) { (1 + t.below(4), 1 + t.below(4)) } else { (1 + t.below(90), 1 + t.below(60)) };
        let image = ImageDesc::new(sides.0 as u32, sides.1 as u32, hostile::format(t))
            .with_row_order(t.pick(&[RowOrder::TopDown, RowOrder::BottomUp]))
            .with_access(t.pick(&[ImageAccess::Texture, ImageAccess::Any]));
        let encoding = t.pick(&[Encoding::Unmanaged, Encoding::Unmanaged, Encoding::Srgb, Encoding::Linear]);
        let alpha = t.pick(&[AlphaMode::Stored, AlphaMode::Stored, AlphaMode::Opaque, AlphaMode::Premultiplied]);
        SurfaceDesc::Image(image.with_encoding(encoding).with_alpha(alpha).with_unwritten(rule))
    }

    fn bad_desc(&self, t: &mut Choices) -> SurfaceDesc {
        match t.below(3) {
            0 => SurfaceDesc::buffer(t.pick(&[0, u64::MAX, 1 << 63, 1 << 50])),
            1 => SurfaceDesc::image(0, hostile::side(t), hostile::format(t)),
            _ => SurfaceDesc::image(t.pick(&[u32::MAX, i32::MAX as u32, 1 << 24]), u32::MAX, hostile::format(t)),
        }
    }

    fn open(&mut self, t: &mut Turn) -> TurnResult {
        let faults = Faults::default();
        let (backend, display): (Arc<dyn ComputeBackend>, Arc<dyn Display>) = if t.one_in(2) {
            let backend = BackendDouble::over(Arc::clone(&self.engine.backend), &faults);
            (backend, DisplayDouble::over(self.screen.display(), &faults))
        } else {
            (Arc::clone(&self.engine.backend), self.screen.display())
        };
        let bad = t.one_in(10);
        let desc = if bad { self.bad_desc(t) } else { self.desc(t) };
        let late = t.one_in(4);
        let mode = match (late, t.below(8)) {
            (true, 0) => Mode::Throughput { most: 2 },
            (true, n) => Mode::FramesBehind(n % 4),
            (false, 0) if bad => Mode::FramesBehind(hostile::near(t, 16)),
            (false, _) => Mode::Latency,
        };
        let force = t.one_in(2).then(|| t.pick(&PathId::ALL));
        // Nothing is timed: what is taken must not depend on the load.
        let policy = Policy::default()
            .with_force(force)
            .with_mode(mode)
            .with_budget(Duration::ZERO)
            .with_profiles(Profiles::Off);
        t.op("links: open", format_args!("{desc:?} {force:?} {mode:?}"));
        let opened = t.end(Link::open(backend, display, desc, LinkOptions::new(policy)));
        let Ok(link) = opened else {
            hold!(bad || force.is_some(), "{desc} was refused");
            return Ok(());
        };
        hold!(!bad, "{desc:?} {mode:?} was taken");
        hold!(force.is_none_or(|forced| forced == link.path()), "{} was taken instead of {force:?}", link.path());
        self.open.push(Open { link, faults, desc, seen: None, fresh: false, late, troubled: false });
        Ok(())
    }

    /// Checks that the frame written last is shown.
    fn look(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let open = &mut self.open[at];
        let what = format!("{} by {}", open.desc, open.link.path());
        if !open.catch_up(t)? {
            return Ok(());
        }
        t.op("links: read back", format_args!("{what}"));
        let shown = open.link.read_back();
        match (t.end_with(shown), &open.seen) {
            (Ok(shown), Some(seen)) => match shown.iter().zip(seen).position(|(a, b)| a != b) {
                None if shown.len() == seen.len() => Ok(()),
                None => fail!("{what}: {} bytes are shown instead of {}", shown.len(), seen.len()),
                Some(at) => {
                    fail!("{what}: byte {at} is {}, and should be {}", shown[at], seen[at])
                }
            },
            (Ok(_), None) => fail!("{what}: something is shown before the first frame"),
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
    fn catch_up(&mut self, t: &mut Turn) -> TurnResult<bool> {
        if !self.late || self.seen.is_none() {
            return Ok(true);
        }
        t.op("links: flush", format_args!("{} by {}", self.desc, self.link.path()));
        let flushed = t.end_with(self.link.flush());
        self.forgive("flush", flushed)
    }

    /// Tells whether it worked; a failure is one only where no fault was injected.
    fn forgive<T>(&self, what: &str, result: pixelferry::Result<T>) -> TurnResult<bool> {
        match result {
            Ok(_) => Ok(true),
            Err(error) if Faults::injected(&error) => Ok(false),
            Err(error) => fail!("{} by {}: {what}: {error}", self.desc, self.link.path()),
        }
    }

    /// Pixels or bytes that every display shows as they are.
    fn content(&self, t: &mut Choices, desc: &SurfaceDesc) -> TurnResult<Vec<u8>> {
        let view = tight(desc)?;
        let mut bytes = vec![0; view.payload_len()];
        Pattern::for_view(&view, t.word()).write(&view, &mut bytes);
        Ok(bytes)
    }

    fn shows(&mut self, bytes: Vec<u8>) {
        (self.seen, self.fresh) = (Some(bytes), true);
    }

    /// Returns what surrounds a first part: the frame before, where it has this size, else zero.
    fn before(&self) -> TurnResult<Vec<u8>> {
        match &self.seen {
            Some(seen) if self.fresh => Ok(seen.clone()),
            _ => Ok(vec![0; tight(&self.desc)?.payload_len()]),
        }
    }
}
