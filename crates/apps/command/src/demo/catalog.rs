//! The scenes by name.

use clap::ValueEnum;
use pixelferry::LinkBuilder;
use pixelferry_demo::pixels::Pixels;
use pixelferry_demo::scenes::filter::{Filter, FilterScene};
use pixelferry_demo::scenes::fluid::Fluid;
use pixelferry_demo::scenes::plasma::Plasma;
use pixelferry_demo::scenes::sine::Sine;
use pixelferry_demo::{Scene, SceneError};
use std::path::Path;

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
}

impl Recipe {
    /// Makes the scene. `input` is for the filter.
    pub fn make(self, input: Option<&Path>, wanted: LinkBuilder) -> Result<Box<dyn Scene>, SceneError> {
        let Self { scene, size, filter, pixels } = self;
        Ok(match (scene, input) {
            (SceneName::Plasma, _) => Box::new(Plasma::new(wanted, size, pixels)?),
            (SceneName::Sine, _) => Box::new(Sine::new(wanted)?),
            (SceneName::Filter, Some(file)) => Box::new(FilterScene::open(wanted, file, filter)?),
            (SceneName::Filter, None) => Box::new(FilterScene::of_the_lake(wanted, filter)?),
            (SceneName::Fluid, _) => Box::new(Fluid::new(wanted, size, pixels)?),
        })
    }
}
