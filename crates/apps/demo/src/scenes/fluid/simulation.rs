//! The fluid on the device, and its steps through time: Jos Stam, "Stable Fluids" (1999), without viscosity.

use super::cpu;
use pixelferry::{Arg, ComputeBackend, ComputeMemory, Error, Extent, Kernel, PixelFormat, Result, SurfaceDesc, Target};
use std::sync::Arc;

/// Duration of a step in seconds.
pub const STEP: f32 = 1.0 / 60.0;
/// Iterations of Jacobi's method for the pressure, per step.
pub const JACOBI_STEPS: u32 = 24;
/// Maximum number of cells in a row or column.
pub const MAX_CELLS: u32 = 4096;

const FLOW: PixelFormat = PixelFormat::Rgba32F;
const SCALAR: PixelFormat = PixelFormat::R32F;

/// Two memories: one is read, and the other is written next.
struct Pair {
    now: Box<dyn ComputeMemory>,
    next: Box<dyn ComputeMemory>,
}

impl Pair {
    fn new(backend: &dyn ComputeBackend, cells: Extent, format: PixelFormat) -> Result<Self> {
        Ok(Self { now: zeros(backend, cells, format)?, next: zeros(backend, cells, format)? })
    }

    fn swap(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
    }
}

/// A fluid between four walls, in memory of a backend: velocities in heights per second, dye as red, green and blue.
pub struct Simulation {
    backend: Arc<dyn ComputeBackend>,
    cells: Extent,
    steps: u32,
    flow: Pair,
    dye: Pair,
    pressure: Pair,
    divergence: Box<dyn ComputeMemory>,
    jets: Box<dyn ComputeMemory>,
    /// Kernels of a step, in their order.
    kernels: [Arc<dyn Kernel>; 6],
}

impl Simulation {
    /// A fluid at rest, of these kernels: `jets`, `push`, `divergence`, `jacobi`, `project` and `carry`.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for no cells, or more than [`MAX_CELLS`] in a row or column.
    pub fn new(backend: Arc<dyn ComputeBackend>, cells: Extent, kernels: [Arc<dyn Kernel>; 6]) -> Result<Self> {
        if cells.width.min(cells.height) == 0 || cells.width.max(cells.height) > MAX_CELLS {
            let problem = format!("{cells} cells are out of range; give 1 to {MAX_CELLS} in each direction");
            return Err(Error::invalid("fluid", problem));
        }
        let on = backend.as_ref();
        Ok(Self {
            cells,
            steps: 0,
            flow: Pair::new(on, cells, FLOW)?,
            dye: Pair::new(on, cells, FLOW)?,
            pressure: Pair::new(on, cells, SCALAR)?,
            divergence: zeros(on, cells, SCALAR)?,
            jets: on.allocate(cpu::JETS * size_of::<[f32; 4]>())?,
            kernels,
            backend,
        })
    }

    /// Columns and rows of cells.
    pub fn cells(&self) -> Extent {
        self.cells
    }

    /// The dye: four floats per cell, the last unused.
    pub fn dye(&self) -> &dyn ComputeMemory {
        self.dye.now.as_ref()
    }

    /// Takes steps until so many are done since the start. A frame that is computed again takes none.
    pub fn advance_to(&mut self, steps: u32) -> Result<()> {
        while self.steps < steps {
            self.step()?;
        }
        Ok(())
    }

    /// Copies the state of another fluid with as many cells, on any backend. Slow.
    pub fn go_on_from(&mut self, other: &mut Self) -> Result<()> {
        let Self { flow, dye, pressure, .. } = self;
        for (from, to) in [(&mut other.flow, flow), (&mut other.dye, dye), (&mut other.pressure, pressure)] {
            let mut bytes = vec![0; from.now.len()];
            from.now.read(0, &mut bytes)?;
            to.now.write(0, &bytes)?;
        }
        self.steps = other.steps;
        Ok(())
    }

    /// Goes on by one [`STEP`]. A step that fails half way leaves a fluid that is still one.
    pub fn step(&mut self) -> Result<()> {
        let Self { backend, cells, flow, dye, pressure, divergence, jets, kernels, .. } = self;
        let [place_jets, push, diverge, jacobi, project, carry] = kernels;
        let run = |kernel: &Arc<dyn Kernel>, to: &mut Box<dyn ComputeMemory>, format, args: &[Arg<'_>]| {
            backend.launch(kernel.as_ref(), Target::image(to.as_mut(), *cells, format)?, args)
        };
        let place = [Arg::F32(cells.width as f32 / cells.height as f32), Arg::F32(self.steps as f32 * STEP)];
        backend.launch(place_jets.as_ref(), Target::buffer(jets.as_mut()), &place)?;
        let args = [Arg::Memory(flow.now.as_ref()), Arg::Memory(jets.as_ref()), Arg::F32(STEP)];
        run(push, &mut flow.next, FLOW, &args)?;
        flow.swap();
        run(diverge, divergence, SCALAR, &[Arg::Memory(flow.now.as_ref())])?;
        // From the pressure of the step before, which is near.
        for _ in 0..JACOBI_STEPS {
            let args = [Arg::Memory(pressure.now.as_ref()), Arg::Memory(divergence.as_ref())];
            run(jacobi, &mut pressure.next, SCALAR, &args)?;
            pressure.swap();
        }
        let args = [Arg::Memory(flow.now.as_ref()), Arg::Memory(pressure.now.as_ref())];
        run(project, &mut flow.next, FLOW, &args)?;
        flow.swap();
        let args =
            [Arg::Memory(dye.now.as_ref()), Arg::Memory(flow.now.as_ref()), Arg::Memory(jets.as_ref()), Arg::F32(STEP)];
        run(carry, &mut dye.next, FLOW, &args)?;
        dye.swap();
        self.steps += 1;
        Ok(())
    }

    /// Reads the velocities (x, y, unused, unused) of all cells, in heights per second. Slow; for measuring.
    pub fn read_flow(&mut self) -> Result<Vec<[f32; 4]>> {
        let mut bytes = vec![0; self.flow.now.len()];
        self.flow.now.read(0, &mut bytes)?;
        let number = |b: &[u8]| f32::from_ne_bytes([b[0], b[1], b[2], b[3]]);
        Ok(bytes.chunks_exact(16).map(|c| [number(c), number(&c[4..]), number(&c[8..]), number(&c[12..])]).collect())
    }
}

fn zeros(backend: &dyn ComputeBackend, cells: Extent, format: PixelFormat) -> Result<Box<dyn ComputeMemory>> {
    let bytes = SurfaceDesc::image(cells.width, cells.height, format).byte_len()?;
    let mut memory = backend.allocate(bytes)?;
    memory.write(0, &vec![0; bytes])?;
    Ok(memory)
}
