//! Displays and the host memory that they share with backends: blocks taken twice, staging, surfaces, contexts told lost.

mod blocks;
mod handles;
mod surfaces;

use crate::fuzz::{Checked, Log, Rng, drivers::Contexts, drivers::Drivers, hostile};
use pixelferry::driver::{HostBlock, Staging};
use pixelferry::{ComputeBackend, ComputeMemory, Display, Surface, SurfaceDesc};
use std::rc::Rc;
use std::sync::Arc;

/// A way to the bytes of a block.
enum Door {
    Memory(Box<dyn ComputeMemory>),
    Staging(Staging),
}

struct Open {
    door: Door,
    /// Number of the block; staging has one of its own.
    block: u32,
}

struct Shown {
    surface: Surface,
    /// Shown bytes, rows in the display's order; `None` if there are none yet, or if a block's owner may have changed
    /// them.
    bytes: Option<Vec<u8>>,
    desc: SurfaceDesc,
    in_place: bool,
}

/// One display, all backends.
pub struct World<'a> {
    backends: Vec<Arc<dyn ComputeBackend>>,
    drivers: &'a Drivers,
    display: Rc<dyn Display>,
    gl: Option<Contexts>,
    blocks: Vec<(HostBlock, u32)>,
    doors: Vec<Open>,
    surfaces: Vec<Shown>,
    next: u32,
}

impl super::World for World<'_> {
    fn step(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        if self.blocks.len() < 2 {
            return self.allocate(rng, log);
        }
        if self.doors.len() < 4 || (self.doors.len() < 9 && rng.one_in(6)) {
            return if rng.one_in(2) { self.import(rng, log) } else { self.stage(rng, log) };
        }
        if self.surfaces.len() < 3 {
            return self.surface(rng, log);
        }
        match rng.below(32) {
            0 => self.allocate(rng, log),
            1 | 2 => self.import(rng, log),
            3 => self.stage(rng, log),
            4 => self.surface(rng, log),
            5..10 => self.through(rng, log),
            10..16 => self.nested(rng, log),
            16..19 => self.upload(rng, log),
            19..22 => self.upload_staged(rng, log),
            22 | 23 => self.show_in_place(rng, log),
            24 | 25 => self.read_back(rng, log),
            26 => self.download(rng, log),
            31 => self.fences(rng, log),
            27 => self.prepare(rng, log),
            28 => self.elsewhere(rng, log),
            29 => self.handle(rng, log),
            _ => self.let_go(rng, log),
        }
    }
}

impl<'a> World<'a> {
    /// With nothing yet.
    pub fn new(drivers: &'a Drivers, rng: &mut Rng) -> Checked<Self> {
        let (display, gl) = drivers.display(rng, Vec::new())?;
        Ok(Self {
            backends: drivers.backends(),
            drivers,
            display,
            gl,
            blocks: Vec::new(),
            doors: Vec::new(),
            surfaces: Vec::new(),
            next: 0,
        })
    }

    fn allocate(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let bytes = if rng.one_in(6) { hostile::bad_size(rng) } else { hostile::size(rng, 20 << 10) };
        log.op("host: allocate a block", format_args!("{bytes} bytes"));
        if let Some(block) = log.end(HostBlock::allocate(bytes)) {
            crate::fuzz::hold!(block.len() >= bytes && bytes > 0, "{bytes} bytes gave {}", block.len());
            self.next += 1;
            self.blocks.push((block, self.next));
        }
        if self.blocks.len() > 4 {
            // Whoever took it keeps it alive.
            self.blocks.remove(0);
        }
        Ok(())
    }

    fn let_go(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        match rng.below(4) {
            0 if !self.surfaces.is_empty() => {
                log.did("host: drop a surface", format_args!(""));
                rng.take(&mut self.surfaces);
            }
            // A staging block that is forgotten keeps its pages.
            _ if !self.doors.is_empty() => {
                let (door, forget) = (rng.take(&mut self.doors), rng.one_in(24));
                log.gone(["host: drop memory or staging", "host: forget memory or staging"], door, forget);
            }
            _ => {}
        }
        Ok(())
    }
}
