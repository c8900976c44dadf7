//! The demo with its controls: what runs, why it runs that way, and how fast.
//!
//! | where | what |
//! |---|---|
//! | `setup`, `player` | the running scene, and how it is changed |
//! | `draw_args` | which draw arguments have an effect |
//! | `times`, `log` | frame times and the library's messages |
//! | `ui` | the panels |
//! | `pixelferry_view::paint` | draws panels with OpenGL |
//! | `window`, `headless` | the loops |
//!
//! A change makes the new scene or link before it drops the old one. If that fails, the panel shows a message and
//! everything stays as it was.

mod draw_args;
mod headless;
mod log;
mod player;
mod setup;
#[cfg(test)]
mod tests;
mod times;
mod ui;
mod window;

pub use log::Log;

use super::DemoOptions;
use pixelferry::command::ApiChoice as _;
use pixelferry::{DisplayChoice, Extent, LinkBuilder, open_headless};
use pixelferry_demo::scene_options::parse_size;
use pixelferry_demo::scenes::filter::Filter;
use pixelferry_demo::{DrawArgs, SceneError, SceneOptions};
use player::Player;
use setup::Setup;
use std::error::Error;
use std::path::PathBuf;

/// Default size of the window or saved picture.
const SIZE: (u32, u32) = (1600, 900);
/// Smallest window, in points, that has room for picture and panels.
const LEAST: Extent = Extent::new(1000, 600);

#[derive(clap::Args)]
pub struct OverlayOptions {
    /// Show the scene alone: no controls, tables or graphs.
    #[arg(long)]
    plain: bool,
    /// Size of the computed picture in pixels; `--size` is the size of the window around it.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x720", value_parser = parse_size, conflicts_with = "plain")]
    picture: (u32, u32),
}

/// Returns why the controls are left out, or `None` if they are shown.
pub fn refusal(options: &OverlayOptions, common: &SceneOptions) -> Option<String> {
    let (width, height) = common.size_or(SIZE.0, SIZE.1);
    if options.plain {
        return Some("--plain is set".into());
    }
    if common.trace.is_some() {
        return Some("a trace needs the scene alone".into());
    }
    if common.record.film.record.is_some() {
        return Some("a recording needs the scene alone".into());
    }
    #[cfg(all(feature = "stream", target_os = "linux"))]
    if common.publish.is_some() {
        return Some("--publish is set".into());
    }
    if width < LEAST.width || height < LEAST.height {
        return Some(format!("the controls need {LEAST} pixels; {width}x{height} were requested"));
    }
    // A window always has OpenGL.
    let gl = match common.display {
        _ if !common.is_headless() => return None,
        DisplayChoice::Auto | DisplayChoice::Gl => {
            open_headless(DisplayChoice::Gl).err().map(|error| error.to_string())
        }
        other => Some(format!("the display is {}", other.name())),
    };
    gl.map(|reason| format!("they are drawn with OpenGL; {reason}"))
}

/// Shows the scene with its controls.
pub fn run(options: DemoOptions, log: &Log) -> Result<(), Box<dyn Error>> {
    let DemoOptions { scene, input, pixels, draw_args, common, overlay: options } = options;
    let setup = Setup {
        scene,
        backend: common.backend,
        size: options.picture,
        filter: Filter::default(),
        pixels: pixels.pixels(&draw_args),
        path: common.path,
        mode: common.frames_behind.unwrap_or_default(),
    };
    let size = common.size_or(SIZE.0, SIZE.1);
    let show = Show { setup, draw_args, input, size, log: log.clone() };
    if common.is_headless() { headless::run(show, &common) } else { window::run(show, &common) }
}

/// Settings of the scene to show.
struct Show {
    setup: Setup,
    draw_args: DrawArgs,
    input: Option<PathBuf>,
    /// Size of the window in pixels.
    size: (u32, u32),
    log: Log,
}

impl Show {
    /// Returns what runs, its first frame finished. `wanted` has the display.
    fn player(&self, wanted: LinkBuilder) -> Result<Player, SceneError> {
        Player::open(wanted, (self.setup, self.draw_args), self.input.clone(), &self.log)
    }
}
