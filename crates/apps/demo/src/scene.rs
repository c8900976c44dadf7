//! The interface of a scene.

use crate::draw_args::DrawArgs;
use pixelferry::api::gl::{GlDisplay, Viewport};
use pixelferry::driver::ShowTarget;
use pixelferry::{AutoLink, DrawOptions, Error, LinkCore, Policy, SaveError, ShowOutcome, WriteFrame};
use std::path::PathBuf;

/// Reason why a scene ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The backend or the display failed.
    #[error(transparent)]
    Core(#[from] pixelferry::Error),
    /// Saving the picture failed.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// Reading a picture failed.
    #[error("cannot read the picture {}: {source}", path.display())]
    Picture {
        /// Path of the picture.
        path: PathBuf,
        /// Reason of the decoder.
        source: image::ImageError,
    },
    /// Reading a video failed.
    #[error("cannot read the video {}: {reason}", path.display())]
    Video {
        /// Path of the video.
        path: PathBuf,
        /// Reason of the decoder.
        reason: String,
    },
    /// Standard output failed.
    #[error(transparent)]
    Output(#[from] crate::terminal::OutputError),
    /// Writing the trace failed.
    #[error(transparent)]
    Trace(#[from] crate::trace::TraceError),
    /// The scene can only be drawn with OpenGL.
    #[error("{scene} needs OpenGL to be drawn, so {display} cannot save its picture: {instead}")]
    NeedsOpenGl {
        /// Name of the scene.
        scene: &'static str,
        /// Display that was opened instead of OpenGL.
        display: String,
        /// What to choose instead, or why there is no OpenGL.
        instead: String,
    },
    /// Writing the film failed.
    #[error(transparent)]
    Record(#[from] pixelferry_media::record::RecordError),
    /// The program was built without windows.
    #[error("this program was built without the feature `window`; use --headless, or --out FILE")]
    NoWindows,
    /// A shader of the scene did not build.
    #[error("the scene's shader did not build: {0}")]
    Shader(String),
}

impl SceneError {
    /// Adds a hint to the options that need no window, if no window could be opened.
    #[must_use]
    pub fn or_headless(self) -> Self {
        match self {
            Self::Core(Error::Unavailable { what, reason, hint }) if what.starts_with("a window") => {
                let hint = format!("{hint} Without a window: --headless, or --out FILE.");
                Self::Core(Error::Unavailable { what, reason, hint })
            }
            other => other,
        }
    }
}

/// Where a picture's next frame goes: a link keeps it shown, or a target gets it at once.
#[derive(Default)]
pub struct FrameTarget<'a> {
    target: Option<&'a mut dyn ShowTarget>,
    showed: Option<ShowOutcome>,
}

impl FrameTarget<'_> {
    /// Finishes a frame of the link there.
    ///
    /// # Errors
    /// The errors of [`AutoLink::frame`] and [`AutoLink::show`].
    pub fn frame<S>(
        &mut self,
        link: &mut AutoLink<S>,
        options: DrawOptions,
        compute: impl FnMut(&mut WriteFrame<'_>, &mut S) -> pixelferry::Result<()>,
    ) -> pixelferry::Result<()> {
        match &mut self.target {
            None => link.frame(compute),
            Some(target) => link.show(*target, options, compute).map(|showed| self.showed = Some(showed)),
        }
    }
}

/// Something that computes and shows frames.
pub trait Scene {
    /// Name for titles.
    fn name(&self) -> &'static str;

    /// Computes the next frame, for a time in seconds, and finishes it. `false`: there are no more, and none was
    /// finished.
    fn advance(&mut self, seconds: f32) -> Result<bool, SceneError> {
        self.advance_in(seconds, &mut FrameTarget::default())
    }

    /// [`Scene::advance`] for a frame that goes to a place; what is no picture stays with its link.
    fn advance_in(&mut self, seconds: f32, place: &mut FrameTarget<'_>) -> Result<bool, SceneError>;

    /// Combines [`Scene::advance`] and [`Scene::draw`], which lets a picture go directly into the bound framebuffer.
    /// `showed` is set to how the last picture was shown.
    fn show(
        &mut self,
        seconds: f32,
        (gl, viewport): (&GlDisplay, Viewport),
        showed: &mut Option<ShowOutcome>,
    ) -> Result<bool, SceneError> {
        let mut target = gl.bound_target(viewport);
        let mut place = FrameTarget { target: Some(&mut target), showed: None };
        let is_new = self.advance_in(seconds, &mut place)?;
        match place.showed {
            None if is_new => self.draw(gl, viewport)?,
            None => {}
            how => *showed = how,
        }
        Ok(is_new)
    }

    /// The link that has the newest frame.
    fn link(&mut self) -> &mut LinkCore;

    /// Goes on with this policy, as [`AutoLink::set_policy`] does.
    fn set_policy(&mut self, policy: Policy) -> pixelferry::Result<()>;

    /// Draws the shown frame, a picture unless the scene draws otherwise, into the framebuffer bound now.
    fn draw(&mut self, gl: &GlDisplay, viewport: Viewport) -> Result<(), SceneError> {
        let options = self.draw_options().copied().unwrap_or_default();
        Ok(gl.draw(self.link().shown()?.surface(), viewport, options)?)
    }

    /// Options of that draw, which also apply to saved pictures. `None` if the scene draws no picture.
    fn draw_options(&mut self) -> Option<&mut DrawOptions> {
        None
    }

    /// Sets how its picture is drawn. Returns `false` if the scene draws no picture.
    fn set_draw_options(&mut self, asked: &DrawArgs) -> bool {
        self.draw_options().map(|draw_options| *draw_options = asked.draw_options()).is_some()
    }

    /// Number of frames, if the scene has an end.
    fn frames(&self) -> Option<u64> {
        None
    }

    /// One line on what was chosen, for the introduction.
    fn about(&mut self) -> Option<String> {
        None
    }

    /// One line about the current state, for a progress line.
    fn status(&self) -> Option<String> {
        None
    }
}
