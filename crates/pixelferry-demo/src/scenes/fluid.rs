//! A fluid: three jets of dye that meet, mix and roll up.
//!
//! The frame is written directly from the dye, which the simulation's own kernels keep in memory that is never shown.

mod cpu;
mod kernels;
mod simulation;
mod wgsl;

pub use simulation::{JACOBI_STEPS, MAX_CELLS, STEP, Simulation};

use crate::draw_args::DrawArgs;
use crate::pixels::Pixels;
use crate::scene::{Place, Scene, SceneError};
use pixelferry::api::gl::{DrawOptions, GlDisplay, Viewport};
use pixelferry::{Arg, ComputeBackend, Display, Extent, Kernel, KernelSource, Link, LinkOptions, SurfaceDesc};
use std::rc::Rc;
use std::sync::Arc;

/// Rows of cells if a GPU computes ...
const ON_HARDWARE: u32 = 720;
/// ... and if a CPU does, for a similar frame rate.
const ON_SOFTWARE: u32 = 180;

/// A fluid with three jets of dye.
pub struct Fluid {
    link: Link,
    simulation: Simulation,
    dye: Arc<dyn Kernel>,
    draw_options: DrawOptions,
}

impl Fluid {
    /// Returns its kernels.
    pub fn sources(pixels: Pixels) -> Vec<KernelSource> {
        let mut all = kernels::of_a_step();
        all.push(kernels::dye(pixels));
        all
    }

    /// A picture of `width` x `height` pixels; if a CPU computes, there are fewer cells.
    pub fn new(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        (width, height): (u32, u32),
        pixels: Pixels,
        options: LinkOptions,
    ) -> Result<Self, SceneError> {
        let rows = height.min(if backend.device().software { ON_SOFTWARE } else { ON_HARDWARE }).max(1);
        let columns = (u64::from(width) * u64::from(rows) / u64::from(height.max(1))).clamp(1, u64::from(MAX_CELLS));
        let simulation = Simulation::new(Arc::clone(&backend), Extent::new(columns as u32, rows))?;
        let dye = backend.build(&kernels::dye(pixels))?;
        let link = Link::open(backend, display, SurfaceDesc::Image(pixels.image(width, height)), options)?;
        Ok(Self { link, simulation, dye, draw_options: DrawArgs::default().draw_options() })
    }
}

impl Scene for Fluid {
    fn name(&self) -> &'static str {
        "fluid"
    }

    fn about(&self) -> Option<String> {
        Some(format!("{} cells, {JACOBI_STEPS} Jacobi steps a frame", self.simulation.cells()))
    }

    fn advance(&mut self, seconds: f32) -> Result<bool, SceneError> {
        self.advance_in(seconds, &mut Place::default())
    }

    fn advance_in(&mut self, _seconds: f32, place: &mut Place<'_>) -> Result<bool, SceneError> {
        let Self { link, simulation, dye, draw_options } = self;
        let Extent { width, height } = simulation.cells();
        let args = [Arg::Memory(simulation.dye()), Arg::I32(width as i32), Arg::I32(height as i32)];
        place.frame(link, *draw_options, |frame| frame.launch(dye.as_ref(), &args))?;
        // Step after the frame: the next step and the drawing of this frame need not wait for each other.
        simulation.step()?;
        Ok(true)
    }

    fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    fn draw(&mut self, gl: &GlDisplay, viewport: Viewport) -> Result<(), SceneError> {
        Ok(gl.draw(self.link.shown()?.surface(), viewport, self.draw_options)?)
    }

    fn draw_options(&mut self) -> Option<&mut DrawOptions> {
        Some(&mut self.draw_options)
    }
}
