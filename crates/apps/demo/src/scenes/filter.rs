//! Filters a picture or video on the device.
//!
//! `gaussian` blurs in two passes through float memory, `sobel` shows the strength of edges, `edges` blurs first and
//! then finds edges. Video frames arrive as YUV planes and are converted to RGB on the device, too.

mod choice;
mod kernels;
mod stages;

pub use choice::Filter;

use super::open;
use crate::draw_args::DrawArgs;
use crate::scene::{FrameTarget, Scene, SceneError};
use crate::video::Video;
use image::DynamicImage;
use pixelferry::{
    AutoLink, DrawOptions, Encoding, Extent, ImageAccess, ImageDesc, KernelSource, LinkBuilder, PixelFormat,
    SurfaceDesc, Unwritten,
};
use stages::Stages;
use std::path::Path;

/// Filters a picture or video on the device.
pub struct FilterScene {
    link: AutoLink<Stages>,
    /// `None` for a picture, which each backend gets once.
    video: Option<Video>,
    draw_options: DrawOptions,
}

/// Returns whether a file is read as a video.
pub fn is_video(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("y4m"))
}

impl FilterScene {
    /// Its kernels.
    pub fn sources() -> [KernelSource; 4] {
        kernels::all()
    }

    /// Reads the file and prepares the device.
    pub fn open(wanted: LinkBuilder, path: &Path, filter: Filter) -> Result<Self, SceneError> {
        if is_video(path) {
            let video = Video::open(path)?;
            return Self::new(wanted, (video.extent(), Vec::new()), Some(video), filter);
        }
        let picture = image::open(path).map_err(|source| SceneError::Picture { path: path.to_owned(), source })?;
        Self::of_picture(wanted, picture, filter)
    }

    /// The picture of a lake that comes with the program.
    pub fn of_the_lake(wanted: LinkBuilder, filter: Filter) -> Result<Self, SceneError> {
        const FILE: &str = "lake.jpg";
        let picture = image::load_from_memory(include_bytes!("../../assets/lake.jpg"))
            .map_err(|source| SceneError::Picture { path: FILE.into(), source })?;
        Self::of_picture(wanted, picture, filter)
    }

    fn of_picture(wanted: LinkBuilder, picture: DynamicImage, filter: Filter) -> Result<Self, SceneError> {
        let picture = picture.into_rgba8();
        let extent = Extent::new(picture.width(), picture.height());
        Self::new(wanted, (extent, picture.into_raw()), None, filter)
    }

    /// `pixels` are empty for a video.
    fn new(
        wanted: LinkBuilder,
        (extent, pixels): (Extent, Vec<u8>),
        video: Option<Video>,
        filter: Filter,
    ) -> Result<Self, SceneError> {
        // Pictures and videos hold sRGB numbers, and the filters weigh them as such.
        let image = ImageDesc::new(extent.width, extent.height, PixelFormat::Rgba8);
        let image = image.with_access(ImageAccess::Any).with_encoding(Encoding::Srgb);
        // The last stage writes every pixel.
        let image = image.with_unwritten(Unwritten::Overwrite);
        // The kernels are the same for each filter.
        let wanted = wanted.work(format!("{filter:?} of a {}", if video.is_some() { "video" } else { "picture" }));
        let link = open(wanted, SurfaceDesc::Image(image), &Self::sources(), move |backend, kernels| {
            let mut stages = Stages::new(backend, extent, filter, kernels)?;
            if !pixels.is_empty() {
                stages.source_mut().write(0, &pixels)?;
            }
            Ok(stages)
        })?;
        Ok(Self { link, video, draw_options: DrawArgs::default().draw_options() })
    }
}

impl Scene for FilterScene {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn advance_in(&mut self, _seconds: f32, place: &mut FrameTarget<'_>) -> Result<bool, SceneError> {
        let read = self.video.as_mut().map(Video::next_frame).transpose()?;
        if let Some(None) = read {
            return Ok(false);
        }
        let read = read.flatten();
        place.frame(&mut self.link, self.draw_options, |frame, stages| {
            read.as_ref().map_or(Ok(()), |read| stages.load_yuv(frame.backend(), read))?;
            stages.run(frame)
        })?;
        Ok(true)
    }

    own_link!(drawn);

    fn frames(&self) -> Option<u64> {
        Some(self.video.as_ref().map_or(1, Video::frames))
    }

    fn status(&self) -> Option<String> {
        let video = self.video.as_ref()?;
        Some(format!("frame {} of {}", video.position(), video.frames()))
    }
}
