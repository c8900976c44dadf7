//! The scenes by name.

use clap::ValueEnum;
use pixelferry::{ComputeBackend, Display, KernelSource, LinkOptions};
use pixelferry_demo::pixels::Pixels;
use pixelferry_demo::scenes::filter::{Filter, FilterScene};
use pixelferry_demo::scenes::fluid::Fluid;
use pixelferry_demo::scenes::plasma::Plasma;
use pixelferry_demo::scenes::sine::Sine;
use pixelferry_demo::{Scene, SceneError};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SceneName {
    /// An animated float image, coloured on the device.
    #[default]
    Plasma,
    /// A line of 10 000 points in a vertex buffer; needs OpenGL.
    Sine,
    /// Edges of a picture or video.
    Filter,
    /// Jets of dye in a fluid that they stir.
    Fluid,
}

/// Everything that a scene is made from.
#[derive(Clone)]
pub struct Recipe {
    pub scene: SceneName,
    /// Size of the picture in pixels, for scenes whose size is free.
    pub size: (u32, u32),
    pub filter: Filter,
    /// Storage format of pixels, for scenes whose format is free.
    pub pixels: Pixels,
    pub link: LinkOptions,
}

impl Recipe {
    /// Returns the kernels that a backend must be able to build.
    pub fn kernels(&self) -> Vec<KernelSource> {
        match self.scene {
            SceneName::Plasma => Plasma::sources(self.pixels),
            SceneName::Sine => Sine::sources(),
            SceneName::Filter => FilterScene::sources(),
            SceneName::Fluid => Fluid::sources(self.pixels),
        }
    }

    /// Makes the scene. Only the filter uses `input`.
    pub fn make(
        self,
        input: Option<&Path>,
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
    ) -> Result<Box<dyn Scene>, SceneError> {
        let Self { scene, size, filter, pixels, link } = self;
        Ok(match (scene, input) {
            (SceneName::Plasma, _) => Box::new(Plasma::new(backend, display, size, pixels, link)?),
            (SceneName::Sine, _) => Box::new(Sine::new(backend, display, link)?),
            (SceneName::Filter, Some(file)) => Box::new(FilterScene::open(backend, display, file, filter, link)?),
            (SceneName::Filter, None) => Box::new(FilterScene::of_the_lake(backend, display, filter, link)?),
            (SceneName::Fluid, _) => Box::new(Fluid::new(backend, display, size, pixels, link)?),
        })
    }
}
