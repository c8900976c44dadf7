//! Where the picture is computed and how it reaches the display: a link for kernels, a texture of the display's own
//! OpenGL for fragment shaders.

use crate::driver::Driver;
use crate::error::PlayError;
use crate::gl::{Gl, Texture};
use crate::input::FrameValues;
use crate::running_program::RunningProgram;
use crate::text::{Dialect, backend_for};
use pixelferry::api::gl::GlDisplay;
use pixelferry::{
    BackendChoice, DeviceIdentity, Display, DisplayChoice, Extent, Link, LinkBuilder, PixelFormat, Surface,
    SurfaceDesc, open_headless,
};
use std::any::Any;
use std::path::Path;
use std::rc::Rc;

pub enum Screen {
    /// Kernels write frames of a link.
    Kernels(Box<Link>),
    /// Fragment shaders draw in the display's context.
    Fragments(Box<Canvas>),
}

/// The texture that fragment shaders draw into, and its surface.
pub struct Canvas {
    // The surface is dropped before its texture.
    surface: Surface,
    texture: Texture,
    gl: Gl,
}

impl Canvas {
    fn new(gl: &Gl, size: Extent) -> Result<Self, PlayError> {
        let texture = gl.texture(size, false)?;
        Ok(Self { surface: texture.surface()?, texture, gl: gl.clone() })
    }
}

impl Screen {
    /// Opens the display, unless it is given, and the backend for a file.
    pub fn open(
        (file, backend): (&Path, BackendChoice),
        size: Extent,
        display: DisplayChoice,
        shown_by: Option<&Rc<dyn Display>>,
    ) -> Result<Self, PlayError> {
        if Dialect::of(file)?.is_of_fragments() {
            let gl = Gl::new(display_of_fragments(file, display, shown_by)?);
            return Ok(Self::Fragments(Box::new(Canvas::new(&gl, size)?)));
        }
        let builder = LinkBuilder::new(SurfaceDesc::image(size.width, size.height, PixelFormat::Rgba8));
        let builder = builder.backend(backend_for(file, backend)?);
        let builder = match shown_by {
            Some(display) => builder.shown_by(display),
            None => builder.display(display),
        };
        Ok(Self::Kernels(Box::new(builder.open()?.link)))
    }

    pub fn driver(&self) -> Driver {
        match self {
            Self::Kernels(link) => Driver::Kernels(link.backend().clone()),
            Self::Fragments(canvas) => Driver::Fragments(canvas.gl.clone()),
        }
    }

    pub fn device(&self) -> &DeviceIdentity {
        match self {
            Self::Kernels(link) => link.backend().device(),
            Self::Fragments(canvas) => canvas.gl.display().device(),
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
            Self::Fragments(canvas) => running.draw_picture(&canvas.texture, now),
        }
    }

    pub fn resize(&mut self, size: Extent) -> Result<(), PlayError> {
        match self {
            Self::Kernels(link) => link.resize(SurfaceDesc::image(size.width, size.height, PixelFormat::Rgba8))?,
            Self::Fragments(canvas) => **canvas = Canvas::new(&canvas.gl, size)?,
        }
        Ok(())
    }

    pub fn shown(&self) -> Result<&Surface, PlayError> {
        match self {
            Self::Kernels(link) => Ok(link.shown()?.surface()),
            Self::Fragments(canvas) => Ok(&canvas.surface),
        }
    }

    pub fn read_back(&mut self) -> Result<Vec<u8>, PlayError> {
        match self {
            Self::Kernels(link) => Ok(link.read_back()?),
            Self::Fragments(canvas) => canvas.texture.read_pixels(),
        }
    }
}

/// Returns the OpenGL display that draws fragment shaders: the window's, or one without a window.
fn display_of_fragments(
    file: &Path,
    choice: DisplayChoice,
    shown_by: Option<&Rc<dyn Display>>,
) -> Result<Rc<GlDisplay>, PlayError> {
    let text = format!("{} is a fragment shader, which only an OpenGL display draws", file.display());
    let other = || PlayError::Option(text);
    if let Some(display) = shown_by {
        return (Rc::clone(display) as Rc<dyn Any>).downcast().map_err(|_| other());
    }
    let opened = open_headless(if choice == DisplayChoice::Auto { DisplayChoice::Gl } else { choice });
    opened.map_err(|reason| PlayError::NoOpenGl { file: file.to_owned(), reason })?.gl().cloned().ok_or_else(other)
}
