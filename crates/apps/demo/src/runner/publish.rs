//! A scene as a stream to other processes.

use super::{SceneResult, collect, collect_all, introduce, watch};
use crate::say;
use crate::scene_options::SceneOptions;
use crate::scenes::sine::Sine;
use crate::trace::Trace;
use pixelferry::driver::describe::words::counted;
use pixelferry::stream::{StreamOptions, publish};
use pixelferry::{Display, LinkBuilder, SurfaceDesc, open_backend};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time per frame.
const PERIOD: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// Publishes the requested number of frames, or runs until the process is killed.
pub fn show(
    options: &SceneOptions,
    name: &str,
    trace: Option<&Trace>,
    make: impl FnOnce(LinkBuilder) -> SceneResult,
) -> Result<(), Box<dyn Error>> {
    // The kernels of all scenes are in the same languages.
    let backend = open_backend(options.backend, &Sine::sources())?;
    let stream = publish(name, backend.as_ref(), StreamOptions::default())?;
    let display: Arc<dyn Display> = stream.clone();
    let mut scene = make(options.wanted().computed_by(&backend).shown_by(&display))?;
    introduce(scene.as_mut())?;
    if !matches!(scene.link().desc(), SurfaceDesc::Image(_)) {
        let scene = scene.name();
        return Err(format!("{scene} draws vertices, and has no picture to publish; use another scene").into());
    }
    watch(trace, scene.as_mut())?;
    say!("  published as {name}: pixelferry view --attach {name}")?;
    let total = options.frames.map_or(u64::MAX, u64::from);
    let begun = Instant::now();
    let (mut due, mut done, mut is_over) = (begun, 0, false);
    while done < total {
        is_over = is_over || !scene.advance(begun.elapsed().as_secs_f32())?;
        // The last picture stays available for later subscribers.
        if !is_over || stream.is_awaited() {
            stream.publish(&scene.link().shown()?)?;
        }
        collect(trace, scene.as_mut())?;
        done += 1;
        due = (due + PERIOD).max(Instant::now());
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    collect_all(trace, scene.as_mut())?;
    Ok(say!("{} in {:.2} s", counted(done, "frame"), begun.elapsed().as_secs_f64())?)
}
