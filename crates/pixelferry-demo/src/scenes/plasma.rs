//! An animated float image, converted to colours on the device.
//!
//! The first kernel writes R32F to memory that is never shown, and the second reads it and writes colours. Tone mapping
//! and the conversion to the shown format are part of that store, so they need no pass over memory.

mod kernels;

use crate::draw_args::DrawArgs;
use crate::pixels::Pixels;
use crate::scene::{Place, Scene, SceneError};
use kernels::{colours, waves};
use pixelferry::api::gl::{DrawOptions, GlDisplay, Viewport};
use pixelferry::{
    Arg, ComputeBackend, ComputeMemory, Display, Extent, Kernel, KernelSource, Link, LinkOptions, PixelFormat,
    SurfaceDesc, Target,
};
use std::rc::Rc;
use std::sync::Arc;

/// An animated float image in colours.
pub struct Plasma {
    link: Link,
    field: Box<dyn ComputeMemory>,
    extent: Extent,
    waves: Arc<dyn Kernel>,
    colours: Arc<dyn Kernel>,
    draw_options: DrawOptions,
}

impl Plasma {
    /// Returns its kernels.
    pub fn sources(pixels: Pixels) -> Vec<KernelSource> {
        vec![waves(), colours(pixels)]
    }

    /// A plasma of `width` x `height` pixels.
    pub fn new(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        (width, height): (u32, u32),
        pixels: Pixels,
        options: LinkOptions,
    ) -> Result<Self, SceneError> {
        let image = pixels.image(width, height);
        let field = backend.allocate(SurfaceDesc::image(width, height, PixelFormat::R32F).byte_len()?)?;
        let (waves, colours) = (backend.build(&waves())?, backend.build(&colours(pixels))?);
        let link = Link::open(backend, display, SurfaceDesc::Image(image), options)?;
        let draw_options = DrawArgs::default().draw_options();
        Ok(Self { link, field, extent: image.extent, waves, colours, draw_options })
    }
}

impl Scene for Plasma {
    fn name(&self) -> &'static str {
        "plasma"
    }

    fn advance(&mut self, seconds: f32) -> Result<bool, SceneError> {
        self.advance_in(seconds, &mut Place::default())
    }

    fn advance_in(&mut self, seconds: f32, place: &mut Place<'_>) -> Result<bool, SceneError> {
        let Self { link, field, extent, waves, colours, draw_options } = self;
        place.frame(link, *draw_options, |frame| {
            let target = Target::image(field.as_mut(), *extent, PixelFormat::R32F)?;
            frame.backend().launch(waves.as_ref(), target, &[Arg::F32(seconds)])?;
            frame.launch(colours.as_ref(), &[Arg::Memory(field.as_ref())])
        })?;
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
