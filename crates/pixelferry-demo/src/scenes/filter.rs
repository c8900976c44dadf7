//! Filters a picture or video on the device.
//!
//! `gaussian` blurs in two passes through float memory, `sobel` shows the strength of edges, `edges` blurs first and
//! then finds edges. Video frames arrive as YUV planes and are converted to RGB on the device, too.

mod choice;
mod kernels;
mod stages;

pub use choice::Filter;

use crate::draw_args::DrawArgs;
use crate::scene::{Place, Scene, SceneError};
use crate::video::Video;
use pixelferry::api::gl::{DrawOptions, GlDisplay, Viewport};
use pixelferry::{
    ComputeBackend, Display, Encoding, Extent, ImageAccess, ImageDesc, KernelSource, Link, LinkOptions, PixelFormat,
    SurfaceDesc, Unwritten,
};
use stages::Stages;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Source of the frames.
enum Input {
    /// A picture, which is already on the device.
    Picture,
    /// A video, frame by frame from a file.
    Video(Box<Video>),
}

/// Filters a picture or video on the device.
pub struct FilterScene {
    link: Link,
    input: Input,
    stages: Stages,
    draw_options: DrawOptions,
}

/// Returns whether a file is read as a video.
pub fn is_video(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("y4m"))
}

impl FilterScene {
    /// Returns its kernels.
    pub fn sources() -> Vec<KernelSource> {
        kernels::all()
    }

    /// Reads the file and prepares the device.
    pub fn open(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        path: &Path,
        filter: Filter,
        options: LinkOptions,
    ) -> Result<Self, SceneError> {
        if is_video(path) {
            let video = Video::open(path)?;
            let stages = Stages::new(&backend, video.extent(), filter)?;
            return Self::new(backend, display, Input::Video(Box::new(video)), stages, options);
        }
        let picture = image::open(path).map_err(|source| SceneError::Picture { path: path.to_owned(), source })?;
        Self::of_picture(backend, display, picture, filter, options)
    }

    /// Uses the built-in picture of a lake.
    pub fn of_the_lake(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        filter: Filter,
        options: LinkOptions,
    ) -> Result<Self, SceneError> {
        const FILE: &str = "lake.jpg";
        let picture = image::load_from_memory(include_bytes!("../../assets/lake.jpg"))
            .map_err(|source| SceneError::Picture { path: FILE.into(), source })?;
        Self::of_picture(backend, display, picture, filter, options)
    }

    fn of_picture(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        picture: image::DynamicImage,
        filter: Filter,
        options: LinkOptions,
    ) -> Result<Self, SceneError> {
        let picture = picture.into_rgba8();
        let mut stages = Stages::new(&backend, Extent::new(picture.width(), picture.height()), filter)?;
        stages.source_mut().write(0, &picture)?;
        Self::new(backend, display, Input::Picture, stages, options)
    }

    fn new(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        input: Input,
        stages: Stages,
        options: LinkOptions,
    ) -> Result<Self, SceneError> {
        let Extent { width, height } = stages.extent();
        // Pictures and videos contain sRGB numbers, and the filters weigh them as such.
        let image = ImageDesc::new(width, height, PixelFormat::Rgba8);
        let image = image.with_access(ImageAccess::Any).with_encoding(Encoding::Srgb);
        // The last stage writes every pixel.
        let image = image.with_unwritten(Unwritten::Overwrite);
        let link = Link::open(backend, display, SurfaceDesc::Image(image), options)?;
        Ok(Self { link, input, stages, draw_options: DrawArgs::default().draw_options() })
    }

    /// Size of the picture or video.
    pub fn extent(&self) -> Extent {
        self.stages.extent()
    }
}

impl Scene for FilterScene {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn advance(&mut self, seconds: f32) -> Result<bool, SceneError> {
        self.advance_in(seconds, &mut Place::default())
    }

    fn advance_in(&mut self, _seconds: f32, place: &mut Place<'_>) -> Result<bool, SceneError> {
        let backend = Arc::clone(self.link.backend());
        if let Input::Video(video) = &mut self.input {
            let Some(frame) = video.next_frame()? else { return Ok(false) };
            self.stages.load_yuv(backend.as_ref(), &frame)?;
        }
        let Self { link, stages, draw_options, .. } = self;
        place.frame(link, *draw_options, |frame| stages.run(backend.as_ref(), frame))?;
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

    fn frames(&self) -> Option<u64> {
        match &self.input {
            Input::Picture => Some(1),
            Input::Video(video) => Some(video.frames()),
        }
    }

    fn status(&self) -> Option<String> {
        match &self.input {
            Input::Picture => None,
            Input::Video(video) => Some(format!("frame {} of {}", video.position(), video.frames())),
        }
    }
}
