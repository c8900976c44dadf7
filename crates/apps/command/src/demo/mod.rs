//! `pixelferry demo`: scenes with controls, tables and graphs around them, or plain.

mod catalog;
#[cfg(feature = "overlay")]
mod overlay;

#[cfg(feature = "overlay")]
pub use overlay::Log;

use catalog::{Recipe, SceneName};
use pixelferry_demo::scenes::filter::Filter;
use pixelferry_demo::trace::Trace;
use pixelferry_demo::{DrawArgs, PixelOptions, runner, say};
use std::error::Error;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct DemoOptions {
    /// Scene to compute.
    #[arg(value_enum, default_value_t)]
    scene: SceneName,
    /// Picture or video for the scene `filter`. [default: a picture of a lake]
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    #[command(flatten)]
    pixels: PixelOptions,
    #[command(flatten)]
    draw_args: DrawArgs,
    #[command(flatten)]
    common: pixelferry_demo::SceneOptions,
    #[cfg(feature = "overlay")]
    #[command(flatten)]
    overlay: overlay::OverlayOptions,
}

impl DemoOptions {
    /// Returns the file for the trace, if one is wanted.
    pub fn trace(&self) -> Option<&Path> {
        self.common.trace.as_deref()
    }
}

/// Runs the scene with controls, which show the messages in `log`. Runs it plain if controls are unwanted or have no
/// room.
#[cfg(feature = "overlay")]
pub fn run(options: DemoOptions, trace: Option<Trace>, log: &Log) -> Result<(), Box<dyn Error>> {
    options.common.record.film.leave_output();
    match overlay::refusal(&options.overlay, &options.common) {
        None => overlay::run(options, log),
        Some(reason) => {
            say!("without controls: {reason}")?;
            bare(options, trace)
        }
    }
}

/// Runs the scene without controls.
pub fn bare(options: DemoOptions, trace: Option<Trace>) -> Result<(), Box<dyn Error>> {
    // With controls an input is always accepted, because the user can choose another scene.
    if options.input.is_some() && options.scene != SceneName::Filter {
        return Err("--input works with the scene `filter` only".into());
    }
    let (common, size) = (&options.common, options.common.size_or(1280, 720));
    let recipe = Recipe {
        scene: options.scene,
        size,
        filter: Filter::default(),
        pixels: options.pixels.pixels(&options.draw_args),
    };
    runner::show(common, size, trace, move |wanted| {
        let mut scene = recipe.make(options.input.as_deref(), wanted)?;
        if !scene.set_draw_options(&options.draw_args) && options.draw_args != DrawArgs::default() {
            say!(
                "{} draws vertices: nothing is fitted, exposed or tone mapped, and there is no background",
                scene.name()
            )?;
        }
        Ok(scene)
    })
}
