//! A fluid that three jets of dye stir: advection, pressure projection and dye, all on the device.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

use clap::Parser;
use pixelferry_demo::scenes::fluid::Fluid;
use pixelferry_demo::{DrawArgs, Options, PixelOptions, Scene as _, run};
use std::process::ExitCode;

/// Compute a fluid and the dye that it carries, and show it.
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    pixels: PixelOptions,
    #[command(flatten)]
    draw_args: DrawArgs,
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let Cli { pixels, draw_args, options } = Cli::parse();
    let (pixels, size, link) = (pixels.pixels(&draw_args), options.size_or(1280, 720), options.link_options());
    run(&options, size, &Fluid::sources(pixels), |backend, display| {
        let mut fluid = Fluid::new(backend, display, size, pixels, link)?;
        fluid.set_draw_options(&draw_args);
        Ok(Box::new(fluid))
    })
}
