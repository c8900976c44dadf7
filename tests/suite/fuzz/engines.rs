//! Objects of an engine's own: frames into them and out of them, by every path, while the engine draws into them itself.

use crate::fuzz::parts::{alone, inner_part, paste};
use crate::fuzz::{
    Machine, Things, Turn, TurnResult, WeightedOperation, drivers::Contexts, fail, hold, hostile, operations,
};
use pixelferry::driver::SurfacePart;
use pixelferry::driver::conformance::tight;
use pixelferry::driver::describe::pattern::{Pattern, rows};
use pixelferry::{
    ComputeBackend, Display, Error, Extent, Intake, Outlet, OutletFrame, OutletOptions, RawMemory, Result, SurfaceDesc,
    Unwritten, View,
};
use std::sync::Arc;
use std::time::Duration;

enum EngineCarrier {
    Out(Outlet),
    In(Intake),
}

/// An object, and what it must hold: tight rows in the display's order.
struct Open {
    way: EngineCarrier,
    backend: Arc<dyn ComputeBackend>,
    desc: SurfaceDesc,
    holds: Vec<u8>,
}

impl Open {
    fn surface(&mut self) -> &mut pixelferry::Surface {
        match &mut self.way {
            EngineCarrier::Out(outlet) => outlet.surface(),
            EngineCarrier::In(intake) => intake.source(),
        }
    }
}

/// Ways to fill a frame's part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Kernel,
    Copy,
    Raw,
    Nothing,
    Fails,
}

/// One display, all backends, one from outside among them.
pub struct World {
    backends: Vec<Arc<dyn ComputeBackend>>,
    display: Arc<dyn Display>,
    gl: Option<Contexts>,
    open: Vec<Open>,
}

impl Machine<'_> for World {
    fn operations() -> Vec<WeightedOperation<Self>> {
        operations! {
            3 => |w, t| w.one(t, Self::draw),
            6 => |w, t| w.one(t, Self::frame_or_take),
            3 => |w, t| w.one(t, Self::look),
            1 => |w, t| w.one(t, Self::elsewhere),
            1 => |w, t| w.one(t, Self::refused),
            2 => |w, t| w.one(t, Self::let_go),
        }
    }

    fn new(things: &Things, t: &mut Turn) -> TurnResult<Option<Self>> {
        let (display, gl) = things.drivers.display(t, vec![pixelferry_tests::plugged::Board::new(Duration::ZERO)])?;
        let mut backends = things.drivers.backends();
        backends.push(Arc::clone(&things.drivers.plugged) as Arc<dyn ComputeBackend>);
        Ok(Some(Self { backends, display, gl, open: Vec::new() }))
    }

    fn supply(&mut self, t: &mut Turn) -> TurnResult<bool> {
        let enough = self.open.len() >= 2 && (self.open.len() >= 5 || !t.one_in(12));
        if !enough {
            self.open(t)?;
        }
        Ok(enough)
    }
}

impl World {
    /// An operation on one of the objects.
    fn one(&mut self, t: &mut Turn, operation: fn(&mut Self, &mut Turn, usize) -> TurnResult) -> TurnResult {
        let at = t.below(self.open.len());
        operation(self, t, at)
    }

    fn let_go(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let forget = t.one_in(8);
        t.gone(["engines: drop", "engines: forget"], self.open.swap_remove(at), forget);
        Ok(())
    }

    fn frame_or_take(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        match self.open[at].way {
            EngineCarrier::Out(_) => self.frame(t, at),
            EngineCarrier::In(_) => self.take(t, at),
        }
    }

    fn open(&mut self, t: &mut Turn) -> TurnResult {
        let desc = if t.one_in(3) {
            SurfaceDesc::buffer(4 * hostile::size(t, 2 << 10) as u64)
        } else {
            SurfaceDesc::image(1 + t.below(60) as u32, 1 + t.below(40) as u32, hostile::format(t))
        };
        let desc = desc.with_unwritten(t.pick(&Unwritten::ALL));
        let backend = Arc::clone(&self.backends[t.below(self.backends.len())]);
        let surface = self.display.create_surface(&desc)?;
        let paths: Vec<_> = Outlet::paths().collect();
        let by = t.one_in(2).then(|| t.pick(&paths));
        let is_out = t.one_in(2);
        t.op("engines: open", format_args!("{desc:?} out: {is_out} by {by:?} of {}", backend.device()));
        let (other, display) = (Arc::clone(&backend), Arc::clone(&self.display));
        let way = match (is_out, by) {
            (true, by) => Outlet::open_with(other, display, surface, OutletOptions::default().with_path(by))
                .map(EngineCarrier::Out),
            (false, Some(path)) => Intake::open_by(other, display, surface, path).map(EngineCarrier::In),
            (false, None) => Intake::open(other, display, surface).map(EngineCarrier::In),
        };
        if let Ok(way) = t.end(way) {
            self.open.push(Open { way, backend, desc, holds: vec![0; desc.byte_len()?] });
        } else {
            hold!(by.is_some(), "no path at all reaches {desc}");
        }
        Ok(())
    }

    /// The engine draws: a part of the object is something else now.
    fn draw(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let open = &mut self.open[at];
        let part = inner_part(t, &open.desc);
        let bytes = pattern(&open.desc, &part, t.word())?;
        let view = tight(&alone(&open.desc, &part))?;
        t.op("engines: the engine draws", format_args!("{part} of {}", open.desc));
        t.end(open.surface().upload(&part, &bytes, &view))?;
        paste(&part, &open.desc, &bytes, &mut open.holds);
        Ok(())
    }

    fn frame(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let open = &mut self.open[at];
        let is_image = matches!(open.desc, SurfaceDesc::Image(_));
        let does = t.pick(&[Does::Kernel, Does::Kernel, Does::Copy, Does::Raw, Does::Nothing, Does::Fails]);
        let does = if is_image && does == Does::Copy { Does::Kernel } else { does };
        let part = if t.one_in(2) { SurfacePart::full(&open.desc) } else { inner_part(t, &open.desc) };
        let (nonce, bytes) = (t.word(), open.desc.byte_len()?);
        let mut written = None;
        let EngineCarrier::Out(outlet) = &mut open.way else { return Ok(()) };
        let name = match does {
            Does::Kernel => "engines: frame by a kernel",
            Does::Copy => "engines: frame by a copy",
            Does::Raw => "engines: frame by raw names",
            Does::Nothing => "engines: frame of nothing",
            Does::Fails => "engines: frame that fails",
        };
        t.op(name, format_args!("{part} of {} by {}", open.desc, outlet.path()));
        let compute = |frame: &mut OutletFrame<'_>| -> Result<()> {
            let view = frame.target()?.view();
            let mut tight = vec![0; view.payload_len()];
            let own = view_of(&open.desc, &part)?;
            match does {
                Does::Kernel | Does::Fails => {
                    let pattern = Pattern::for_view(&own, nonce);
                    open.backend.write_pattern(frame.target()?, &pattern)?;
                    pattern.write(&own, &mut tight);
                }
                Does::Copy => {
                    let mut memory = open.backend.allocate(bytes)?;
                    memory.write(0, &vec![nonce as u8; bytes])?;
                    frame.copy_from(memory.as_ref())?;
                    tight.fill(nonce as u8);
                }
                Does::Raw => {
                    fill_raw(frame, 0x3f)?;
                    tight.fill(0x3f);
                }
                Does::Nothing => return Ok(()),
            }
            written = Some(tight);
            if does == Does::Fails { Err(Error::invalid("fuzz", "on purpose")) } else { Ok(()) }
        };
        let done = match &part {
            _ if part == SurfacePart::full(&open.desc) => outlet.frame(compute),
            SurfacePart::Image(region) => outlet.frame_region(*region, compute),
            SurfacePart::Buffer(range) => outlet.frame_bytes(range.clone(), compute),
        };
        let done = t.end(done);
        hold!(done.is_err() || does != Does::Fails, "a frame whose closure failed was shown");
        if done.is_err() {
            return self.look(t, at);
        }
        match (written, open.desc.unwritten()) {
            (Some(bytes), _) => paste(&part, &open.desc, &bytes, &mut open.holds),
            (None, Unwritten::Clear) => {
                let zeros = vec![0; alone(&open.desc, &part).byte_len()?];
                paste(&part, &open.desc, &zeros, &mut open.holds);
            }
            (None, Unwritten::Overwrite) => {
                // The part may hold the bytes of any frame; the rest stays.
                let found = open.surface().read_back(&part)?;
                paste(&part, &open.desc, &found, &mut open.holds);
            }
            (None, _) => {}
        }
        self.look(t, at)
    }

    fn take(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let Open { way: EngineCarrier::In(intake), desc, holds, .. } = &mut self.open[at] else { return Ok(()) };
        t.op("engines: take", format_args!("{desc} by {}", intake.path()));
        let found = intake.take().and_then(|mut taken| taken.read());
        let found = t.end(found)?;
        hold!(found == *holds, "what was taken of {desc} by {} is something else", intake.path());
        Ok(())
    }

    fn look(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let open = &mut self.open[at];
        let all = SurfacePart::full(&open.desc);
        t.op("engines: look", format_args!("{}", open.desc));
        let found = t.end(open.surface().read_back(&all))?;
        if let Some(byte) = found.iter().zip(&open.holds).position(|(a, b)| a != b) {
            fail!("{} holds {:#x} at byte {byte}, not {:#x}", open.desc, found[byte], open.holds[byte]);
        }
        Ok(())
    }

    /// A call where another context is current is refused, and loses nothing.
    fn elsewhere(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let Some([own, other]) = self.gl.clone() else { return Ok(()) };
        other.make_current()?;
        t.op("engines: another context is current", format_args!(""));
        let done = match &mut self.open[at].way {
            EngineCarrier::Out(outlet) => outlet.frame(|_| Ok(())),
            EngineCarrier::In(intake) => intake.take().map(drop),
        };
        let done = t.end(done);
        own.make_current()?;
        hold!(done.is_err(), "a context that is not current was taken");
        self.look(t, at)
    }

    /// Parts that are none.
    fn refused(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let open = &mut self.open[at];
        let EngineCarrier::Out(outlet) = &mut open.way else { return Ok(()) };
        let mut called = false;
        let (region, range) = (hostile::region(t, Extent::new(2, 2)), hostile::range(t, 64));
        t.op("engines: any part", format_args!("{region} or {range:?} of {}", open.desc));
        let note = |_: &mut OutletFrame<'_>| {
            called = true;
            Err(Error::invalid("fuzz", "on purpose"))
        };
        let (done, part) = match t.one_in(2) {
            true => (outlet.frame_region(region, note), SurfacePart::Image(region)),
            false => (outlet.frame_bytes(range.clone(), note), SurfacePart::Buffer(range)),
        };
        let _ = t.end(done);
        hold!(called == part.check_inside(&open.desc).is_ok(), "{part} of {}", open.desc);
        self.look(t, at)
    }
}

/// Writes through the names, where they are an address of the host's.
fn fill_raw(frame: &mut OutletFrame<'_>, byte: u8) -> Result<()> {
    let view = frame.target()?.view();
    // SAFETY: the bytes are written below, by this thread, and nothing else is done with the names; other names are not used.
    let raw = unsafe { frame.raw() };
    if let Ok(raw) = raw
        && let RawMemory::Host { address } = raw.memory()
    {
        for (_, row) in rows(&raw.view()) {
            // SAFETY: the target's rows lie in the memory, which nobody else uses while it is borrowed.
            unsafe { address.add(row.start).write_bytes(byte, row.len()) };
        }
        return Ok(());
    }
    let (memory, _) = frame.target()?.into_parts();
    rows(&view).try_for_each(|(_, row)| memory.write(row.start, &vec![byte; row.len()]))
}

fn view_of(desc: &SurfaceDesc, part: &SurfacePart) -> Result<View> {
    tight(&alone(desc, part))
}

fn pattern(desc: &SurfaceDesc, part: &SurfacePart, nonce: u32) -> Result<Vec<u8>> {
    let view = view_of(desc, part)?;
    let mut bytes = vec![0; view.payload_len()];
    Pattern::for_view(&view, nonce).write(&view, &mut bytes);
    Ok(bytes)
}
