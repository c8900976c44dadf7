//! An animated float image, converted to colours on the device.
//!
//! The first kernel writes R32F to memory that is never shown, and the second reads it and writes colours. Tone mapping
//! and the conversion to the shown format are part of that store, so they need no pass over memory.

mod kernels;

use super::open;
use crate::draw_args::DrawArgs;
use crate::pixels::Pixels;
use crate::scene::{FrameTarget, Scene, SceneError};
use kernels::{colours, waves};
use pixelferry::{
    Arg, AutoLink, ComputeMemory, DrawOptions, Extent, Kernel, KernelSource, LinkBuilder, PixelFormat, SurfaceDesc,
    Target,
};
use std::sync::Arc;

/// An animated float image in colours.
pub struct Plasma {
    link: AutoLink<Side>,
    extent: Extent,
    draw_options: DrawOptions,
}

/// A backend's kernels, and its memory for what the first one writes.
struct Side {
    field: Box<dyn ComputeMemory>,
    waves: Arc<dyn Kernel>,
    colours: Arc<dyn Kernel>,
}

impl Plasma {
    /// Its kernels.
    pub fn sources(pixels: Pixels) -> [KernelSource; 2] {
        [waves(), colours(pixels)]
    }

    /// A plasma of `width` x `height` pixels.
    pub fn new(wanted: LinkBuilder, (width, height): (u32, u32), pixels: Pixels) -> Result<Self, SceneError> {
        let image = pixels.image(width, height);
        let bytes = SurfaceDesc::image(width, height, PixelFormat::R32F).byte_len()?;
        let link =
            open(wanted, SurfaceDesc::Image(image), &Self::sources(pixels), move |backend, [waves, colours]| {
                Ok(Side { field: backend.allocate(bytes)?, waves, colours })
            })?;
        Ok(Self { link, extent: image.extent, draw_options: DrawArgs::default().draw_options() })
    }
}

impl Scene for Plasma {
    fn name(&self) -> &'static str {
        "plasma"
    }

    fn advance_in(&mut self, seconds: f32, place: &mut FrameTarget<'_>) -> Result<bool, SceneError> {
        let Self { link, extent, draw_options } = self;
        place.frame(link, *draw_options, |frame, Side { field, waves, colours }| {
            let target = Target::image(field.as_mut(), *extent, PixelFormat::R32F)?;
            frame.backend().launch(waves.as_ref(), target, &[Arg::F32(seconds)])?;
            frame.launch(colours.as_ref(), &[Arg::Memory(field.as_ref())])
        })?;
        Ok(true)
    }

    own_link!(drawn);
}
