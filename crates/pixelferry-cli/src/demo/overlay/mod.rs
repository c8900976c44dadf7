//! The demo with its controls: what runs, why it runs as it does, and how fast.
//!
//! | where | what |
//! |---|---|
//! | `setup`, `player` | what runs, and changing it |
//! | `draw_args` | what of the draw's arguments makes a difference |
//! | `times`, `log` | how long frames took, what the library said |
//! | `ui` | the panels |
//! | `pixelferry_view::paint` | bringing them into a picture, by OpenGL or without |
//! | `window`, `headless` | the loops |
//!
//! A change makes the new scene or link before it drops the old one, so that a failure is a message and changes nothing.

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
use pixelferry::{Extent, LinkBuilder};
use pixelferry_demo::options::parse_size;
use pixelferry_demo::scenes::filter::Filter;
use pixelferry_demo::{DrawArgs, Options, SceneError};
use player::Player;
use setup::Setup;
use std::error::Error;
use std::path::PathBuf;

/// Window, or picture without one, where no other size is asked for.
const SIZE: (u32, u32) = (1600, 900);
/// Less, in points of the screen, has no room for picture and panels.
const LEAST: Extent = Extent::new(1000, 600);

/// Options of the controls.
#[derive(clap::Args)]
pub struct OverlayOptions {
    /// Leave out controls, tables and graphs.
    #[arg(long)]
    plain: bool,
    /// Size of the computed picture in pixels; `--size` is that of the window around it.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x720", value_parser = parse_size, conflicts_with = "plain")]
    picture: (u32, u32),
}

/// Returns the reason if there are to be no controls.
pub fn refusal(options: &OverlayOptions, common: &Options) -> Option<String> {
    let (width, height) = common.size_or(SIZE.0, SIZE.1);
    if options.plain {
        return Some("as asked for".into());
    }
    if common.trace.is_some() {
        return Some("a trace is of the scene alone".into());
    }
    if common.record.film.record.is_some() {
        return Some("a film is of the scene alone".into());
    }
    #[cfg(all(feature = "stream", target_os = "linux"))]
    if common.publish.is_some() {
        return Some("the scene is published".into());
    }
    let small = width < LEAST.width || height < LEAST.height;
    small.then(|| format!("they need {LEAST} pixels, {width}x{height} were asked for"))
}

/// Shows scene and controls.
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
    /// Pixels of the window.
    size: (u32, u32),
    log: Log,
}

impl Show {
    /// Returns what runs, its first frame finished. `wanted` has the display.
    fn player(&self, wanted: LinkBuilder) -> Result<Player, SceneError> {
        Player::open(wanted, (self.setup, self.draw_args), self.input.clone(), &self.log)
    }
}
