//! An animated float32 image, turned into colours on the device.

use clap::Parser;
use pixelferry_demo::scenes::plasma::Plasma;
use pixelferry_demo::{LookOptions, Options, PixelOptions, Scene as _, run};
use std::process::ExitCode;

/// Compute an animated float image, colour it on the device and show it.
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    pixels: PixelOptions,
    #[command(flatten)]
    look: LookOptions,
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let Cli { pixels, look, options } = Cli::parse();
    let (pixels, size, link) = (pixels.pixels(&look), options.size_or(1280, 720), options.link_options());
    run(&options, size, &Plasma::sources(pixels), |backend, display| {
        let mut plasma = Plasma::new(backend, display, size, pixels, link)?;
        plasma.set_look(&look);
        Ok(Box::new(plasma))
    })
}
