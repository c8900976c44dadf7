//! The running scene and its changes: the shown frame stays until its replacement has finished a frame.

use super::draw_args::suited;
use super::log::Log;
use super::setup::Setup;
use super::times::Times;
use pixelferry::LinkBuilder;
use pixelferry::api::gl::{GlDisplay, Viewport};
use pixelferry_demo::runner::gl_of;
use pixelferry_demo::{DrawArgs, Scene, SceneError};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tracing::Level;

/// A request from the controls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// Runs this scene instead.
    Change(Setup),
    /// Draws the scene with these arguments.
    Draw(DrawArgs),
    /// Tries and times all paths again.
    Recalibrate,
}

pub struct Player {
    /// All of a link but what the setup and the scene say.
    wanted: LinkBuilder,
    gl: Option<Arc<GlDisplay>>,
    input: Option<PathBuf>,
    setup: Setup,
    draw_args: DrawArgs,
    scene: Box<dyn Scene>,
    times: Times,
    log: Log,
    seconds: f32,
}

impl Player {
    /// Opens the scene and computes its first frame. `wanted` has the display, which stays.
    pub fn open(
        wanted: LinkBuilder,
        (setup, draw_args): (Setup, DrawArgs),
        input: Option<PathBuf>,
        log: &Log,
    ) -> Result<Self, SceneError> {
        let mut scene = begun(setup, input.as_ref(), wanted.clone(), 0.0)?;
        dress(scene.as_mut(), draw_args);
        let wanted = wanted.shown_by(scene.link().display());
        let (times, log, gl) = (Times::default(), log.clone(), gl_of(scene.as_mut()));
        Ok(Self { wanted, gl, input, setup, draw_args, scene, times, log, seconds: 0.0 })
    }

    /// Computes the frame for a time in seconds. On failure the previous frame stays and the log says why.
    pub fn frame(&mut self, seconds: f32) {
        let began = Instant::now();
        self.seconds = seconds;
        match self.scene.advance(seconds) {
            Ok(true) => {}
            Ok(false) => self.change(self.setup),
            Err(error) => self.log.add(Level::ERROR, format!("no new frame, the previous one stays: {error}")),
        }
        self.times.add(Instant::now(), began.elapsed());
    }

    /// Draws the shown frame into `area` of the bound framebuffer.
    pub fn draw(&mut self, area: Viewport) {
        if let Some(gl) = &self.gl
            && let Err(error) = self.scene.draw(gl, area)
        {
            self.log.add(Level::ERROR, format!("not drawn: {error}"));
        }
    }

    /// Performs an action. On failure nothing changes and the log says why.
    pub fn act(&mut self, action: Action) {
        match action {
            Action::Change(setup) => self.change(setup),
            Action::Draw(draw_args) => {
                self.draw_args = draw_args;
                dress(self.scene.as_mut(), draw_args);
            }
            Action::Recalibrate => {
                if let Err(error) = self.scene.link().recalibrate() {
                    self.log.add(Level::ERROR, format!("not recalibrated: {error}"));
                }
                self.times.restart();
            }
        }
    }

    fn change(&mut self, setup: Setup) {
        let done = if setup.keeps_scene(&self.setup) && setup != self.setup {
            self.scene.set_policy(setup.policy()).map_err(SceneError::from)
        } else {
            self.replace(setup)
        };
        match done {
            Ok(()) => {
                self.setup = setup;
                self.times.restart();
            }
            Err(error) => self.log.add(Level::ERROR, format!("not changed: {error}")),
        }
    }

    /// Replaces the scene once the new one has finished its first frame.
    fn replace(&mut self, setup: Setup) -> Result<(), SceneError> {
        self.scene = begun(setup, self.input.as_ref(), self.wanted.clone(), self.seconds)?;
        dress(self.scene.as_mut(), self.draw_args);
        Ok(())
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Returns the requested draw arguments.
    pub fn draw_args(&self) -> &DrawArgs {
        &self.draw_args
    }

    pub fn times(&self) -> &Times {
        &self.times
    }

    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Returns the running scene.
    pub fn scene(&mut self) -> &mut dyn Scene {
        self.scene.as_mut()
    }
}

/// Applies the draw arguments that have an effect on this scene.
fn dress(scene: &mut dyn Scene, draw_args: DrawArgs) {
    let suited = suited(draw_args, scene.link().desc());
    scene.set_draw_options(&suited);
}

/// Returns a scene with its first frame finished.
fn begun(
    setup: Setup,
    input: Option<&PathBuf>,
    wanted: LinkBuilder,
    seconds: f32,
) -> Result<Box<dyn Scene>, SceneError> {
    let wanted = wanted.backend(setup.backend).policy(setup.policy());
    let mut scene = setup.recipe().make(input.map(PathBuf::as_path), wanted)?;
    scene.advance(seconds)?;
    Ok(scene)
}
