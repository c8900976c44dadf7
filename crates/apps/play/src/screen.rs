//! Where the picture is computed and how it reaches the display: by a link for kernels, as a texture of the display's own
//! OpenGL for fragment shaders.

use crate::dialect::{Dialect, backend_for};
use crate::driver::Driver;
use crate::error::PlayError;
use crate::gl::{Gl, Texture};
use crate::input::FrameValues;
use crate::running_program::RunningProgram;
use pixelferry::api::gl::GlDisplay;
use pixelferry::{
    BackendChoice, DeviceIdentity, Display, DisplayChoice, Extent, Link, LinkBuilder, PixelFormat, Surface,
    SurfaceDesc, open_headless,
};
use std::any::Any;
use std::path::Path;
use std::sync::Arc;

pub enum Screen {
    /// Kernels write frames of a link.
    Kernels(Box<Link>),
    /// Fragment shaders draw into a texture of the display's context.
    Fragments(Box<Texture>),
}

impl Screen {
    /// Opens the display, unless it is given, and the backend for a file.
    pub fn open(
        (file, backend): (&Path, BackendChoice),
        size: Extent,
        display: DisplayChoice,
        shown_by: Option<&Arc<dyn Display>>,
    ) -> Result<Self, PlayError> {
        if Dialect::of(file)?.is_of_fragments() {
            let text = format!("{} is a fragment shader, which only an OpenGL display draws", file.display());
            let other = || PlayError::Option(text);
            let gl: Arc<GlDisplay> = match shown_by {
                Some(display) => (Arc::clone(display) as Arc<dyn Any + Send + Sync>).downcast().map_err(|_| other())?,
                None => {
                    let choice = if display == DisplayChoice::Auto { DisplayChoice::Gl } else { display };
                    let no_gl = |reason| PlayError::NoOpenGl { file: file.to_owned(), reason };
                    open_headless(choice).map_err(no_gl)?.gl().cloned().ok_or_else(other)?
                }
            };
            return Ok(Self::Fragments(Box::new(Gl(gl).texture(size, false)?)));
        }
        let builder = LinkBuilder::new(SurfaceDesc::image(size.width, size.height, PixelFormat::Rgba8));
        let mut builder = builder.backend(backend_for(file, backend)?).display(display);
        if let Some(display) = shown_by {
            builder = builder.shown_by(display);
        }
        Ok(Self::Kernels(Box::new(builder.open()?.link)))
    }

    pub fn driver(&self) -> Driver {
        match self {
            Self::Kernels(link) => Driver::Kernels(link.backend().clone()),
            Self::Fragments(texture) => Driver::Fragments(texture.gl.clone()),
        }
    }

    pub fn device(&self) -> &DeviceIdentity {
        match self {
            Self::Kernels(link) => link.backend().device(),
            Self::Fragments(texture) => texture.gl.0.device(),
        }
    }

    /// Computes a frame of a program.
    pub fn frame(&mut self, running: &mut RunningProgram, now: FrameValues<'_>) -> Result<(), PlayError> {
        running.compute_buffers(now)?;
        match self {
            Self::Kernels(link) => {
                Ok(link
                    .frame(|next| running.compute_picture(now, |kernel, arguments| next.launch(kernel, arguments)))?)
            }
            Self::Fragments(texture) => running.draw_picture(texture, now),
        }
    }

    pub fn resize(&mut self, size: Extent) -> Result<(), PlayError> {
        match self {
            Self::Kernels(link) => link.resize(SurfaceDesc::image(size.width, size.height, PixelFormat::Rgba8))?,
            Self::Fragments(texture) => **texture = texture.gl.texture(size, false)?,
        }
        Ok(())
    }

    pub fn shown(&self) -> Result<&Surface, PlayError> {
        match self {
            Self::Kernels(link) => Ok(link.shown()?.surface()),
            Self::Fragments(texture) => Ok(&texture.surface),
        }
    }

    pub fn read_back(&mut self) -> Result<Vec<u8>, PlayError> {
        match self {
            Self::Kernels(link) => Ok(link.read_back()?),
            Self::Fragments(texture) => texture.read_pixels(),
        }
    }
}
