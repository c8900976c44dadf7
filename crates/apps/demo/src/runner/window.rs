//! A scene in a window.

use super::{SceneResult, collect, collect_all, end, introduce, watch, way};
use crate::say;
use crate::scene::{Scene, SceneError};
use crate::scene_options::SceneOptions;
use crate::trace::Trace;
use pixelferry::api::gl::{Flow, GlDisplay, GlWindow, Viewport, Vsync, WindowApp, WindowOptions, run_window};
use pixelferry::driver::describe::words::counted;
use pixelferry::{Display, Extent, LinkBuilder, ShowOutcome};
use pixelferry_media::record::Recorder;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

/// Opens the window, makes the scene for its display and shows it until the window is closed.
pub(super) fn show(
    options: &SceneOptions,
    size: (u32, u32),
    trace: Option<Trace>,
    make: impl FnOnce(LinkBuilder) -> SceneResult,
) -> Result<(), Box<dyn Error>> {
    let window = WindowOptions::default()
        .with_title("pixelferry")
        .with_size(Extent::new(size.0, size.1))
        .with_max_frames(options.frames.map(u64::from));
    let open = |display: &Arc<dyn Display>| make(options.wanted().shown_by(display));
    let recorder = options.record.begin(false)?;
    let (open, start, title) = (Some(open), Instant::now(), String::new());
    let mut app = App { open, scene: None, title, start, frames: 0, trace, showed: None, recorder };
    let frames = run_window(&window, &mut app).map_err(SceneError::or_headless)?;
    let seconds = app.start.elapsed().as_secs_f64();
    let way = way(app.showed.as_ref());
    say!("{}, {:.1} per second{way}", counted(frames, "frame"), frames as f64 / seconds.max(1e-9))?;
    options.record.film.end(app.recorder)?;
    end(options, app.trace)
}

/// A scene in a window; it is made when the window's context exists.
struct App<F> {
    /// Makes the scene for the window's display.
    open: Option<F>,
    scene: Option<Box<dyn Scene>>,
    title: String,
    start: Instant,
    frames: u64,
    trace: Option<Trace>,
    /// How the last picture was shown.
    showed: Option<ShowOutcome>,
    recorder: Option<Recorder>,
}

impl<F: FnOnce(&Arc<dyn Display>) -> SceneResult> WindowApp for App<F> {
    type Error = SceneError;

    fn init(&mut self, window: &GlWindow) -> Result<(), SceneError> {
        if let Some(open) = self.open.take() {
            let display = Arc::clone(window.display()) as Arc<dyn Display>;
            let scene = self.scene.insert(open(&display)?);
            introduce(scene.as_mut())?;
            if let refused @ Vsync::Refused { .. } = window.vsync() {
                say!("  vsync: {refused}")?;
            }
            watch(self.trace.as_ref(), scene.as_mut())?;
            self.start = Instant::now();
        }
        Ok(())
    }

    fn frame(&mut self, window: &GlWindow) -> Result<Flow, SceneError> {
        let Some(scene) = &mut self.scene else { return Ok(Flow::Exit) };
        let gl: &GlDisplay = window.display();
        let size = window.size();
        let viewport = Viewport::full(size.width, size.height);
        gl.clear([0.0, 0.0, 0.0, 1.0])?;
        let step = self.recorder.as_ref().and_then(Recorder::step);
        let seconds = step.map_or_else(|| self.start.elapsed().as_secs_f32(), |step| self.frames as f32 * step);
        if !scene.show(seconds, (gl, viewport), &mut self.showed)? {
            return Ok(Flow::Exit);
        }
        self.frames += 1;
        if let Some(recorder) = &mut self.recorder {
            recorder.frame(gl, size)?;
        }
        let title = title(scene.as_mut());
        if title != self.title {
            window.set_title(&title);
            self.title = title;
        }
        collect(self.trace.as_ref(), scene.as_mut())?;
        Ok(Flow::Continue)
    }

    fn closing(&mut self, _: &GlWindow) {
        if let Some(Err(error)) = self.recorder.as_mut().map(Recorder::flush) {
            tracing::warn!(%error, "the last frames are missing in the film");
        }
        if let Some(mut scene) = self.scene.take()
            && let Err(error) = collect_all(self.trace.as_ref(), scene.as_mut())
        {
            tracing::warn!(%error, "the last frames are missing in the trace");
        }
    }
}

fn title(scene: &mut dyn Scene) -> String {
    let status = scene.status().map(|s| format!(", {s}")).unwrap_or_default();
    let name = scene.name();
    format!("{name} by {}{status}", scene.link().path())
}
