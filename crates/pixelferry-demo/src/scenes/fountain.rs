//! Particles: a fountain whose drops rise, fall, slide on the ground and begin anew, computed into a vertex buffer.
//!
//! Where a drop is follows from its number and the time alone. There is no state that a frame changes, so a frame that is
//! computed once more, as [`Link::frame`] does where a path fails, is the same frame.

mod drops;
mod kernel;

use crate::scene::{Scene, SceneError};
use drops::Drops;
use kernel::source;
use pixelferry::api::gl::{GlDisplay, Viewport};
use pixelferry::{
    Arg, ComputeBackend, Display, Error, Kernel, KernelSource, Link, LinkOptions, SurfaceDesc, Unwritten,
};
use std::rc::Rc;
use std::sync::Arc;

/// Most drops.
pub const MAX_DROPS: u32 = 1 << 24;

/// A fountain of drops.
pub struct Fountain {
    link: Link,
    kernel: Arc<dyn Kernel>,
    count: u32,
    drops: Option<Drops>,
}

impl Fountain {
    /// Its kernels.
    pub fn sources(drops: u32) -> Vec<KernelSource> {
        vec![source(drops)]
    }

    /// Creates a fountain of so many drops.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for none or more than [`MAX_DROPS`].
    pub fn new(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        drops: u32,
        options: LinkOptions,
    ) -> Result<Self, SceneError> {
        if !(1..=MAX_DROPS).contains(&drops) {
            let problem = format!("{drops} drops were asked for; give 1 to {MAX_DROPS}");
            return Err(Error::invalid("fountain", problem).into());
        }
        let kernel = backend.build(&source(drops))?;
        let bytes = u64::from(drops) * size_of::<[f32; 4]>() as u64;
        // The kernel writes every vertex.
        let vertices = SurfaceDesc::buffer(bytes).with_unwritten(Unwritten::Overwrite);
        let link = Link::open(backend, display, vertices, options)?;
        Ok(Self { link, kernel, count: drops, drops: None })
    }
}

impl Scene for Fountain {
    fn name(&self) -> &'static str {
        "fountain"
    }

    fn about(&self) -> Option<String> {
        Some(format!("{} drops", self.count))
    }

    fn advance(&mut self, seconds: f32) -> Result<bool, SceneError> {
        let Self { link, kernel, .. } = self;
        link.frame(|frame| frame.launch(kernel.as_ref(), &[Arg::F32(seconds)]))?;
        Ok(true)
    }

    fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    fn draw(&mut self, gl: &GlDisplay, viewport: Viewport) -> Result<(), SceneError> {
        let shown = self.link.shown()?;
        let buffer = gl.surface_buffer(shown.surface())?;
        let drops = match &self.drops {
            Some(drops) => drops,
            None => self.drops.insert(Drops::new(gl)?),
        };
        Ok(gl.timed("drops", || drops.draw(viewport, buffer, self.count))?)
    }
}
