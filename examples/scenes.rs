//! The demo's scenes by name, each with its own options.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

use clap::Parser;
use pixelferry_demo::scenes::filter::{Filter, FilterScene};
use pixelferry_demo::scenes::fluid::Fluid;
use pixelferry_demo::scenes::plasma::Plasma;
use pixelferry_demo::scenes::sine::Sine;
use pixelferry_demo::{DrawArgs, PixelOptions, Scene, SceneOptions, run};
use std::path::PathBuf;
use std::process::ExitCode;

/// Compute a scene on the device and show it.
#[derive(Parser)]
enum Cli {
    /// An animated float image, turned into colours on the device.
    Plasma(Picture),
    /// A fluid that three jets of dye stir: advection, pressure projection and dye.
    Fluid(Picture),
    /// A picture (PNG, JPEG) or a video (Y4M), filtered on the device.
    Filter {
        /// The file; without one, the sample picture.
        #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/apps/demo/assets/lake.jpg"))]
        file: PathBuf,
        /// Filter to apply to it.
        #[arg(long, value_enum, default_value_t)]
        filter: Filter,
        #[command(flatten)]
        draw_args: DrawArgs,
        #[command(flatten)]
        options: SceneOptions,
    },
    /// 10 000 points of a sine, computed into a vertex buffer and drawn as a line strip.
    Sine(SceneOptions),
}

#[derive(clap::Args)]
struct Picture {
    #[command(flatten)]
    pixels: PixelOptions,
    #[command(flatten)]
    draw_args: DrawArgs,
    #[command(flatten)]
    options: SceneOptions,
}

/// Returns the scene drawn with these options.
fn drawn(mut scene: impl Scene + 'static, draw_args: &DrawArgs) -> Box<dyn Scene> {
    scene.set_draw_options(draw_args);
    Box::new(scene)
}

fn main() -> ExitCode {
    const SIZE: (u32, u32) = (1280, 720);
    match Cli::parse() {
        Cli::Plasma(Picture { pixels, draw_args, options }) => {
            let (pixels, size) = (pixels.pixels(&draw_args), options.size_or(SIZE.0, SIZE.1));
            run(&options, size, |wanted| Ok(drawn(Plasma::new(wanted, size, pixels)?, &draw_args)))
        }
        Cli::Fluid(Picture { pixels, draw_args, options }) => {
            let (pixels, size) = (pixels.pixels(&draw_args), options.size_or(SIZE.0, SIZE.1));
            run(&options, size, |wanted| Ok(drawn(Fluid::new(wanted, size, pixels)?, &draw_args)))
        }
        Cli::Filter { file, filter, draw_args, options } => {
            let size = options.size_or(SIZE.0, SIZE.1);
            run(&options, size, |wanted| Ok(drawn(FilterScene::open(wanted, &file, filter)?, &draw_args)))
        }
        Cli::Sine(options) => {
            let size = options.size_or(SIZE.0, SIZE.1);
            run(&options, size, |wanted| Ok(Box::new(Sine::new(wanted)?)))
        }
    }
}
