//! A fluid: three jets of dye that meet, mix and roll up.
//!
//! The frame is written directly from the dye, which the simulation's own kernels keep in memory that is never shown.

mod cpu;
mod kernels;
mod simulation;
mod wgsl;

pub use simulation::{JACOBI_STEPS, MAX_CELLS, STEP, Simulation};

use super::open;
use crate::draw_args::DrawArgs;
use crate::pixels::Pixels;
use crate::scene::{FrameTarget, Scene, SceneError};
use kernels::{carry, divergence, dye, jacobi, jets, project, push};
use pixelferry::{Arg, AutoLink, DrawOptions, Extent, Kernel, KernelSource, LinkBuilder, SurfaceDesc};
use std::cell::OnceCell;
use std::sync::Arc;

/// Rows of cells if a GPU computes ...
const ON_HARDWARE: u32 = 720;
/// ... and if a CPU does, for a similar frame rate.
const ON_SOFTWARE: u32 = 180;

/// A fluid with three jets of dye.
pub struct Fluid {
    link: AutoLink<(Simulation, Arc<dyn Kernel>)>,
    /// Number of the next frame, from 0: it shows the fluid after so many steps.
    frame: u32,
    draw_options: DrawOptions,
}

impl Fluid {
    /// Its kernels: those of a step, in their order, and the one that makes the picture.
    pub fn sources(pixels: Pixels) -> [KernelSource; 7] {
        [jets(), push(), divergence(), jacobi(), project(), carry(), dye(pixels)]
    }

    /// A picture of `width` x `height` pixels. The cells are fewer where the first backend computes on a CPU; others get as many.
    pub fn new(wanted: LinkBuilder, (width, height): (u32, u32), pixels: Pixels) -> Result<Self, SceneError> {
        let (surface, cells) = (SurfaceDesc::Image(pixels.image(width, height)), OnceCell::new());
        let link = open(wanted, surface, &Self::sources(pixels), move |backend, [step @ .., dye]| {
            let cells = cells.get_or_init(|| {
                let most = if backend.device().software { ON_SOFTWARE } else { ON_HARDWARE };
                let rows = height.min(most).max(1);
                let columns = u64::from(width) * u64::from(rows) / u64::from(height.max(1));
                Extent::new(columns.clamp(1, u64::from(MAX_CELLS)) as u32, rows)
            });
            Ok((Simulation::new(Arc::clone(backend), *cells, step)?, dye))
        })?;
        let link = link.with_carry(|(from, _), (to, _)| to.go_on_from(from));
        Ok(Self { link, frame: 0, draw_options: DrawArgs::default().draw_options() })
    }
}

impl Scene for Fluid {
    fn name(&self) -> &'static str {
        "fluid"
    }

    fn about(&mut self) -> Option<String> {
        Some(format!("{} cells, {JACOBI_STEPS} Jacobi steps a frame", self.link.state().0.cells()))
    }

    fn advance_in(&mut self, _seconds: f32, place: &mut FrameTarget<'_>) -> Result<bool, SceneError> {
        let Self { link, frame: number, draw_options } = self;
        place.frame(link, *draw_options, |frame, (simulation, dye)| {
            simulation.advance_to(*number)?;
            let Extent { width, height } = simulation.cells();
            let args = [Arg::Memory(simulation.dye()), Arg::I32(width as i32), Arg::I32(height as i32)];
            frame.launch(dye.as_ref(), &args)
        })?;
        self.frame += 1;
        Ok(true)
    }

    own_link!(drawn);
}
