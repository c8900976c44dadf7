//! The bodies on the device and their way through time.

use super::galaxies::{Bodies, collision};
use super::kernels::{SOFTENING, drift, kick, vertices};
use pixelferry::{Arg, ComputeBackend, ComputeMemory, Error, Kernel, Result, Target, WriteFrame};
use std::sync::Arc;

/// Most bodies: a step works through their square.
pub const MAX_BODIES: u32 = 1 << 20;
/// Time of one step; the fastest bodies go round their core in about 30.
pub const STEP: f32 = 0.012;

/// Bodies under their own gravity, in memory of a backend. Leapfrog: velocities are half a step ahead of the places,
/// which keeps the energy near its first value however long it runs.
pub struct Simulation {
    backend: Arc<dyn ComputeBackend>,
    count: u32,
    bodies: Box<dyn ComputeMemory>,
    velocities: Box<dyn ComputeMemory>,
    kick: Arc<dyn Kernel>,
    drift: Arc<dyn Kernel>,
    vertices: Arc<dyn Kernel>,
}

impl Simulation {
    /// Two galaxies of `count` bodies together.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for no bodies or more than [`MAX_BODIES`].
    pub fn new(backend: Arc<dyn ComputeBackend>, count: u32) -> Result<Self> {
        if !(1..=MAX_BODIES).contains(&count) {
            return Err(Error::invalid("nbody", format!("{count} bodies were asked for; give 1 to {MAX_BODIES}")));
        }
        let start = collision(count);
        let mut simulation = Self {
            count,
            bodies: upload(backend.as_ref(), &start.bodies)?,
            velocities: upload(backend.as_ref(), &start.velocities)?,
            kick: backend.build(&kick(count))?,
            drift: backend.build(&drift(count))?,
            vertices: backend.build(&vertices(count))?,
            backend,
        };
        simulation.pull(0.5 * STEP)?;
        Ok(simulation)
    }

    /// Number of bodies.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Goes on by one [`STEP`].
    pub fn step(&mut self) -> Result<()> {
        let moved = Target::buffer(self.bodies.as_mut());
        self.backend.launch(self.drift.as_ref(), moved, &[Arg::Memory(self.velocities.as_ref()), Arg::F32(STEP)])?;
        self.pull(STEP)
    }

    fn pull(&mut self, time: f32) -> Result<()> {
        let pulled = Target::buffer(self.velocities.as_mut());
        let args = [Arg::Memory(self.bodies.as_ref()), Arg::F32(time), Arg::F32(SOFTENING)];
        self.backend.launch(self.kick.as_ref(), pulled, &args)
    }

    /// Writes all vertices of the frame: place and speed of each body.
    pub fn show(&self, frame: &mut WriteFrame<'_>) -> Result<()> {
        let args = [Arg::Memory(self.bodies.as_ref()), Arg::Memory(self.velocities.as_ref())];
        frame.launch(self.vertices.as_ref(), &args)
    }

    /// The bodies now, with the velocities at the time of the places. Slow; for measuring.
    pub fn read(&mut self) -> Result<Bodies> {
        self.pull(-0.5 * STEP)?;
        let now = Bodies { bodies: download(self.bodies.as_mut())?, velocities: download(self.velocities.as_mut())? };
        self.pull(0.5 * STEP)?;
        Ok(now)
    }
}

fn upload(backend: &dyn ComputeBackend, values: &[[f32; 4]]) -> Result<Box<dyn ComputeMemory>> {
    let bytes: Vec<u8> = values.as_flattened().iter().flat_map(|v| v.to_ne_bytes()).collect();
    let mut memory = backend.allocate(bytes.len())?;
    memory.write(0, &bytes)?;
    Ok(memory)
}

fn download(memory: &mut dyn ComputeMemory) -> Result<Vec<[f32; 4]>> {
    let mut bytes = vec![0; memory.len()];
    memory.read(0, &mut bytes)?;
    let number = |b: &[u8]| f32::from_ne_bytes([b[0], b[1], b[2], b[3]]);
    let item = |b: &[u8]| [number(b), number(&b[4..]), number(&b[8..]), number(&b[12..])];
    Ok(bytes.chunks_exact(16).map(item).collect())
}
