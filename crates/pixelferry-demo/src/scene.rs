//! The interface of a scene.

use crate::draw_args::DrawArgs;
use pixelferry::api::gl::{GlDisplay, Viewport};
use pixelferry::driver::ShowTarget;
use pixelferry::{AutoLink, DrawOptions, Error, Link, Policy, SaveError, Showed, WriteFrame};
use std::path::PathBuf;

/// Reason why a scene ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// Compute or display.
    #[error(transparent)]
    Core(#[from] pixelferry::Error),
    /// The result could not be saved.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// A picture could not be read.
    #[error("cannot read the picture {}: {source}", path.display())]
    Picture {
        /// Path of the picture.
        path: PathBuf,
        /// Reason of the decoder.
        source: image::ImageError,
    },
    /// A video could not be read.
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
    /// The trace could not be written.
    #[error(transparent)]
    Trace(#[from] crate::trace::TraceError),
    /// The scene draws with OpenGL itself.
    #[error("{scene} is drawn by OpenGL, and its picture cannot be saved from {display}: {instead}")]
    NeedsOpenGl {
        /// Its name.
        scene: &'static str,
        /// Display that was opened instead of OpenGL.
        display: String,
        /// Advice what to choose, or the reason why there is no OpenGL.
        instead: String,
    },
    /// The film could not be written.
    #[error(transparent)]
    Record(#[from] pixelferry_media::record::RecordError),
    /// The program was built without windows.
    #[error("this program was built without windows (feature `window`); give --headless, or --out FILE")]
    NoWindows,
    /// A shader of the scene's did not build.
    #[error("the scene's shader did not build: {0}")]
    Shader(String),
}

impl SceneError {
    /// The error, with the option that needs no window where none could be opened.
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

/// Where a picture's next frame goes: its link keeps it on show, or a target gets it at once.
#[derive(Default)]
pub struct Place<'a> {
    target: Option<&'a mut dyn ShowTarget>,
    showed: Option<Showed>,
}

impl Place<'_> {
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

/// Something that is computed and shown.
pub trait Scene {
    /// Name for titles.
    fn name(&self) -> &'static str;

    /// Computes the next frame, for a time in seconds, and finishes it. `false`: there are no more, and none was
    /// finished.
    fn advance(&mut self, seconds: f32) -> Result<bool, SceneError> {
        self.advance_in(seconds, &mut Place::default())
    }

    /// [`Scene::advance`] for a frame that goes to a place; what is no picture stays with its link.
    fn advance_in(&mut self, seconds: f32, place: &mut Place<'_>) -> Result<bool, SceneError>;

    /// [`Scene::advance`] and [`Scene::draw`] as one call, by which a picture may go straight into the framebuffer bound now.
    /// `showed` tells how the last picture went.
    fn show(
        &mut self,
        seconds: f32,
        (gl, viewport): (&GlDisplay, Viewport),
        showed: &mut Option<Showed>,
    ) -> Result<bool, SceneError> {
        let mut target = gl.bound_target(viewport);
        let mut place = Place { target: Some(&mut target), showed: None };
        let is_new = self.advance_in(seconds, &mut place)?;
        match place.showed {
            None if is_new => self.draw(gl, viewport)?,
            None => {}
            how => *showed = how,
        }
        Ok(is_new)
    }

    /// The link that has the newest frame.
    fn link(&mut self) -> &mut Link;

    /// Goes on with this policy, as [`AutoLink::set_policy`] does.
    fn set_policy(&mut self, policy: Policy) -> pixelferry::Result<()>;

    /// Draws the shown frame, a picture unless the scene draws otherwise, into the framebuffer bound now.
    fn draw(&mut self, gl: &GlDisplay, viewport: Viewport) -> Result<(), SceneError> {
        let options = self.draw_options().copied().unwrap_or_default();
        Ok(gl.draw(self.link().shown()?.surface(), viewport, options)?)
    }

    /// Tells how that draws a picture; also how one is saved where nothing can be drawn. `None`: it draws no picture.
    fn draw_options(&mut self) -> Option<&mut DrawOptions> {
        None
    }

    /// Shows its picture as asked for. `false`: it draws none.
    fn set_draw_options(&mut self, asked: &DrawArgs) -> bool {
        self.draw_options().map(|draw_options| *draw_options = asked.draw_options()).is_some()
    }

    /// Number of frames, where the scene has an end.
    fn frames(&self) -> Option<u64> {
        None
    }

    /// One line on what was chosen, for the introduction.
    fn about(&mut self) -> Option<String> {
        None
    }

    /// One line on where things stand, for a progress line.
    fn status(&self) -> Option<String> {
        None
    }
}
