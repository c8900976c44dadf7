//! Objects of an engine's own: frames into them and out of them, by every path, while the engine draws into them itself.

use crate::fuzz::parts::{alone, inner_part, paste};
use crate::fuzz::{Checked, Log, Rng, drivers::Contexts, drivers::Drivers, fail, hold, hostile};
use pixelferry::driver::Part;
use pixelferry::driver::conformance::tight;
use pixelferry::driver::describe::pattern::{Pattern, rows};
use pixelferry::{
    ComputeBackend, Display, Error, Extent, Intake, Outlet, OutletFrame, OutletOptions, RawMemory, Result, SurfaceDesc,
    Unwritten, View,
};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

enum Way {
    Out(Outlet),
    In(Intake),
}

/// An object, and what it must hold: tight rows in the display's order.
struct Open {
    way: Way,
    backend: Arc<dyn ComputeBackend>,
    desc: SurfaceDesc,
    holds: Vec<u8>,
}

impl Open {
    fn surface(&mut self) -> &mut pixelferry::Surface {
        match &mut self.way {
            Way::Out(outlet) => outlet.surface(),
            Way::In(intake) => intake.source(),
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
    display: Rc<dyn Display>,
    gl: Option<Contexts>,
    open: Vec<Open>,
}

impl super::World for World {
    fn step(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        if self.open.len() < 2 || (self.open.len() < 5 && rng.one_in(12)) {
            return self.open(rng, log);
        }
        let at = rng.below(self.open.len());
        match rng.below(16) {
            0..3 => self.draw(rng, log, at),
            3..9 => match self.open[at].way {
                Way::Out(_) => self.frame(rng, log, at),
                Way::In(_) => self.take(log, at),
            },
            9..12 => self.look(log, at),
            12 => self.elsewhere(log, at),
            13 => self.refused(rng, log, at),
            n => {
                let forget = n == 14 && rng.one_in(4);
                log.gone(["engines: drop", "engines: forget"], self.open.swap_remove(at), forget);
                Ok(())
            }
        }
    }
}

impl World {
    /// With no object yet.
    pub fn new(drivers: &Drivers, rng: &mut Rng) -> Checked<Self> {
        let (display, gl) = drivers.display(rng, vec![pixelferry_tests::plugged::Board::new(Duration::ZERO)])?;
        let mut backends = drivers.backends();
        backends.push(Arc::clone(&drivers.plugged) as Arc<dyn ComputeBackend>);
        Ok(Self { backends, display, gl, open: Vec::new() })
    }

    fn open(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let desc = if rng.one_in(3) {
            SurfaceDesc::buffer(4 * hostile::size(rng, 2 << 10) as u64)
        } else {
            SurfaceDesc::image(1 + rng.below(60) as u32, 1 + rng.below(40) as u32, hostile::format(rng))
        };
        let desc = desc.with_unwritten(rng.pick(&Unwritten::ALL));
        let backend = Arc::clone(&self.backends[rng.below(self.backends.len())]);
        let surface = self.display.create_surface(&desc)?;
        let paths: Vec<_> = Outlet::paths().collect();
        let by = rng.one_in(2).then(|| rng.pick(&paths));
        let is_out = rng.one_in(2);
        log.op("engines: open", format_args!("{desc:?} out: {is_out} by {by:?} of {}", backend.device()));
        let (other, display) = (Arc::clone(&backend), Rc::clone(&self.display));
        let way = match (is_out, by) {
            (true, by) => {
                Outlet::open_with(other, display, surface, OutletOptions::default().with_path(by)).map(Way::Out)
            }
            (false, Some(path)) => Intake::open_by(other, display, surface, path).map(Way::In),
            (false, None) => Intake::open(other, display, surface).map(Way::In),
        };
        if let Some(way) = log.end(way) {
            self.open.push(Open { way, backend, desc, holds: vec![0; desc.byte_len()?] });
        } else {
            hold!(by.is_some(), "no path at all reaches {desc}");
        }
        Ok(())
    }

    /// The engine draws: a part of the object is something else now.
    fn draw(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let open = &mut self.open[at];
        let part = inner_part(rng, &open.desc);
        let bytes = pattern(&open.desc, &part, rng.word())?;
        let view = tight(&alone(&open.desc, &part))?;
        log.op("engines: the engine draws", format_args!("{part} of {}", open.desc));
        if log.end(open.surface().upload(&part, &bytes, &view)).is_some() {
            paste(&part, &open.desc, &bytes, &mut open.holds);
        }
        Ok(())
    }

    fn frame(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let open = &mut self.open[at];
        let is_image = matches!(open.desc, SurfaceDesc::Image(_));
        let does = rng.pick(&[Does::Kernel, Does::Kernel, Does::Copy, Does::Raw, Does::Nothing, Does::Fails]);
        let does = if is_image && does == Does::Copy { Does::Kernel } else { does };
        let part = if rng.one_in(2) { Part::full(&open.desc) } else { inner_part(rng, &open.desc) };
        let (nonce, bytes) = (rng.word(), open.desc.byte_len()?);
        let mut written = None;
        let Way::Out(outlet) = &mut open.way else { return Ok(()) };
        let name = match does {
            Does::Kernel => "engines: frame by a kernel",
            Does::Copy => "engines: frame by a copy",
            Does::Raw => "engines: frame by raw names",
            Does::Nothing => "engines: frame of nothing",
            Does::Fails => "engines: frame that fails",
        };
        log.op(name, format_args!("{part} of {} by {}", open.desc, outlet.path()));
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
            _ if part == Part::full(&open.desc) => outlet.frame(compute),
            Part::Image(region) => outlet.frame_region(*region, compute),
            Part::Buffer(range) => outlet.frame_bytes(range.clone(), compute),
        };
        let done = log.end(done);
        hold!(done.is_none() || does != Does::Fails, "a frame whose closure failed was shown");
        if done.is_none() {
            return self.look(log, at);
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
        self.look(log, at)
    }

    fn take(&mut self, log: &mut Log, at: usize) -> Checked {
        let Open { way: Way::In(intake), desc, holds, .. } = &mut self.open[at] else { return Ok(()) };
        log.op("engines: take", format_args!("{desc} by {}", intake.path()));
        let found = intake.take().and_then(|mut taken| taken.read());
        if let Some(found) = log.end(found) {
            hold!(found == *holds, "what was taken of {desc} by {} is something else", intake.path());
        }
        Ok(())
    }

    fn look(&mut self, log: &mut Log, at: usize) -> Checked {
        let open = &mut self.open[at];
        let all = Part::full(&open.desc);
        log.op("engines: look", format_args!("{}", open.desc));
        let Some(found) = log.end(open.surface().read_back(&all)) else { return Ok(()) };
        if let Some(byte) = found.iter().zip(&open.holds).position(|(a, b)| a != b) {
            fail!("{} holds {:#x} at byte {byte}, not {:#x}", open.desc, found[byte], open.holds[byte]);
        }
        Ok(())
    }

    /// A call where another context is current is refused, and loses nothing.
    fn elsewhere(&mut self, log: &mut Log, at: usize) -> Checked {
        let Some([own, other]) = self.gl.clone() else { return Ok(()) };
        other.make_current()?;
        log.op("engines: another context is current", format_args!(""));
        let done = match &mut self.open[at].way {
            Way::Out(outlet) => outlet.frame(|_| Ok(())),
            Way::In(intake) => intake.take().map(drop),
        };
        let done = log.end(done);
        own.make_current()?;
        hold!(done.is_none(), "a context that is not current was taken");
        self.look(log, at)
    }

    /// Parts that are none.
    fn refused(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let open = &mut self.open[at];
        let Way::Out(outlet) = &mut open.way else { return Ok(()) };
        let mut called = false;
        let (region, range) = (hostile::region(rng, Extent::new(2, 2)), hostile::range(rng, 64));
        log.op("engines: any part", format_args!("{region} or {range:?} of {}", open.desc));
        let note = |_: &mut OutletFrame<'_>| {
            called = true;
            Err(Error::invalid("fuzz", "on purpose"))
        };
        let (done, part) = match rng.one_in(2) {
            true => (outlet.frame_region(region, note), Part::Image(region)),
            false => (outlet.frame_bytes(range.clone(), note), Part::Buffer(range)),
        };
        let _ = log.end(done);
        hold!(called == part.check_inside(&open.desc).is_ok(), "{part} of {}", open.desc);
        self.look(log, at)
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

fn view_of(desc: &SurfaceDesc, part: &Part) -> Result<View> {
    tight(&alone(desc, part))
}

fn pattern(desc: &SurfaceDesc, part: &Part, nonce: u32) -> Result<Vec<u8>> {
    let view = view_of(desc, part)?;
    let mut bytes = vec![0; view.payload_len()];
    Pattern::for_view(&view, nonce).write(&view, &mut bytes);
    Ok(bytes)
}
