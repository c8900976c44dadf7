//! Displays and the host memory that they share with backends: blocks taken twice, staging, surfaces, contexts told lost.

mod blocks;
mod handles;
mod surfaces;

use crate::fuzz::{
    Machine, Things, Turn, TurnResult, WeightedOperation, drivers::Contexts, drivers::Drivers, hold, hostile,
    operations,
};
use pixelferry::driver::{HostBlock, Staging};
use pixelferry::{ComputeBackend, ComputeMemory, Display, Surface, SurfaceDesc};
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

struct ShownSurface {
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
    display: Arc<dyn Display>,
    gl: Option<Contexts>,
    blocks: Vec<(HostBlock, u32)>,
    doors: Vec<Open>,
    surfaces: Vec<ShownSurface>,
    next: u32,
}

impl<'a> Machine<'a> for World<'a> {
    fn operations() -> Vec<WeightedOperation<Self>> {
        operations! {
            1 => Self::allocate,
            2 => Self::import,
            1 => Self::stage,
            1 => Self::surface,
            5 => Self::through,
            6 => Self::nested,
            3 => Self::upload,
            3 => Self::upload_staged,
            2 => Self::show_in_place,
            2 => Self::read_back,
            1 => Self::download,
            1 => Self::fences,
            1 => Self::prepare,
            1 => Self::elsewhere,
            1 => Self::handle,
            1 => Self::let_go,
        }
    }

    fn new(things: &'a Things, t: &mut Turn) -> TurnResult<Option<Self>> {
        let drivers = &things.drivers;
        let (display, gl) = drivers.display(t, Vec::new())?;
        let backends = drivers.backends();
        let (blocks, doors, surfaces) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Some(Self { backends, drivers, display, gl, blocks, doors, surfaces, next: 0 }))
    }

    fn supply(&mut self, t: &mut Turn) -> TurnResult<bool> {
        match (self.blocks.len(), self.doors.len(), self.surfaces.len()) {
            (0..2, ..) => self.allocate(t)?,
            (_, doors, _) if doors < 4 || (doors < 9 && t.one_in(6)) => {
                if t.one_in(2) {
                    self.stage(t)?
                } else {
                    self.import(t)?
                }
            }
            (.., 0..3) => self.surface(t)?,
            _ => return Ok(true),
        }
        Ok(false)
    }
}

impl World<'_> {
    fn allocate(&mut self, t: &mut Turn) -> TurnResult {
        let bytes = if t.one_in(6) { hostile::bad_size(t) } else { hostile::size(t, 20 << 10) };
        t.op("host: allocate a block", format_args!("{bytes} bytes"));
        if let Ok(block) = t.end(HostBlock::allocate(bytes)) {
            hold!(block.len() >= bytes && bytes > 0, "{bytes} bytes gave {}", block.len());
            self.next += 1;
            self.blocks.push((block, self.next));
        }
        if self.blocks.len() > 4 {
            // Whoever took it keeps it alive.
            self.blocks.remove(0);
        }
        Ok(())
    }

    fn let_go(&mut self, t: &mut Turn) -> TurnResult {
        match t.below(4) {
            0 if !self.surfaces.is_empty() => {
                t.did("host: drop a surface", format_args!(""));
                t.take(&mut self.surfaces);
            }
            // A staging block that is forgotten keeps its pages.
            _ if !self.doors.is_empty() => {
                let (door, forget) = (t.take(&mut self.doors), t.one_in(24));
                t.gone(["host: drop memory or staging", "host: forget memory or staging"], door, forget);
            }
            _ => {}
        }
        Ok(())
    }
}
