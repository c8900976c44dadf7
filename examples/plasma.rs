//! An animated float32 image, turned into colours on the device.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

use clap::Parser;
use pixelferry_demo::scenes::plasma::Plasma;
use pixelferry_demo::{DrawArgs, Options, PixelOptions, Scene as _, run};
use std::process::ExitCode;

/// Compute an animated float image, colour it on the device and show it.
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
    run(&options, size, &Plasma::sources(pixels), |backend, display| {
        let mut plasma = Plasma::new(backend, display, size, pixels, link)?;
        plasma.set_draw_options(&draw_args);
        Ok(Box::new(plasma))
    })
}
