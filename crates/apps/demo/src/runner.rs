//! The loop that shows a scene: in a window, offscreen, or in plain memory.

#[cfg(all(feature = "stream", target_os = "linux"))]
mod publish;
#[cfg(feature = "window")]
mod window;

use crate::say;
use crate::scene::{Scene, SceneError};
use crate::scene_options::SceneOptions;
use crate::terminal::{self, OutputError};
use crate::trace::{Trace, TraceError};
use image::ImageBuffer;
use indicatif::{ProgressBar, ProgressStyle};
use pixelferry::api::gl::{GlDisplay, Viewport};
use pixelferry::driver::describe::words::counted;
use pixelferry::{
    DisplayChoice, DrawOptions, Extent, LinkBuilder, ShowOutcome, SurfaceDesc, open_headless, picture_with,
    save_picture_with, save_rgba8,
};
use pixelferry_media::record::Recorder;
use std::any::Any;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Default number of frames without a window: enough for a moving picture to have moved.
const HEADLESS_FRAMES: u32 = 30;
/// Without a window, time advances per frame, so that equal calls give equal pictures.
const SECONDS_PER_FRAME: f32 = 1.0 / 30.0;

type SceneResult = Result<Box<dyn Scene>, SceneError>;

/// Runs a scene and turns an error into a message and a status.
pub fn run(options: &SceneOptions, size: (u32, u32), make: impl FnOnce(LinkBuilder) -> SceneResult) -> ExitCode {
    let traced = || {
        let trace = options.trace.as_ref().map(Trace::install).transpose()?;
        show(options, size, trace, make)
    };
    terminal::end(traced())
}

/// Opens the display, has `make` open the scene's link, and shows the scene. `trace` gets what the devices did; that somebody listens to
/// the host's spans is the caller's business.
pub fn show(
    options: &SceneOptions,
    size: (u32, u32),
    trace: Option<Trace>,
    make: impl FnOnce(LinkBuilder) -> SceneResult,
) -> Result<(), Box<dyn Error>> {
    options.check_out()?;
    #[cfg(all(feature = "stream", target_os = "linux"))]
    if let Some(name) = &options.publish {
        publish::show(options, name, trace.as_ref(), make)?;
        return end(options, trace);
    }
    if options.is_headless() {
        // Report a file that cannot be created before opening anything.
        let mut recorder = options.record.begin(true)?;
        let mut scene = make(without_window(options.wanted(), options.display))?;
        introduce(scene.as_mut())?;
        check_saves(options, scene.as_mut())?;
        headless(options, size, scene.as_mut(), trace.as_ref(), recorder.as_mut())?;
        options.record.film.end(recorder)?;
        return end(options, trace);
    }
    #[cfg(feature = "window")]
    return window::show(options, size, trace, make);
    #[cfg(not(feature = "window"))]
    return Err(SceneError::NoWindows.into());
}

/// Shows without a window. Where the display is left open, OpenGL is tried first: scenes draw by it, so what is drawn is what a
/// window would show.
pub fn without_window(wanted: LinkBuilder, display: DisplayChoice) -> LinkBuilder {
    let by_gl = matches!(display, DisplayChoice::Auto | DisplayChoice::Gl).then(|| open_headless(DisplayChoice::Gl));
    match by_gl {
        Some(Ok(screen)) => wanted.shown_by(&screen.display()),
        // The scene's link opens the others, one that draws by kernels on the device that computes, and says why OpenGL fails.
        _ => wanted.display(display),
    }
}

/// The display of a scene, where it is OpenGL.
pub fn gl_of(scene: &mut dyn Scene) -> Option<Arc<GlDisplay>> {
    let display: Arc<dyn Any + Send + Sync> = Arc::clone(scene.link().display()) as _;
    display.downcast().ok()
}

/// Finishes the trace's file.
fn end(options: &SceneOptions, trace: Option<Trace>) -> Result<(), Box<dyn Error>> {
    if let (Some(trace), Some(file)) = (trace, &options.trace) {
        trace.finish()?;
        say!("traced to {}", file.display())?;
    }
    Ok(())
}

/// Collects what the devices have done so far.
fn collect(trace: Option<&Trace>, scene: &mut dyn Scene) -> Result<(), TraceError> {
    let link = scene.link();
    trace.map_or(Ok(()), |trace| trace.collect(link.backend().as_ref(), link.display().as_ref()))
}

/// Collects what the devices have done, after they have finished.
fn collect_all(trace: Option<&Trace>, scene: &mut dyn Scene) -> Result<(), SceneError> {
    if trace.is_some() {
        scene.link().backend().finish()?;
        scene.link().display().finish()?;
    }
    Ok(collect(trace, scene)?)
}

/// Makes the devices record what they do.
fn watch(trace: Option<&Trace>, scene: &mut dyn Scene) -> Result<(), TraceError> {
    let link = scene.link();
    trace.map_or(Ok(()), |trace| trace.watch(link.backend().as_ref(), link.display().as_ref()))
}

/// Tells who computes, who draws, what, and by which path.
fn course(scene: &mut dyn Scene) -> String {
    let link = scene.link();
    let report = link.report();
    format!("{} -> {}\n  {}, path: {}", report.compute, report.display, link.desc(), link.path())
}

/// Says on standard output who computes, who draws, and by which path.
///
/// # Errors
/// [`OutputError`] if standard output fails.
pub fn introduce(scene: &mut dyn Scene) -> Result<(), OutputError> {
    let about = scene.about();
    say!("{}: {}", scene.name(), course(scene))?;
    let link = scene.link();
    if let Some(chosen) = link.report().chosen() {
        say!("  {}", chosen.state.detail())?;
    }
    if link.frames_behind() > 0 {
        say!("  shown {} behind", counted(link.frames_behind(), "frame"))?;
    }
    about.map_or(Ok(()), |about| say!("  {about}"))
}

fn headless(
    options: &SceneOptions,
    size: (u32, u32),
    scene: &mut dyn Scene,
    trace: Option<&Trace>,
    mut recorder: Option<&mut Recorder>,
) -> Result<(), Box<dyn Error>> {
    // A video runs to its end, all other scenes for a fixed number of frames.
    let total = options.frames.map(u64::from).or(scene.frames()).unwrap_or(u64::from(HEADLESS_FRAMES));
    let bar = ProgressBar::new(total)
        .with_style(ProgressStyle::with_template("{bar:30} {pos}/{len} frames, {per_sec}, {eta} left")?);
    let (gl, first) = (gl_of(scene), course(scene));
    let target = match &gl {
        Some(gl) => Some((gl, gl.create_offscreen_target(size.0, size.1)?)),
        None => None,
    };
    let viewport = Viewport::full(size.0, size.1);
    let mut showed = None;
    let mut next = |scene: &mut dyn Scene, seconds: f32| {
        let Some((gl, target)) = &target else { return scene.advance(seconds) };
        target.bind()?;
        gl.clear([0.0, 0.0, 0.0, 1.0])?;
        scene.show(seconds, (gl, viewport), &mut showed)
    };
    watch(trace, scene)?;
    let start = Instant::now();
    let step = recorder.as_ref().and_then(|recorder| recorder.step()).unwrap_or(SECONDS_PER_FRAME);
    let mut done = 0;
    while done < total && next(scene, done as f32 * step)? {
        match (&mut recorder, &gl) {
            (Some(recorder), Some(gl)) => drop(recorder.frame(gl, Extent::new(size.0, size.1))?),
            (Some(recorder), None) => {
                let options = draw_options(scene);
                recorder.put_picture(picture_with(scene.link(), &options)?)?;
            }
            (None, _) => {}
        }
        collect(trace, scene)?;
        done += 1;
        bar.inc(1);
    }
    if let Some((gl, target)) = &target
        && done > 0
        && scene.link().frames_behind() > 0
        && showed != Some(ShowOutcome::Straight)
    {
        // The saved picture is the last one, even if frames are shown late.
        scene.link().flush()?;
        target.bind()?;
        gl.clear([0.0, 0.0, 0.0, 1.0])?;
        scene.draw(gl, viewport)?;
    }
    scene.link().display().finish()?;
    collect_all(trace, scene)?;
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    if let Some(out) = &options.out {
        match &target {
            Some((_, target)) => {
                let picture = ImageBuffer::from_raw(size.0, size.1, target.read_pixels()?).ok_or("a short picture")?;
                save_rgba8(picture, out)?;
            }
            None => save_without_gl(scene, out)?,
        }
    }
    say!("{} in {seconds:.2} s{}", counted(done, "frame"), way(showed.as_ref()))?;
    let last = course(scene);
    if last != first {
        say!("the last frame: {last}")?;
    }
    Ok(options.out.as_ref().map_or(Ok(()), |out| say!("saved {}", out.display()))?)
}

/// Describes how the last picture was shown, for the end of a line.
fn way(showed: Option<&ShowOutcome>) -> String {
    showed.map(|how| format!(", {how}")).unwrap_or_default()
}

/// Checks that the scene's picture can be saved, before computing its frames: without OpenGL only the surface itself
/// can be saved, and a buffer is not a picture.
///
/// # Errors
/// [`SceneError::NeedsOpenGl`].
pub fn check_saves(options: &SceneOptions, scene: &mut dyn Scene) -> Result<(), SceneError> {
    let is_picture = matches!(scene.link().desc(), SurfaceDesc::Image(_));
    let is_seen = options.out.is_some() || options.record.film.record.is_some();
    if !is_seen || gl_of(scene).is_some() || is_picture {
        return Ok(());
    }
    let by_itself = options.display == DisplayChoice::Auto;
    let instead = by_itself.then(|| open_headless(DisplayChoice::Gl).err()).flatten().map(|error| error.to_string());
    Err(SceneError::NeedsOpenGl {
        scene: scene.name(),
        display: scene.link().display().device().to_string(),
        instead: instead.unwrap_or_else(|| "use --display gl, or omit --display".into()),
    })
}

fn save_without_gl(scene: &mut dyn Scene, out: &std::path::Path) -> Result<(), SceneError> {
    let options = draw_options(scene);
    Ok(save_picture_with(scene.link(), out, &options)?)
}

fn draw_options(scene: &mut dyn Scene) -> DrawOptions {
    scene.draw_options().copied().unwrap_or_default()
}
