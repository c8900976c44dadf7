//! An animated float image, turned into colours on the device.
//!
//! Two kernels: the first writes R32F into memory that is never shown, the second reads it and writes colours. Tone
//! mapping and the conversion to the shown format are part of that one store: no pass over memory is theirs alone.

mod kernels;

use crate::scene::{Scene, SceneError, filter_for};
use kernels::{colours, waves};
use pixelferry::gl::{DrawOptions, GlDisplay, Viewport};
use pixelferry::{
    Arg, ComputeBackend, ComputeMemory, Display, Encoding, Extent, ImageAccess, ImageDesc, Kernel, KernelSource, Link,
    LinkOptions, PixelFormat, SurfaceDesc, Target,
};
use std::rc::Rc;
use std::sync::Arc;

/// From the colours to what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Tone {
    /// As they are.
    #[default]
    None,
    /// Linear light, clipped and encoded by the sRGB curve.
    Srgb,
    /// Linear light through Reinhard's tone map, then encoded.
    Reinhard,
    /// Linear light through the ACES film curve, then encoded.
    Aces,
    /// Linear light, for the draw to expose, map and encode.
    Light,
}

/// How a pixel is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// Four channels of 8 bits.
    #[default]
    Rgba8,
    /// Four channels of binary16.
    Rgba16f,
}

impl Format {
    /// As surfaces name it.
    pub fn pixel_format(self) -> PixelFormat {
        match self {
            Self::Rgba8 => PixelFormat::Rgba8,
            Self::Rgba16f => PixelFormat::Rgba16F,
        }
    }
}

/// See the module.
pub struct Plasma {
    link: Link,
    field: Box<dyn ComputeMemory>,
    extent: Extent,
    waves: Arc<dyn Kernel>,
    colours: Arc<dyn Kernel>,
    look: DrawOptions,
}

impl Plasma {
    /// Its kernels.
    pub fn sources(tone: Tone, format: Format) -> Vec<KernelSource> {
        vec![waves(), colours(tone, format)]
    }

    /// A plasma of `width` x `height` pixels.
    pub fn new(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        (width, height): (u32, u32),
        (tone, format): (Tone, Format),
        options: LinkOptions,
    ) -> Result<Self, SceneError> {
        let encoding = match tone {
            Tone::None => Encoding::Unmanaged,
            Tone::Srgb | Tone::Reinhard | Tone::Aces => Encoding::Srgb,
            Tone::Light => Encoding::Linear,
        };
        let image = ImageDesc::new(width, height, format.pixel_format());
        let image = image.with_access(ImageAccess::Any).with_encoding(encoding);
        let field = backend.allocate(SurfaceDesc::image(width, height, PixelFormat::R32F).byte_len("plasma")?)?;
        let (waves, colours) = (backend.build(&waves())?, backend.build(&colours(tone, format))?);
        let link = Link::open(backend, display, SurfaceDesc::Image(image), options)?;
        Ok(Self { link, field, extent: image.extent, waves, colours, look: DrawOptions::default() })
    }

    /// The same shown like this.
    pub fn with_look(self, look: DrawOptions) -> Self {
        Self { look, ..self }
    }
}

impl Scene for Plasma {
    fn name(&self) -> &'static str {
        "plasma"
    }

    fn advance(&mut self, seconds: f32) -> Result<bool, SceneError> {
        let Self { link, field, extent, waves, colours, .. } = self;
        link.frame(|frame| {
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
        let shown = self.link.shown()?;
        let options = DrawOptions { filter: filter_for(shown.desc(), viewport), ..self.look };
        Ok(gl.draw(shown.surface(), viewport, options)?)
    }

    fn look(&self) -> DrawOptions {
        self.look
    }
}
