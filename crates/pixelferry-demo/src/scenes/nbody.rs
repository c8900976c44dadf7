//! Gravity between all pairs of bodies: two galaxies that meet, computed straight into an OpenGL vertex buffer.
//!
//! Three kernels: two move the bodies, in memory that is never shown; the third writes the vertices of the frame.

mod cloud;
mod galaxies;
mod kernels;
mod simulation;

pub use galaxies::Bodies;
pub use kernels::SOFTENING;
pub use simulation::{MAX_BODIES, STEP, Simulation};

use crate::scene::{Scene, SceneError};
use cloud::Cloud;
use pixelferry::api::gl::{GlDisplay, Viewport};
use pixelferry::{ComputeBackend, Display, KernelSource, Link, LinkOptions, SurfaceDesc, Unwritten};
use std::rc::Rc;
use std::sync::Arc;

/// Bodies where nothing else was asked for, on a GPU ...
const ON_HARDWARE: u32 = 65_536;
/// ... and on a CPU, which does about a thousandth of the pairs in the same time.
const ON_SOFTWARE: u32 = 4_096;

/// Two galaxies that meet.
pub struct NBody {
    link: Link,
    simulation: Simulation,
    chosen: &'static str,
    cloud: Option<Cloud>,
    seconds: f32,
}

impl NBody {
    /// Its kernels.
    pub fn sources() -> Vec<KernelSource> {
        kernels::all(ON_HARDWARE)
    }

    /// Creates a scene of so many bodies; `None` is 65 536 if a GPU computes, else 4 096.
    ///
    /// # Errors
    /// [`pixelferry::Error::InvalidInput`] for no bodies or more than [`MAX_BODIES`].
    pub fn new(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        bodies: Option<u32>,
        options: LinkOptions,
    ) -> Result<Self, SceneError> {
        let (count, chosen) = match bodies {
            Some(count) => (count, "as asked for"),
            None if backend.device().software => (ON_SOFTWARE, "fewer, as a CPU computes; more by --bodies"),
            None => (ON_HARDWARE, "more or fewer by --bodies"),
        };
        let simulation = Simulation::new(Arc::clone(&backend), count)?;
        let bytes = u64::from(count) * size_of::<[f32; 4]>() as u64;
        // The kernel writes every vertex.
        let vertices = SurfaceDesc::buffer(bytes).with_unwritten(Unwritten::Overwrite);
        let link = Link::open(backend, display, vertices, options)?;
        Ok(Self { link, simulation, chosen, cloud: None, seconds: 0.0 })
    }
}

impl Scene for NBody {
    fn name(&self) -> &'static str {
        "nbody"
    }

    fn about(&self) -> Option<String> {
        Some(format!("{} bodies ({})", self.simulation.count(), self.chosen))
    }

    fn advance(&mut self, seconds: f32) -> Result<bool, SceneError> {
        self.seconds = seconds;
        let Self { link, simulation, .. } = self;
        link.frame(|frame| simulation.show(frame))?;
        // After the frame: the bodies' next step and the drawing of this one need not wait for each other.
        self.simulation.step()?;
        Ok(true)
    }

    fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    fn draw(&mut self, gl: &GlDisplay, viewport: Viewport) -> Result<(), SceneError> {
        let shown = self.link.shown()?;
        let buffer = gl.surface_buffer(shown.surface())?;
        let cloud = match &self.cloud {
            Some(cloud) => cloud,
            None => self.cloud.insert(Cloud::new(gl)?),
        };
        Ok(gl.timed("points", || cloud.draw(viewport, buffer, self.simulation.count(), self.seconds))?)
    }
}
